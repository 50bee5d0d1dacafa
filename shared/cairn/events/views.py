"""What readers get back of events. Values only: field names are the JSON names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.kernel.access import Scope


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
