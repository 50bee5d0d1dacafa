"""One result for what is one thing. Pure; it compares, and never decides what is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from cairn.graph.node import Label
from cairn.memories.kinds import MemoryKind
from cairn.recall.records import Sketch
from cairn.recall.scoring import Scored

_EVENT, _EVENT_KIND = Label.EVENT.value, MemoryKind.EVENT.value
"""What happened is itself: the same words at another time are another event."""


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
    seen: dict[object, UUID] = {}
    kept: list[Scored] = []
    merged: dict[UUID, tuple[UUID, ...]] = {}
    for each in ranked:
        layers = _layers(each.sketch)
        first = next((seen[layer] for layer in layers if layer in seen), None)
        if first is None:
            kept.append(each)
            first = each.sketch.id
        elif first != each.sketch.id:
            merged[first] = (*merged.get(first, ()), each.sketch.id)
        for layer in layers:
            seen.setdefault(layer, first)
    return Deduped(kept=tuple(kept), merged=merged)


def _layers(node: Sketch) -> list[object]:
    """Return what the node is known by; keys of different layers are never equal."""
    layers: list[object] = [node.id.int]  # an int hashes ten times as fast
    if node.slug:
        layers.append(("slug", node.slug))
    if node.canonical_name:
        layers.append(("name", node.label, node.client_id, node.canonical_name.casefold()))
    if node.content_hash:
        content = ("content", node.label, node.client_id, node.content_hash)
        happened = node.label == _EVENT or node.kind == _EVENT_KIND
        when = (node.occurred_at, node.session_id, node.source_agent) if happened else ()
        layers.append((*content, *when))
    return layers
