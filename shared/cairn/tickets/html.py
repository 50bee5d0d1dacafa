"""The text of what help desks write as HTML. Not safety: what a page shows is escaped there."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BREAKING = frozenset(
    ["br", "div", "p", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "ul"]
)
_HIDDEN = {
    tag: re.compile(rf"</{tag}\b", re.IGNORECASE) for tag in ("script", "style", "head", "template")
}
_MARKUP = re.compile(r"<(?:/?[a-zA-Z]|!--)")
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_SPACES = re.compile(r"[ \t\r\f\v\xa0]+")


def plain_text(text: str) -> str:
    """Return the text of HTML; a text without markup stays as it is. Linear in its length."""
    if not _MARKUP.search(text):
        return text
    seen = unescape("".join(_visible(text)))
    return _tidy(_SPACES.sub(" ", line).strip() for line in seen.split("\n")).strip()


def _visible(text: str) -> Iterator[str]:
    """Yield what is between the tags, and a line break for each tag that makes one."""
    at = 0
    while (start := text.find("<", at)) >= 0:
        yield text[at:start]
        if text.startswith("<!--", start):
            at = _after(text, "-->", start + 4)
            continue
        following = text.find("<", start + 1)
        end = text.find(">", start + 1, len(text) if following < 0 else following)
        tag = _TAG.match(text, start)
        if end < 0 or tag is None:  # a sign, not a tag
            yield "<"
            at = start + 1
            continue
        closing, name = bool(tag[1]), tag[2].casefold()
        at = end + 1
        if name in _HIDDEN and not closing:
            match = _HIDDEN[name].search(text, at)
            at = match.start() if match else len(text)
        elif name in _BREAKING and not (closing and name == "br"):
            yield "\n"
    yield text[at:]


def _after(text: str, mark: str, start: int) -> int:
    value = text.find(mark, start)
    return len(text) if value < 0 else value + len(mark)


def _tidy(lines: Iterable[str]) -> str:
    tidied: list[str] = []
    for line in lines:
        if line or (tidied and tidied[-1]):
            tidied.append(line)
    return "\n".join(tidied)
