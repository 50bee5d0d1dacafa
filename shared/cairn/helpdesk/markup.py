"""Help desks send HTML; tickets are plain text. What a reader would see, roughly, and no more."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_BLOCKS = frozenset(["br", "div", "p", "li", "tr", "h1", "h2", "h3", "h4", "blockquote", "pre"])
_HIDDEN = frozenset(["script", "style", "head", "template"])
_MARKUP = re.compile(r"<(?:/?[a-zA-Z][^>]*|!--)")
_SPACES = re.compile(r"[ \t\r\f\v\xa0]+")
_BREAKS = re.compile(r"\s*\n\s*\n\s*")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Begin a line at a block."""
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """End a line at the end of a block."""
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        """Keep what can be seen."""
        if not self._hidden:
            self.parts.append(data)


def plain_text(text: str) -> str:
    """Return the text of HTML; a text without markup stays as it is. Linear in its length."""
    if not _MARKUP.search(text):
        return text
    reader = _Reader()
    reader.feed(text)
    reader.close()
    lines = (_SPACES.sub(" ", line).strip() for line in "".join(reader.parts).split("\n"))
    return _BREAKS.sub("\n\n", "\n".join(lines)).strip()
