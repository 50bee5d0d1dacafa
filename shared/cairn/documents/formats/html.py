"""HTML to blocks: what a reader of the page would see. Not rendering; style sheets are not applied.

Dropped: scripts, styles, templates, comments, `noscript`, form controls, navigation, and elements
hidden by `hidden`, `aria-hidden`, or an inline `display: none` or `visibility: hidden`.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING

from cairn.documents.parsed import Block, BlockKind, ReadBlocks, malformed

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


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


_DROPPED = frozenset(
    """
    script style template noscript head iframe object embed canvas svg math audio video select
    option button textarea input nav dialog
    """.split()  # noqa: SIM905 - one word a tag reads better
)
_BLOCKS = frozenset(
    """
    address article aside body blockquote caption center dd details div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu
    ol p pre section summary table tbody td tfoot th thead tr ul
    """.split()  # noqa: SIM905 - one word a tag reads better
)
_HEADING_TAGS = {f"h{level}": level for level in range(1, 7)}
_LIST_TAGS = frozenset({"ul", "ol", "menu", "dl"})
_ITEM_TAGS = frozenset({"li", "dt", "dd"})
_CELL_TAGS = frozenset({"td", "th"})
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\n\r\f\xa0]+")
_MAX_INDENT = 6
_MAX_NESTING = 1_000  # browsers stop near 500; the parser's time grows with its square


def read_html(text: str) -> ReadBlocks:
    """Return the visible blocks of a page or fragment; the title is the `title` element's.

    Headings, paragraphs, lists (nested items indented), tables (rows as `a | b`), preformatted text
    and quotations. Lines are those of the source where the text stands. Raises ValidationFailed
    (malformed-document) for hostile nesting.
    """
    from selectolax.lexbor import LexborHTMLParser

    if nesting(text) > _MAX_NESTING:
        raise malformed(f"The page nests its elements more than {_MAX_NESTING} deep.")
    tree = LexborHTMLParser(text)
    title = tree.css_first("head > title")
    reader = _Reader(LineFinder(text))
    if tree.body is not None:
        for node, entering in _walk(tree.body, reader):
            reader.enter(node) if entering else reader.leave(node)
        reader.flush()
    return ReadBlocks(
        blocks=tuple(reader.blocks), title=_squeeze(title.text()).strip() if title else None
    )


def html_to_text(text: str) -> str:
    """Return the visible text of a fragment, blocks separated by blank lines."""
    return "\n\n".join(block.text for block in read_html(text).blocks)


def _walk(root: "LexborNode", reader: "_Reader") -> Iterator[tuple["LexborNode", bool]]:
    """Yield (node, entering?) for elements and texts in document order without recursion."""
    open_nodes: list[LexborNode] = []
    node: LexborNode | None = root
    while node is not None:
        descends = False
        if node.is_text_node:
            yield node, True
        elif node.is_element_node and reader.is_seen(node):
            yield node, True
            descends = True
        elif node.is_element_node:
            reader.skip(node)
        child = node.first_child if descends else None
        if child is not None:
            open_nodes.append(node)
            node = child
            continue
        if descends:
            yield node, False
        following = node.next if open_nodes else None
        while following is None and open_nodes:
            parent = open_nodes.pop()
            yield parent, False
            following = parent.next if open_nodes else None
        node = following


@dataclass(slots=True)
class _Reader:
    """Collects inline text until a block ends. One use for one document."""

    lines: LineFinder
    blocks: list[Block] = field(default_factory=list[Block])
    _text: list[str] = field(default_factory=list[str])
    _from: int | None = None
    _to: int | None = None
    _pre: int = 0
    _quote: int = 0
    _lists: list[str] = field(default_factory=list[str])
    _tables: int = 0

    def is_seen(self, node: "LexborNode") -> bool:
        """Return whether the element and what is in it are read."""
        if node.tag in _DROPPED:
            return False
        attributes = node.attributes
        if not attributes:
            return True
        hidden = "hidden" in attributes or attributes.get("aria-hidden") == "true"
        return not hidden and not _HIDDEN_STYLE.search(attributes.get("style") or "")

    def skip(self, node: "LexborNode") -> None:
        """Pass over an element that is not read, so that later lines stay right."""
        if node.tag not in {"script", "style", "template", "noscript", "head"}:
            self.lines.follow(node.text(deep=True, separator=" "))

    def enter(self, node: "LexborNode") -> None:
        """Take in a text, or begin an element."""
        if node.is_text_node:
            self._take(node.text_content or "")
            return
        tag = node.tag or ""
        inside = bool(self._tables or self._lists)
        if tag in _BLOCKS and not inside:
            self.flush()
        self._enter_nested(tag)
        if tag == "br":
            self._text.append("\n")
        elif tag == "img":
            self._text.append(f" {node.attributes.get('alt') or ''} ")
        elif tag == "pre":
            self._pre += 1
        elif tag == "blockquote":
            self._quote += 1

    def _enter_nested(self, tag: str) -> None:
        """Begin a list, an item, a table, a row or a cell; other blocks inside break the line."""
        if tag in _LIST_TAGS:
            self._lists.append(tag)
        elif tag == "table":
            self._break()
            self._tables += 1
        elif tag == "tr" or (tag in _BLOCKS - _CELL_TAGS and self._lists and not self._tables):
            self._break()
        if tag in _ITEM_TAGS and self._lists:
            indent = "  " * min(len(self._lists) - 1, _MAX_INDENT)
            self._text.append(indent + ("- " if tag != "dd" else "  "))

    def leave(self, node: "LexborNode") -> None:
        """End an element."""
        tag = node.tag or ""
        if tag in _HEADING_TAGS and not (self._tables or self._lists):
            self.flush(BlockKind.HEADING, level=_HEADING_TAGS[tag])
        elif tag == "pre":
            self._pre -= 1
            if not (self._tables or self._lists):
                self.flush(BlockKind.CODE)
        elif tag in _CELL_TAGS and self._tables:
            self._text.append(" | ")
        elif tag == "table" and self._tables:
            self._tables -= 1
            self._close(BlockKind.TABLE)
        elif tag in _LIST_TAGS and self._lists:
            self._lists.pop()
            self._close(BlockKind.LIST)
        elif tag in _BLOCKS and not (self._tables or self._lists):
            self.flush()
        if tag == "blockquote":
            self._quote -= 1

    def _close(self, kind: BlockKind) -> None:
        """End the outermost list or table as one block."""
        if not (self._tables or self._lists):
            self.flush(kind)

    def _break(self) -> None:
        if self._text and not self._text[-1].endswith(("\n", "- ")):
            self._text.append("\n")

    def _take(self, text: str) -> None:
        result = self.lines.follow(text)
        if result:
            self._from = self._from or result[0]
            self._to = result[1]
        self._text.append(text if self._pre else _SPACE.sub(" ", text))

    def flush(self, kind: BlockKind | None = None, *, level: int = 0) -> None:
        """Turn the collected text into a block, if there is any."""
        raw = "".join(self._text)
        if kind is None:
            kind = BlockKind.QUOTE if self._quote else BlockKind.PARAGRAPH
        text = raw.strip("\n") if kind is BlockKind.CODE else _tidy(raw, kind)
        if text.strip():
            if kind is BlockKind.HEADING:
                text = _squeeze(text)
            block = Block(
                kind=kind, text=text, level=level, line_from=self._from or 1, line_to=self._to or 1
            )
            self.blocks.append(block)
        self._text.clear()
        self._from = self._to = None


def _tidy(raw: str, kind: BlockKind) -> str:
    """Return the lines without trailing space and empty ones; tables without the last separator."""
    rows = [row.rstrip() for row in raw.split("\n")]
    if kind is BlockKind.TABLE:
        rows = [row.strip().removesuffix("|").rstrip() for row in rows]
    if kind is not BlockKind.LIST:
        rows = [_squeeze(row).strip() for row in rows]
    return "\n".join(row for row in rows if row.strip(" -"))


def _squeeze(text: str) -> str:
    return _SPACE.sub(" ", text)
