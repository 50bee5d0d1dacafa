"""Reading events: one, or a page of a session, an agent or a trace. Not searching.

Visibility is the stores' (row level security and the agent guard).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import NotFound
from cairn.reading.views import Page

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal, Scope
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    """A stored event as its reader sees it. `position` is that of the entry that made it."""

    id: UUID
    position: int
    type: str
    text: str
    state: str
    client_id: str
    scope: Scope
    occurred_at: datetime
    recorded_at: datetime
    importance: int
    importance_band: str
    agent_id: str | None = None
    session_id: str | None = None
    sequence: int | None = None
    trace_id: str | None = None
    parent_id: UUID | None = None
    tool_name: str | None = None
    status: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    agents: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    summary: str | None = None
    embedded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events a list shows; None means any. `type` may be a namespace, such as `tool`."""

    type: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    trace_id: str | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowseEvents:
    """The reads behind `GET /v1/events`."""

    transactions: Transactions[Stores]

    def get(self, principal: Principal, event_id: UUID, /) -> EventView:
        """Return one event; NotFound when the principal cannot see it."""
        with self.transactions.reading(principal) as stores:
            event = stores.event_views.event(event_id)
        if event is None:
            raise NotFound("There is no such event.", event_id=str(event_id))
        return event

    def page(
        self, principal: Principal, where: EventFilter, *, limit: int, after: int | None
    ) -> Page[EventView]:
        """Return a page of events, newest ledger position first."""
        with self.transactions.reading(principal) as stores:
            events = stores.event_views.events(where, limit=limit + 1, after=after)
        items = tuple(events[:limit])
        return Page(items=items, next_after=items[-1].position if len(events) > limit else None)
