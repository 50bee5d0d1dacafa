"""The canonical ticket: one form for every help desk. Pure; not where it came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from cairn.writing.ports import WriteStores

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.tickets.personas import Persona


API_SOURCE = "api"
"""The source that every workspace has: tickets added over the API, answers kept as rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketRow:
    """A ticket as it is stored. `sealed` is its text, under the id of the ticket.

    `mark` is a keyed hash of what it says, to see that it changed without opening it.
    `position` is that of its `ticket.received` or last `ticket.changed`. `waits_for` names what
    has to be mended before it goes back to the queue, such as `connector:crm` or `source:desk`.
    """

    id: UUID
    source: str
    external_id: str
    status: TicketStatus
    priority: Priority
    persona: str
    sealed: bytes
    mark: bytes
    data_subjects: tuple[UUID, ...]
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


class TicketStore(Protocol):
    """The tickets of the transaction's workspace: rows are the queue, none is ever dropped.

    new -> queued (or discarded) by screening; queued -> investigating by `claim`; investigating ->
    an end by `settle`; `requeue` leads back to queued from anywhere but there, `reopen` back to new
    from needs_client and auto_resolved.
    """

    def add(self, ticket: TicketRow) -> bool:
        """Keep a new one; False when its source and external id are known, and nothing changes."""
        ...

    def find(self, ticket_id: UUID) -> TicketRow | None:
        """Return one."""
        ...

    def known(self, source: str, external_ids: Collection[str]) -> Mapping[str, TicketRow]:
        """Return those of a source that there are, by their external ids."""
        ...

    def change(self, ticket: TicketRow) -> None:
        """Replace what a known one says (sealed, mark, priority, times); not where it stands."""
        ...

    def screened(
        self, ticket_id: UUID, screening: Mapping[str, Any], status: TicketStatus, now: datetime
    ) -> bool:
        """Keep what screening found and move a new one on; False when it is not new any more."""
        ...

    def unscreened(self, limit: int) -> Sequence[UUID]:
        """Return tickets that are new, the oldest first."""
        ...

    def claim(self, investigation_id: UUID, now: datetime) -> TicketRow | None:
        """Take the next of the queue for an investigation; None when nothing is to be taken.

        Critical first, then who came first. What another transaction is taking is skipped (FOR
        UPDATE SKIP LOCKED); tickets whose persona is `off` stay in the queue.
        """
        ...

    def settle(
        self, ticket_id: UUID, investigation_id: UUID, status: TicketStatus, now: datetime
    ) -> bool:
        """End it, if this investigation has it; `queued` gives it back. False, and no change."""
        ...

    def park(self, ticket_id: UUID, waits_for: str) -> bool:
        """Say what has to be mended before the ticket goes back to the queue by itself."""
        ...

    def waiting(self, waits_for: str, limit: int) -> Sequence[UUID]:
        """Return the tickets that wait for this to be mended, by rank and age."""
        ...

    def mended(self) -> Sequence[str]:
        """Return what ended tickets wait for though it was mended while they were investigated.

        A connector that was changed since they were claimed; a source that is active.
        """
        ...

    def requeue(self, ticket_id: UUID, now: datetime) -> bool:
        """Put one back into the queue; False when it is there or being investigated.

        Its messages are counted from anew: see `TicketMessageStore.reopenings`.
        """
        ...

    def reopen(self, ticket_id: UUID) -> bool:
        """Take up again one whose requester answered; False when it stands anywhere else."""
        ...

    def page(
        self,
        *,
        status: TicketStatus | None,
        source: str | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[TicketRow]:
        """Return tickets, the newest first."""
        ...

    def since(self, moment: datetime, limit: int) -> Sequence[TicketRow]:
        """Return what was received since, the newest first: the window for bursts and doubles."""
        ...

    def depth(self, most: int) -> int:
        """Return how many are queued that may be taken, counted up to `most`: cheap if small."""
        ...

    def numbers(self) -> QueueNumbers:
        """Return what the queue looks like. It counts everything: for people who look at it."""
        ...


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


class TicketMessageStore(Protocol):
    """What requesters wrote to the tickets of the transaction's workspace later."""

    def add(self, message: MessageRow) -> bool:
        """Keep one; False when its ticket has one of its external id."""
        ...

    def known(self, ticket_id: UUID, external_ids: Collection[str]) -> Mapping[str, MessageRow]:
        """Return those of a ticket that there are, by their external ids."""
        ...

    def newest(self, ticket_id: UUID, limit: int, *, asking: bool = False) -> Sequence[MessageRow]:
        """Return the messages of a ticket, the last written first; `asking`: without small talk."""
        ...

    def reopens(self, message_id: UUID) -> None:
        """Keep that a message put its ticket back."""
        ...

    def reopenings(self, ticket_id: UUID) -> int:
        """Return how many messages put a ticket back since somebody last did."""
        ...


class SourceKind(StrEnum):
    """Where tickets come from."""

    API = "api"  # the plain one; every workspace has it
    ZOHO_DESK = "zoho-desk"
    GITHUB_ISSUES = "github-issues"


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


class TicketSourceStore(Protocol):
    """The ticket sources of the transaction's workspace."""

    def add(self, source: TicketSource, sealed_secrets: bytes) -> bool:
        """Keep a new one; False when its name is taken."""
        ...

    def find(self, source_id: UUID) -> TicketSource | None:
        """Return one."""
        ...

    def named(self, name: str) -> TicketSource | None:
        """Return the one of a name."""
        ...

    def all(self) -> Sequence[TicketSource]:
        """Return every one, by name."""
        ...

    def secrets(self, source_id: UUID) -> bytes:
        """Return the sealed secrets."""
        ...

    def cursor(self, source_id: UUID) -> str | None:
        """Return how far polling got."""
        ...

    def change(self, source: TicketSource, sealed_secrets: bytes | None, now: datetime) -> None:
        """Replace settings and state, and the secrets unless None; it is due at once."""
        ...

    def polled(self, source_id: UUID, cursor: str | None, now: datetime) -> None:
        """Keep how far polling got; its failures are over, a refused sign-in too."""
        ...

    def failed(self, source_id: UUID, error: str, state: SourceState, now: datetime) -> None:
        """Keep that polling failed, and why; a paused one stays paused."""
        ...

    def remove(self, source_id: UUID) -> bool:
        """Remove one; its tickets stay. False when there is none."""
        ...

    def event(self, source_id: UUID, delivery_id: str, now: datetime) -> bool:
        """Keep that a webhook delivery arrived; False when this one did before."""
        ...


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


class WriteBackStore(Protocol):
    """What was written back to the sources, part by part, and the replies as they were sent."""

    def parts(self, investigation_id: UUID) -> Mapping[str, WriteBackPart]:
        """Return the parts that were begun, by name."""
        ...

    def begin(
        self, ticket_id: UUID, investigation_id: UUID, part: str, *, now: datetime, until: datetime
    ) -> bool:
        """Take the sending of a part `until` then; False when it is done, or another's."""
        ...

    def release(self, investigation_id: UUID, part: str, *, now: datetime, until: datetime) -> None:
        """Give back what was taken `until` then; nothing when another has it by now."""
        ...

    def done(self, investigation_id: UUID, part: str, reference: str, now: datetime) -> bool:
        """Keep that a part stands at the source; False when that is known."""
        ...

    def answered_at(self, investigation_id: UUID) -> datetime | None:
        """Return when an investigation began to send its answer; None when it never did."""
        ...

    def add_reply(self, reply: ReplyRow) -> None:
        """Keep a reply; one of the same id changes nothing."""
        ...

    def replies(self, ticket_id: UUID) -> Sequence[ReplyRow]:
        """Return the replies to a ticket, the oldest first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaVersion:
    """A persona as it stood from one change on."""

    id: UUID
    persona: Persona
    changed_at: datetime
    changed_by: UUID
    removed: bool = False


class PersonaStore(Protocol):
    """The personas of the transaction's workspace with their versions."""

    def find(self, name: str) -> PersonaVersion | None:
        """Return the present version of one that was not removed."""
        ...

    def all(self) -> Sequence[PersonaVersion]:
        """Return the present versions, by name."""
        ...

    def versions(self, name: str) -> Sequence[PersonaVersion]:
        """Return every version of a name, the newest first."""
        ...

    def add(self, version: PersonaVersion) -> None:
        """Keep a version; the newest is the present one."""
        ...


class TicketStores(WriteStores, Protocol):
    """What intake, queue and write-back need of a transaction."""

    @property
    def tickets(self) -> TicketStore: ...
    @property
    def ticket_messages(self) -> TicketMessageStore: ...
    @property
    def ticket_sources(self) -> TicketSourceStore: ...
    @property
    def write_backs(self) -> WriteBackStore: ...
    @property
    def personas(self) -> PersonaStore: ...


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
