"""Source lines of HTML text, which the parser does not report. Not a parser: it reads words."""

import re
from collections import deque
from collections.abc import Iterator
from html import unescape

_WORD = re.compile(r"\w+")
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,20})")
_TAG_NAME = re.compile(r"[a-zA-Z][^\s/>]{0,40}")
_OPAQUE = frozenset({"script", "style", "template", "title", "noscript"})
_CLOSED_BY_OTHERS = frozenset(
    """
    area base br col embed hr img input link meta param source track wbr p li dt dd tr td th
    thead tbody tfoot option optgroup html head body rt rp colgroup
    """.split()  # noqa: SIM905 - one word a tag reads better
)
_WINDOW = 256
_MISSES = 8


class LineFinder:
    """Follows the words of the tree through the source, both in document order.

    Where the two differ (repaired markup) it gives the last line known to be right and catches up.
    """

    def __init__(self, source: str) -> None:
        self._source = _words(source)
        self._ahead: deque[tuple[str, int]] = deque()
        self._line = 1
        self._misses = 0

    def follow(self, text: str) -> tuple[int, int] | None:
        """Consume the words of one text node; return the lines of its first and last word."""
        lines = [self._find(word) for word in _WORD.findall(text)]
        return (lines[0], lines[-1]) if lines else None

    def _find(self, word: str) -> int:
        while len(self._ahead) < _WINDOW and (entry := next(self._source, None)):
            self._ahead.append(entry)
        skipped = next((n for n, (seen, _) in enumerate(self._ahead) if seen == word), None)
        if skipped is None:
            self._missed()
            return self._line
        self._misses = 0
        for _ in range(skipped):
            self._ahead.popleft()
        self._line = self._ahead.popleft()[1]
        return self._line

    def _missed(self) -> None:
        """Give up half of the window after several words in a row that are not in it."""
        self._misses += 1
        if self._misses >= _MISSES:
            self._misses = 0
            for _ in range(len(self._ahead) // 2):
                self._ahead.popleft()


def nesting(source: str) -> int:
    """Return about how deep elements nest; tags that others close are not counted. Linear."""
    depth = deepest = 0
    for closing, name in _TAG.findall(source):
        if name.lower() not in _CLOSED_BY_OTHERS:
            depth = max(0, depth - 1) if closing else depth + 1
            deepest = max(deepest, depth)
    return deepest


def _words(source: str) -> Iterator[tuple[str, int]]:
    line = 1
    counted = 0
    for start, end in _visible(source):
        line += source.count("\n", counted, start)
        counted = start
        for row in source[start:end].split("\n"):
            yield from ((word, line) for word in _WORD.findall(unescape(row)))
            line += 1
        line -= 1
        counted = end


def _visible(source: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of `source` outside tags, comments, scripts and styles; linear."""
    position = 0
    while position < len(source):
        start = source.find("<", position)
        if start < 0:
            yield position, len(source)
            return
        if start > position:
            yield position, start
        position = _after_markup(source, start)


def _after_markup(source: str, start: int) -> int:
    """Return where the tag, comment or opaque element that starts with `<` at `start` ends."""
    if source.startswith("<!--", start):
        return _after(source, "-->", start + 4)
    name = _TAG_NAME.match(source, start + 1)
    if name is None and source[start + 1 : start + 2] not in {"/", "!", "?"}:
        return start + 1
    end = _after(source, ">", start + 1)
    if name and name.group().lower() in _OPAQUE:
        return _after_close(source, name.group().lower(), end)
    return end


def _after(source: str, mark: str, start: int) -> int:
    end = source.find(mark, start)
    return len(source) if end < 0 else end + len(mark)


def _after_close(source: str, name: str, start: int) -> int:
    close = re.compile(f"</{name}", re.IGNORECASE).search(source, start)
    return _after(source, ">", close.end()) if close else len(source)
