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
    """`PostgresEvents` in memory."""

    tables: Tables
    principal: Principal

    def around(
        self, places: Sequence[tuple[Session, TimelineEvent]]
    ) -> Mapping[Session, tuple[TimelineEvent, ...]]:
        """Return the stored events just before and just after each place, by session."""
        found: dict[Session, dict[UUID, TimelineEvent]] = {}
        for session, event in places:
            stored = sorted(self._events(session), key=lambda event: event.place)
            near = [item for item in stored if item.place < event.place][-1:]
            near += [item for item in stored if item.place > event.place][:1]
            found.setdefault(session, {}).update({item.id: item for item in near})
        return {session: tuple(events.values()) for session, events in found.items()}

    def visible(self, node_ids: Collection[UUID]) -> frozenset[UUID]:
        """Return those of the nodes that the principal may see."""
        return frozenset(
            node.id
            for node in self.tables.nodes.values()
            if node.id in node_ids
            and node.state not in _GONE
            and node.scope in self.principal.allowed_scopes
            and self.principal.finds(node.agents)
        )

    def _events(self, session: Session) -> list[TimelineEvent]:
        audience = (
            session.audience.scope,
            session.audience.agents,
            session.audience.data_subjects,
        )
        return [
            self._event(node)
            for node in self.tables.nodes.values()
            if node.label == Label.EVENT
            and node.session_id == session.session_id
            and node.state in _PRESENT
            and (node.scope, node.agents, node.data_subjects) == audience
        ]

    def _event(self, node: Node) -> TimelineEvent:
        follows = (View.TEMPORAL, Relation.FOLLOWS, node.id)
        edges = self.tables.edges.values()
        return TimelineEvent(
            id=node.id,
            occurred_at=node.occurred_at,
            sequence=UNNUMBERED if node.sequence is None else node.sequence,
            follows_edge=next(
                (
                    edge.id
                    for edge in edges
                    if (edge.view, edge.relation, edge.source_id) == follows
                ),
                None,
            ),
        )
