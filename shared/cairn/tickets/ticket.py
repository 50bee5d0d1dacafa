"""The canonical ticket: one form for every help desk. Pure; not where it came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

MAX_TITLE_CHARS = 500
MAX_BODY_CHARS = 32_000
"""Longer bodies are cut for models with a marker; the whole stays in the ledger's body."""


MESSAGE_CHARS = 4_000
"""Of each later message in `Ticket.words`."""

MOST_MESSAGES = 10
"""Later messages in `Ticket.words`: the newest."""

NEXT = "\n\n-----\n\n"


class TicketStatus(StrEnum):
    """new -> queued -> investigating -> one of the others; a requeue goes back to queued.

    auto_resolved and needs_client go back to new when the requester answers.
    """

    NEW = "new"
    QUEUED = "queued"
    INVESTIGATING = "investigating"
    AUTO_RESOLVED = "auto_resolved"
    NEEDS_TECH = "needs_tech"
    NEEDS_CLIENT = "needs_client"
    NEEDS_L2 = "needs_l2"
    FAILED = "failed"
    DISCARDED = "discarded"  # screened as worthless: kept, shown, not investigated


class Priority(StrEnum):
    """How urgent; the queue takes critical first."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Return 0 for low to 3 for critical."""
        return list(Priority).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the requester wrote to their ticket later, and when."""

    text: str
    written_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A ticket as it stands. `external_id` is the source's own id, one ticket per source and id.

    `source` is the name of the workspace's ticket source ("api" for the plain one). `data_subjects`
    are whom it is about: its customer and its requester. `messages` are later ones, the newest
    first; `answers` what was said to them, by investigation; `reopenings` how often messages put
    the ticket back since somebody last did.
    """

    id: UUID
    workspace_id: UUID
    source: str
    external_id: str
    title: str
    body: str
    customer: str = ""
    requester_email: str | None = None
    priority: Priority = Priority.MEDIUM
    status: TicketStatus = TicketStatus.NEW
    persona: str = "default"
    sla_at: datetime | None = None
    received_at: datetime
    screening: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    source_metadata: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    data_subjects: tuple[UUID, ...] = ()
    messages: tuple[Said, ...] = ()
    answers: Mapping[UUID, str] = field(default_factory=lambda: MappingProxyType({}))
    reopenings: int = 0

    @property
    def words(self) -> str:
        """Return all that the requester said, the newest first: whoever cuts it keeps the news."""
        later = (one.text[:MESSAGE_CHARS] for one in self.messages[:MOST_MESSAGES])
        return NEXT.join([*later, self.body])
