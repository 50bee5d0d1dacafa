"""One result for what is one thing. Pure; it compares, and never decides what is stored."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from cairn.graph.node import Label
from cairn.memory.kinds import MemoryKind
from cairn.retrieval.records import Sketch
from cairn.retrieval.scoring import Scored

_OCCURRENCES = frozenset({MemoryKind.EVENT})
"""Kinds whose identity is that they happened: the same words at another time are another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deduped:
    """What is left, in order, and by kept id the ids it stands for besides its own."""

    kept: tuple[Scored, ...]
    merged: Mapping[UUID, tuple[UUID, ...]]


def deduped(ranked: Sequence[Scored]) -> Deduped:
    """Keep the first of each thing in `ranked`.

    Two candidates are one thing when they share any of four layers: the node's id; the slug; the
    canonical name, casefolded, of the same label and client; the content hash (of events with
    their time and session, since an event is append-only).
    """
    seen: dict[tuple[object, ...], UUID] = {}
    kept: list[Scored] = []
    merged: dict[UUID, tuple[UUID, ...]] = {}
    for each in ranked:
        layers = list(_layers(each.sketch))
        first = next((seen[layer] for layer in layers if layer in seen), None)
        if first is None:
            kept.append(each)
        elif first != each.sketch.id:
            merged[first] = (*merged.get(first, ()), each.sketch.id)
        for layer in layers:
            seen.setdefault(layer, first or each.sketch.id)
    return Deduped(kept=tuple(kept), merged=merged)


def _layers(node: Sketch) -> Iterator[tuple[object, ...]]:
    yield ("id", node.id)
    if node.slug:
        yield ("slug", node.slug)
    if node.canonical_name:
        yield ("name", node.label, node.client_id, node.canonical_name.casefold())
    if node.content_hash:
        occurrence = node.label == Label.EVENT or node.kind in _OCCURRENCES
        when = (node.occurred_at, node.session_id, node.source_agent) if occurrence else ()
        yield ("content", node.label, node.client_id, node.content_hash, *when)
