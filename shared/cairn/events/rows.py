"""An event's place in its session, and the projector of `event.observed`. Pure."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.events.draft import event_identity
from cairn.graph.edge import Edge, Relation, View
from cairn.graph.node import Label, Node
from cairn.graph.projection import EdgeRow, Projection
from cairn.kernel.ids import derived_id
from cairn.writing.row_fields import closures, edge_fields, node_fields, origin_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cairn.events.draft import EventDraft
    from cairn.kernel.text.json_value import JsonValue
    from cairn.ledger.entry import Entry


UNNUMBERED = -1
"""The sequence of an event that has none: before the numbered ones of the same moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEvent:
    """An event's place in its session. `follows_edge` is the open edge to the one before it."""

    id: UUID
    occurred_at: datetime
    sequence: int = UNNUMBERED
    follows_edge: UUID | None = None

    @property
    def place(self) -> tuple[datetime, int, UUID]:
        """Return what a session is ordered by: time, then number, then the order of arrival."""
        return (self.occurred_at, self.sequence, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """A new edge: source FOLLOWS target, `delta_ms` milliseconds later."""

    source_id: UUID
    target_id: UUID
    delta_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Insertion:
    """What one new event does to its session's order."""

    added: tuple[Following, ...] = ()
    closed: tuple[UUID, ...] = ()


class Timeline:
    """One session as one audience sees it, around the events that a batch brings.

    `stored` are the neighbours of every new event's place, `new` the whole batch: edges go
    straight to the final order, so that none is made and ended within a batch.
    """

    def __init__(self, stored: Iterable[TimelineEvent], new: Iterable[TimelineEvent]) -> None:
        fresh = list(new)
        self._new = {item.id for item in fresh}
        everyone = {event.id: event for event in (*stored, *fresh)}
        self._order = sorted(everyone.values(), key=lambda item: item.place)
        self._places = [item.place for item in self._order]

    def insert(self, event: TimelineEvent) -> Insertion:
        """Return the edges of one of the new events."""
        at = bisect_left(self._places, event.place)
        before = self._order[at - 1] if at > 0 else None
        after = self._order[at + 1] if at + 1 < len(self._order) else None
        added = [_following(event, before)] if before else []
        closed: tuple[UUID, ...] = ()
        if after and after.id not in self._new:  # a new one makes its own edge
            added.append(_following(after, event))
            closed = (after.follows_edge,) if after.follows_edge else ()
        return Insertion(added=tuple(added), closed=closed)


def _following(later: TimelineEvent, earlier: TimelineEvent) -> Following:
    delta_ms = (later.occurred_at - earlier.occurred_at) // timedelta(milliseconds=1)
    return Following(source_id=later.id, target_id=earlier.id, delta_ms=delta_ms)


def event_meta(
    node_id: UUID, draft: EventDraft, insertion: Insertion, cause: UUID | None
) -> dict[str, JsonValue]:
    """Return what stands in clear: the scope, ids, and milliseconds between events."""
    return {
        "node_id": str(node_id),
        "scope": draft.audience.scope,
        "follows": [
            [str(item.source_id), str(item.target_id), item.delta_ms] for item in insertion.added
        ],
        "closed": [str(item) for item in insertion.closed],
        "caused_by": str(cause) if cause else None,
    }


def event_body(draft: EventDraft) -> dict[str, Any]:
    """Return what of an event is encrypted into its entry: all that a reader could recognise."""
    agents = draft.audience.agents
    return {
        "type": draft.type,
        "text": draft.text,
        "content_hash": draft.content_hash,
        "dedup_key": event_identity(draft),
        "agents": list(agents) if agents is not None else None,
        "client_id": draft.client_id,
        "source_agent": draft.source_agent,
        "sequence": draft.sequence,
        "importance": draft.importance,
        "tool_name": draft.tool_name,
        "status": draft.status,
        "payload": dict(draft.payload),
        "screening": draft.screening,
    }


def observed(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """An event, what it follows, what follows it, and what caused it."""
    return Projection(nodes=(_node(entry, meta, body),), edges=_edges(entry, meta, body))


def _node(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Node:
    return Node(
        **node_fields(entry, meta, body),
        id=UUID(meta["node_id"]),
        label=Label.EVENT,
        kind=body["type"],
        text=body["text"],
        content_hash=body["content_hash"],
        dedup_key=body["dedup_key"],
        observed_by=(body["source_agent"],),
        observation_count=1,
        **origin_fields(entry, body),
        sequence=body["sequence"],
        parent_id=entry.parent_id,
        category="episodic",
        importance=body["importance"],
        screening=body["screening"],
        metadata={name: body[name] for name in ("tool_name", "status", "payload")},
    )


def _edges(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> tuple[EdgeRow, ...]:
    session_id = origin_fields(entry, body)["session_id"]
    added = [
        _edge(
            entry,
            View.TEMPORAL,
            Relation.FOLLOWS,
            source,
            target,
            {"delta_ms": delta_ms, "session_id": session_id},
        )
        for source, target, delta_ms in cast("list[tuple[str, str, int]]", meta["follows"])
    ]
    if meta["caused_by"]:
        ends = meta["node_id"], meta["caused_by"]
        added.append(_edge(entry, View.CAUSAL, Relation.CAUSED_BY, *ends, {"mechanism": "direct"}))
    return (*closures(entry, meta["closed"]), *added)


def _edge(
    entry: Entry,
    view: View,
    relation: Relation,
    source: str,
    target: str,
    properties: Mapping[str, Any],
) -> Edge:
    return Edge(
        **edge_fields(entry),
        id=derived_id(entry.id, relation, source, target),
        view=view,
        relation=relation,
        source_id=UUID(source),
        target_id=UUID(target),
        properties=properties,
    )
