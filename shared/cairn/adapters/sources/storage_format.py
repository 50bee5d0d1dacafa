"""Confluence's storage format as plain HTML: macros and links by what they say. Draws nothing."""

from __future__ import annotations

import re
from html import escape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cairn.adapters.sources.changes import plain
from cairn.documents.formats.html import nesting
from cairn.documents.parsed import malformed

_CDATA, _END = "<![CDATA[", "]]>"
_AS = {"ac:plain-text-body": "pre", "ac:task": "li", "ac:task-list": "ul"}
_KEPT = frozenset(
    """
    p br h1 h2 h3 h4 h5 h6 ul ol li table thead tbody tr th td pre code blockquote strong em b i u
    s sub sup span div hr a dl dt dd
    """.split()  # noqa: SIM905 - one word a tag reads better
)
_DROPPED = frozenset(
    {"ac:parameter", "ac:task-id", "ac:task-status", "ac:task-uuid", "script", "style"}
)
_SAY = {"ri:page": "ri:content-title", "ri:attachment": "ri:filename", "time": "datetime"}
_TITLE = 500
_CLOSES_ITSELF = re.compile(r"<((?:ac|ri):[a-z-]{1,40}|time)\b([^<>]*)/>")
MOST_NESTING = 1_000
"""As of any page: the parser's time grows with its square."""


def storage_to_html(storage: str, *, title: str, attachments: list[str]) -> str:
    """Return a page that the reader of HTML documents reads; what is in it cannot run."""
    source = _CLOSES_ITSELF.sub(r"<\1\2></\1>", _without_cdata(storage))
    if nesting(source) > MOST_NESTING:
        raise malformed(f"The page nests its elements more than {MOST_NESTING} deep.")
    names = "".join(f"<li>{escape(name)}</li>" for name in attachments)
    more = f"<h2>Attachments</h2><ul>{names}</ul>" if names else ""
    head = f"<title>{escape(title)}</title>"
    body = f"<h1>{escape(title)}</h1>{_cleaned(source)}{more}"
    return f"<html><head>{head}</head><body>{body}</body></html>"


def _without_cdata(text: str) -> str:
    """Return it with the texts of its CDATA sections escaped; linear."""
    parts, at = list[str](), 0
    while (start := text.find(_CDATA, at)) >= 0:
        end = text.find(_END, start)
        if end < 0:
            break
        parts += [text[at:start], escape(text[start + len(_CDATA) : end])]
        at = end + len(_END)
    return "".join([*parts, text[at:]])


def _cleaned(source: str) -> str:
    """Return what is kept: names of elements without their attributes, and texts."""
    parts = list[str]()
    body = LexborHTMLParser(source).body
    left: list[LexborNode | str] = [] if body is None else [body]
    while left:
        node = left.pop()
        if isinstance(node, str):
            parts.append(node)
        elif node.is_text_node:
            parts.append(escape(node.text_content or ""))
        elif node.is_element_node and (tag := node.tag or "") not in _DROPPED:
            name = _AS.get(tag, tag)
            if name in _KEPT:
                parts.append(f"<{name}>")
                left.append("" if name in {"br", "hr"} else f"</{name}>")
            if (attribute := _SAY.get(tag)) is not None:
                parts.append(escape(plain(node.attributes.get(attribute), _TITLE)))
            left.extend(reversed(list(node.iter(include_text=True))))
    return "".join(parts)
