"""Events in PostgreSQL: their places in their sessions, and reading them. Not writing them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, record
from cairn.events.read import EventFilter, EventView
from cairn.events.rows import TimelineEvent
from cairn.kernel.access import Scope
from cairn.memories.kinds import importance_band

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.memories.identity import Session


class PostgresEvents(Store):
    """Events in the order of their sessions."""

    def around(
        self, places: Sequence[tuple[Session, TimelineEvent]]
    ) -> Mapping[Session, tuple[TimelineEvent, ...]]:
        """Return the stored events just before and just after each place, by session.

        Only those of the session's own audience; each with its open FOLLOWS edge.
        """
        by_session: dict[Session, list[TimelineEvent]] = {}
        for session, event in places:
            by_session.setdefault(session, []).append(event)
        return {session: self._around(session, events) for session, events in by_session.items()}

    def visible(self, node_ids: Collection[UUID]) -> frozenset[UUID]:
        """Return those of the nodes that the principal may see."""
        return frozenset(self.values("event.visible", ids=list(node_ids)))

    def _around(
        self, session: Session, events: Sequence[TimelineEvent]
    ) -> tuple[TimelineEvent, ...]:
        audience = session.audience
        rows = self.all_of(
            record(TimelineEvent),
            "event.around",
            session_id=session.session_id,
            scope=audience.scope,
            agents=list(audience.agents) if audience.agents is not None else None,
            data_subjects=list(audience.data_subjects),
            moments=[event.occurred_at for event in events],
            sequences=[event.sequence for event in events],
            ids=[event.id for event in events],
        )
        return tuple(rows)


class PostgresEventViews(Store):
    """The events a principal may look at. Ids that are gone, hidden or unknown give None."""

    def event(self, event_id: UUID) -> EventView | None:
        """Return an event that is not deleted."""
        rows = self.rows("event.one", id=event_id)
        return _view(rows[0]) if rows else None

    def events(self, where: EventFilter, *, limit: int, after: int | None) -> Sequence[EventView]:
        """Return up to `limit` events by falling position, those below `after`."""
        rows = self.rows("event.page", limit=limit, after=after, **asdict(where))
        return [_view(row) for row in rows]


def _view(row: dict[str, Any]) -> EventView:
    metadata = row.pop("metadata")
    row["scope"] = Scope(row["scope"])
    row["agents"], row["keywords"] = tuple(row["agents"]), tuple(row["keywords"])
    return EventView(
        **row,
        importance_band=importance_band(row["importance"]),
        tool_name=metadata.get("tool_name"),
        status=metadata.get("status"),
        payload=metadata.get("payload") or {},
    )
