"""What strangers are told of where a document is from: its title, or an address of the web. Pure.

A source may be a path of a machine here, or an address that nobody outside has to know.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cairn.graph.node import Label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.recall.records import FoundNode

UNNAMED = "document"
_BETWEEN = re.compile(r"[/\\]+")


def for_strangers(
    nodes: Sequence[FoundNode], titles: Mapping[UUID, str | None]
) -> Sequence[FoundNode]:
    """Return nodes as those who hold no key of a member see them; `titles` are of documents."""
    return [_for_strangers(node, titles) if node.source_uri else node for node in nodes]


def unnamed(nodes: Sequence[FoundNode]) -> Sequence[UUID]:
    """Return the documents whose titles are to be known, for `for_strangers`."""
    ids = {
        node.document_id
        for node in nodes
        if node.document_id and node.source_uri and not is_of_the_web(node.source_uri)
    }
    return sorted(ids)


def is_of_the_web(uri: str) -> bool:
    """Return whether an address is one of the web, with no user or password in it."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and "@" not in parts.netloc


def name_of(uri: str, title: str | None) -> str:
    """Return what a document is called: its address, its title, or the last part of its path."""
    if is_of_the_web(uri):
        return uri
    if title and title.strip() and title != uri:
        return title
    path = uri.partition("?")[0].partition("#")[0]
    return next((part for part in reversed(_BETWEEN.split(path)) if part), UNNAMED)


def _for_strangers(node: FoundNode, titles: Mapping[UUID, str | None]) -> FoundNode:
    uri = node.source_uri or ""
    own = node.title if node.label == Label.DOCUMENT else None
    name = name_of(uri, titles.get(node.document_id) if node.document_id else own)
    text, title = (name if each == uri else each for each in (node.text, node.title))
    return replace(node, source_uri=name, title=title, text=text or "", metadata={})
