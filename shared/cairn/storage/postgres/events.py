"""Events in PostgreSQL: their places among a session's others. Writing is the node store's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.ingestion.event_timeline import TimelineEvent
from cairn.storage.postgres.stores import Store

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.ingestion.ports import Session


class PostgresEvents(Store):
    """Implements `ingestion.event_ports.EventStore`."""

    def around(
        self, places: Sequence[tuple[Session, TimelineEvent]]
    ) -> Mapping[Session, tuple[TimelineEvent, ...]]:
        """Return the stored events just before and just after each place, by session."""
        by_session: dict[Session, list[TimelineEvent]] = {}
        for session, event in places:
            by_session.setdefault(session, []).append(event)
        return {session: self._around(session, events) for session, events in by_session.items()}

    def visible(self, node_ids: Collection[UUID]) -> frozenset[UUID]:
        """Return those of the nodes that the principal may see."""
        rows = self.run("event.visible", ids=list(node_ids))
        return frozenset(node_id for (node_id,) in rows)

    def _around(
        self, session: Session, events: Sequence[TimelineEvent]
    ) -> tuple[TimelineEvent, ...]:
        audience = session.audience
        rows = self.run(
            "event.around",
            session_id=session.session_id,
            scope=audience.scope,
            agents=list(audience.agents) if audience.agents is not None else None,
            data_subjects=list(audience.data_subjects),
            moments=[one.occurred_at for one in events],
            sequences=[one.sequence for one in events],
            ids=[one.id for one in events],
        )
        return tuple(
            TimelineEvent(
                id=node_id, occurred_at=occurred_at, sequence=sequence, follows_edge=follows_edge
            )
            for node_id, occurred_at, sequence, follows_edge in rows
        )
