"""Confluence's storage format as plain HTML: macros and links by what they say. Draws nothing."""

from __future__ import annotations

from html import escape
from html.parser import HTMLParser

from cairn.adapters.sources.changes import plain

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


def storage_to_html(storage: str, *, title: str, attachments: list[str]) -> str:
    """Return a page that the reader of HTML documents reads; what is in it cannot run."""
    cleaner = _Cleaner()
    cleaner.feed(_without_cdata(storage))
    cleaner.close()
    names = "".join(f"<li>{escape(name)}</li>" for name in attachments)
    more = f"<h2>Attachments</h2><ul>{names}</ul>" if names else ""
    head = f"<title>{escape(title)}</title>"
    body = f"<h1>{escape(title)}</h1>{''.join(cleaner.parts)}{more}"
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


class _Cleaner(HTMLParser):
    """Collects what is kept; what is dropped ends with its own tag."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._dropped: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._dropped:
            if tag == self._dropped[-1]:
                self._dropped.append(tag)
        elif tag in _DROPPED:
            self._dropped.append(tag)
        else:
            self._say(tag, dict(attrs))
            name = _AS.get(tag, tag)
            if name in _KEPT:
                self.parts.append(f"<{name}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._dropped:
            self._say(tag, dict(attrs))
            if tag in {"br", "hr"}:
                self.parts.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if self._dropped:
            if tag == self._dropped[-1]:
                self._dropped.pop()
            return
        name = _AS.get(tag, tag)
        if name in _KEPT and name not in {"br", "hr"}:
            self.parts.append(f"</{name}>")

    def handle_data(self, data: str) -> None:
        if not self._dropped:
            self.parts.append(escape(data))

    def _say(self, tag: str, attributes: dict[str, str | None]) -> None:
        """Say what stands in an attribute only: where a link leads to, a date."""
        if (name := _SAY.get(tag)) is not None:
            self.parts.append(escape(plain(attributes.get(name), _TITLE)))
