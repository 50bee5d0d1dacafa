"""Texts of others put into prompts as data: XML elements they cannot close. Not a parser."""

import re
from xml.sax.saxutils import escape, quoteattr

_SPACE = re.compile(r"[\s\x00-\x1f\x7f]+")


def one_line(text: str) -> str:
    """Return `text` in one line; NUL and other control characters, which no store takes, go."""
    return _SPACE.sub(" ", text).strip()


def as_data(tag: str, text: str, **attributes: str) -> str:
    """Return `text` inside an XML element that it cannot close: data, whatever it says."""
    written = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<{tag}{written}>{escape(text)}</{tag}>"
