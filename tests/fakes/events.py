"""Events in memory, over the tables of `stores`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.events.rows import UNNUMBERED, TimelineEvent
from cairn.graph.edge import Relation, View
from cairn.graph.node import Label, State

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.graph.node import Node
    from cairn.kernel.access import Principal
    from cairn.memories.identity import Session

_PRESENT = (State.ACTIVE, State.PROVISIONAL)
_GONE = (State.DELETED, State.QUARANTINED)


@dataclass(frozen=True)
class InMemoryEvents:
    """Implements `ingestion.event_ports.EventStore`."""

    tables: Tables
    principal: Principal

    def around(
        self, places: Sequence[tuple[Session, TimelineEvent]]
    ) -> Mapping[Session, tuple[TimelineEvent, ...]]:
        """Return the stored events just before and just after each place, by session."""
        found: dict[Session, dict[UUID, TimelineEvent]] = {}
        for session, event in places:
            stored = sorted(self._events(session), key=lambda one: one.place)
            near = [one for one in stored if one.place < event.place][-1:]
            near += [one for one in stored if one.place > event.place][:1]
            found.setdefault(session, {}).update({one.id: one for one in near})
        return {session: tuple(events.values()) for session, events in found.items()}

    def visible(self, node_ids: Collection[UUID]) -> frozenset[UUID]:
        """Return those of the nodes that the principal may see."""
        return frozenset(
            one.id
            for one in self.tables.nodes.values()
            if one.id in node_ids
            and one.state not in _GONE
            and one.scope in self.principal.allowed_scopes
            and self.principal.finds(one.agents)
        )

    def _events(self, session: Session) -> list[TimelineEvent]:
        audience = (
            session.audience.scope,
            session.audience.agents,
            session.audience.data_subjects,
        )
        return [
            self._event(one)
            for one in self.tables.nodes.values()
            if one.label == Label.EVENT
            and one.session_id == session.session_id
            and one.state in _PRESENT
            and (one.scope, one.agents, one.data_subjects) == audience
        ]

    def _event(self, node: Node) -> TimelineEvent:
        follows = (View.TEMPORAL, Relation.FOLLOWS, node.id)
        edges = self.tables.edges.values()
        return TimelineEvent(
            id=node.id,
            occurred_at=node.occurred_at,
            sequence=UNNUMBERED if node.sequence is None else node.sequence,
            follows_edge=next(
                (one.id for one in edges if (one.view, one.relation, one.source_id) == follows),
                None,
            ),
        )
