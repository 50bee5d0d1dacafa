"""Pages of a site: where they lead, and what they say without what stands on every page.

What stands around is known by HTML's own words for it (`main`, `nav`, `role`), never guessed: a
guess loses tables and lists (docs/decisions/0078).
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from defusedxml import DefusedXmlException, ElementTree
from selectolax.lexbor import LexborHTMLParser
from w3lib.encoding import html_to_unicode

from cairn.adapters.sources.site_way import address_of
from cairn.documents.formats.html import nesting
from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from selectolax.lexbor import LexborNode

MAX_NESTING = 500
MAX_LINKS = 2_000
MAX_MAIN = 100
MAX_SITEMAP_BYTES = 10_000_000
MAX_SITEMAP_URLS = 50_000

_AROUND = ", ".join(
    [
        *("nav", "aside", "body > header", "body > footer", "#nav", "#menu", "#footer", ".navbar"),
        *(".footer", ".breadcrumb", ".cookie-banner", ".cookie-consent"),
        *(f"[role={role}]" for role in ("navigation", "complementary", "search", "dialog")),
        *("[role=banner]", "[role=contentinfo]"),
    ]
)
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePage:
    """A page as it was read; `canonical` is the address it wants to be known by."""

    title: str | None
    body: bytes
    canonical: str | None
    links: tuple[str, ...]
    is_indexed: bool = True


def read_page(url: str, content_type: str, body: bytes, *, robots_tag: str = "") -> SitePage:
    """Return what a page says. ValidationFailed for hostile nesting."""
    _, text = html_to_unicode(content_type, body)
    if nesting(text) > MAX_NESTING:
        fault = f"The page nests its elements more than {MAX_NESTING} deep."
        raise ValidationFailed(fault, reason="malformed-document")
    tree = LexborHTMLParser(text)
    orders = _orders(tree, robots_tag)
    title = tree.css_first("head > title")
    heading = " ".join(title.text().split())[:300] if title is not None else ""
    canonical = tree.css_first("head > link[rel=canonical]")
    name = canonical.attributes.get("href") if canonical is not None else None
    links = () if orders & {"nofollow", "none"} else tuple(_links(tree, url))
    return SitePage(
        title=heading or None,
        body=_without_around(tree, heading),  # takes away what is around, links too
        canonical=address_of(name, url) if name else None,
        links=links,
        is_indexed=not orders & {"noindex", "none"},
    )


def _without_around(tree: LexborHTMLParser, title: str) -> bytes:
    for node in tree.css(_AROUND):
        node.decompose()
    main = tree.css("main, [role=main]") or tree.css("article")
    if not main or len(main) > MAX_MAIN:
        main = [tree.body] if tree.body is not None else []
    parts = "".join(node.html or "" for node in _outermost(main))
    head = f'<head><meta charset="utf-8"><title>{escape(title)}</title></head>'
    page = f"<!doctype html><html>{head}<body>{parts}</body></html>"
    return page.encode("utf-8", errors="replace")


def _outermost(nodes: list[LexborNode]) -> Iterator[LexborNode]:
    ids = {node.mem_id for node in nodes}
    for node in nodes:
        parent = node.parent
        while parent is not None and parent.mem_id not in ids:
            parent = parent.parent
        if parent is None:
            yield node


def _orders(tree: LexborHTMLParser, robots_tag: str) -> set[str]:
    """Return what robots are told: noindex, nofollow, none."""
    tags = tree.css("meta[name=robots i], meta[name=cairn i]")
    orders = [robots_tag, *(tag.attributes.get("content") or "" for tag in tags)]
    return {word.strip().lower() for each in orders for word in each.split(",")}


def _links(tree: LexborHTMLParser, url: str) -> Iterator[str]:
    based = tree.css_first("head > base[href]")
    base = (based.attributes.get("href") or "") if based is not None else ""
    base = address_of(base, url) or url
    for node in tree.css("a[href], area[href]")[:MAX_LINKS]:
        if "nofollow" not in (node.attributes.get("rel") or "").lower().split():
            address = address_of(node.attributes.get("href") or "", base)
            if address is not None:
                yield address


def read_sitemap(url: str, body: bytes) -> tuple[list[str], list[str]]:
    """Return the pages that a sitemap names, and the sitemaps; what is no sitemap names none."""
    pages: list[str] = []
    sitemaps: list[str] = []
    try:
        text = _unpacked(body)
        if not text.lstrip().startswith(b"<"):
            return _of_lines(url, text), []
        for _, element in ElementTree.iterparse(BytesIO(text), forbid_dtd=True):
            name = element.tag.rpartition("}")[2]
            address = _location(url, element) if name in {"url", "sitemap"} else None
            if address is not None:
                (pages if name == "url" else sitemaps).append(address)
            if name in {"url", "sitemap"}:
                element.clear()
            if len(pages) >= MAX_SITEMAP_URLS:
                break
    except (ElementTree.ParseError, DefusedXmlException, zlib.error, EOFError, ValueError):
        pass  # what was read before the damage is good; a sitemap is a hint, not the site
    return pages, sitemaps


def _location(url: str, element: Element) -> str | None:
    for child in element:
        if child.tag.rpartition("}")[2] == "loc" and child.text:
            return address_of(child.text, url)
    return None


def _of_lines(url: str, text: bytes) -> list[str]:
    lines = text.decode("utf-8", errors="replace").splitlines()[:MAX_SITEMAP_URLS]
    return [address for line in lines if "://" in line and (address := address_of(line, url))]


def _unpacked(body: bytes) -> bytes:
    """Return a sitemap; of a packed one no more than MAX_SITEMAP_BYTES."""
    if not body.startswith(_GZIP):
        return body
    return zlib.decompressobj(wbits=31).decompress(body, MAX_SITEMAP_BYTES)
