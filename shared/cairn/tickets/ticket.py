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

    from cairn.tickets.personas import Persona


API_SOURCE = "api"
"""The source that every workspace has: tickets added over the API, answers kept as rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketFields:
    """What stands in clear of a ticket.

    `position` is that of its `ticket.received` or last `ticket.changed`. `waits_for` names what
    has to be mended before it goes back to the queue, such as `connector:crm` or `source:desk`.
    """

    id: UUID
    source: str
    external_id: str
    status: TicketStatus
    priority: Priority
    persona: str
    position: int
    received_at: datetime
    modified_at: datetime | None = None
    sla_at: datetime | None = None
    queued_at: datetime | None = None
    claimed_at: datetime | None = None
    ended_at: datetime | None = None
    investigation_id: UUID | None = None
    waits_for: str | None = None
    screening: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketRow(TicketFields):
    """A ticket as it is stored. `sealed` is its text, under the id of the ticket.

    `mark` is a keyed hash of what it says, to see that it changed without opening it.
    """

    sealed: bytes
    mark: bytes
    data_subjects: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueNumbers:
    """What the queue looks like. `average_s` is of the last investigations, None before any.

    `held` ones are queued for a persona that is off, and are not part of the depth.
    """

    depth: int
    held: int
    new: int
    investigating: int
    discarded: int
    average_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRow:
    """What a requester wrote to their ticket later, its text sealed under the id of the message.

    `written_at` is by the source's clock. `reopened` when it put its ticket back, `small_talk` when
    it asks for nothing.
    """

    id: UUID
    ticket_id: UUID
    external_id: str
    sealed: bytes
    data_subjects: tuple[UUID, ...]
    position: int
    written_at: datetime
    received_at: datetime
    reopened: bool = False
    small_talk: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTicket:
    """A ticket that stands resolved, and since when."""

    id: UUID
    source: str
    investigation_id: UUID
    data_subjects: tuple[UUID, ...]
    ended_at: datetime


class SourceKind(StrEnum):
    """Where tickets come from."""

    API = "api"  # the plain one; every workspace has it
    ZOHO_DESK = "zoho-desk"
    GITHUB_ISSUES = "github-issues"
    MAIL = "mail"
    SLACK = "slack"
    JIRA = "jira"
    LINEAR = "linear"
    HALOPSA = "halopsa"
    AUTOTASK = "autotask"
    CONNECTWISE = "connectwise"
    ZENDESK = "zendesk"
    FRESHDESK = "freshdesk"
    INTERCOM = "intercom"
    WEBHOOK = "webhook"  # any system that signs what it sends


class SourceState(StrEnum):
    """active -> needs-auth when the help desk no longer takes its keys, and back; or paused."""

    ACTIVE = "active"
    NEEDS_AUTH = "needs-auth"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketSource:
    """A help desk as it is shown; its secrets are sealed and never shown.

    `config` is as its adapter reads it. `cursor` is the adapter's own. `error` is a code.
    """

    id: UUID
    name: str
    kind: SourceKind
    config: Mapping[str, Any]
    persona: str = "default"
    state: SourceState = SourceState.ACTIVE
    poll_seconds: int = 300
    created_at: datetime
    polled_at: datetime | None = None
    failures: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBackPart:
    """One part of a write-back: a reply, a status or a time entry. `reference` is the source's."""

    investigation_id: UUID
    part: str
    done: bool
    reference: str | None = None
    leased_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyRow:
    """An answer to a ticket, its text sealed under the id of the reply."""

    id: UUID
    ticket_id: UUID
    investigation_id: UUID
    private: bool
    sealed: bytes
    data_subjects: tuple[UUID, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaVersion:
    """A persona as it stood from one change on."""

    id: UUID
    persona: Persona
    changed_at: datetime
    changed_by: UUID
    removed: bool = False


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
class RequesterMessage:
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
    messages: tuple[RequesterMessage, ...] = ()
    answers: Mapping[UUID, str] = field(default_factory=lambda: MappingProxyType({}))
    reopenings: int = 0

    @property
    def words(self) -> str:
        """Return all that the requester said, the newest first: whoever cuts it keeps the news."""
        later = (message.text[:MESSAGE_CHARS] for message in self.messages[:MOST_MESSAGES])
        return NEXT.join([*later, self.body])
