"""A page of the web as text: screened, since what it says is somebody's and no instruction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.scrub import scrub
from cairn.safety.screening import Verdict, screen

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

MAX_TEXT_CHARS = 20_000
HTML = frozenset({"text/html", "application/xhtml+xml"})
PLAIN = frozenset({"text/plain", "text/markdown", "application/json"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What an address answered with: the last one, after redirects, its media type, its bytes."""

    url: str
    media_type: str
    charset: str
    body: bytes


Fetch: TypeAlias = "Callable[[UUID, str], Fetched]"
"""(workspace, address) -> what is there, fetched politely, from outside this network only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page's text, cut at MAX_TEXT_CHARS; `suspicious` when it reads like orders to a model."""

    url: str
    title: str
    text: str
    cut: bool
    suspicious: bool


def page_of(fetched: Fetched) -> Page:
    """Return a page as text; ValidationFailed for what is none."""
    try:
        source = fetched.body.decode(fetched.charset, errors="replace")
    except LookupError:  # a charset that nobody knows
        source = fetched.body.decode("utf-8", errors="replace")
    source = source.replace("\x00", "\ufffd")
    title, text = "", source
    if fetched.media_type in HTML:
        title, text = _read(source)
    text = scrub(text).text
    if not text.strip():
        fault = "leads to a page without text"
        raise ValidationFailed(f"url {fault}.", reason="empty-document", errors=[_at(fault)])
    return Page(
        url=fetched.url,
        title=scrub(title).text[:200],
        text=text[:MAX_TEXT_CHARS],
        cut=len(text) > MAX_TEXT_CHARS,
        suspicious=screen(f"{title}\n{text[:MAX_TEXT_CHARS]}").verdict is not Verdict.CLEAN,
    )


def _read(source: str) -> tuple[str, str]:
    from cairn.documents.formats.html import read_html

    read = read_html(source)
    return read.title or "", "\n\n".join(block.text for block in read.blocks)


def _at(fault: str) -> FieldError:
    return FieldError("url", fault)
