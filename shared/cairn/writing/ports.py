"""The stores and services the writing use cases need. Contracts; adapters live in `storage`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from cairn.graph.projection import Projection
from cairn.ledger.entry import Entry, Head
from cairn.writing.corroboration import Known
from cairn.writing.taint_ports import TaintStore
from cairn.writing.webhook_ports import WebhookSubscribers


class LedgerStore(Protocol):
    """The chain of the transaction's workspace."""

    def head(self) -> Head:
        """Return where the chain ends. In a writing transaction nobody else can move it."""
        ...

    def trace_at(self, position: int) -> str | None:
        """Return the trace id of the entry at a position, if it is of a trace."""
        ...

    def append(self, entries: Sequence[Entry]) -> None:
        """Append entries sealed onto `head()`, in their order, and move the head."""
        ...


class KnownStore(Protocol):
    """What is known already, by identity. Deleted nodes are never returned."""

    def known(self, dedup_keys: Collection[str]) -> Mapping[str, tuple[Known, ...]]:
        """Return the active and superseded nodes of each identity that has any."""
        ...


class NodeStore(Protocol):
    """The projections of nodes and edges; versions follow by themselves."""

    def apply(self, projections: Sequence[Projection]) -> None:
        """Apply rows in order. A row already at or past a change's position is left alone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A data subject: the random id the ledger uses for a client or a person."""

    id: UUID
    kind: str
    natural_key: str


class SubjectStore(Protocol):
    """Natural keys and the random ids that stand for them."""

    def find(self, wanted: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], UUID]:
        """Return the ids of the (kind, natural key) pairs that are known."""
        ...

    def add(self, subject: Subject, position: int) -> None:
        """Project a subject registered at `position`; a second time changes nothing."""
        ...

    def forgotten(self, subject_ids: Collection[UUID]) -> Collection[UUID]:
        """Return those of the subjects whose forgetting was begun: nothing is written for them."""
        ...

    def barred(self, marks: Collection[bytes]) -> Collection[UUID]:
        """Return the subjects whose forgetting is under way, by the marks of their names."""
        ...


class Topic:
    """What an outbox row wakes."""

    EMBED = "embed"
    INGESTION = "ingestion"
    CONSOLIDATION = "consolidation"
    REBUILD = "rebuild"
    WEBHOOK = "webhook"
    TICKET = "ticket"  # the queue of tickets that came in
    INVESTIGATION = "investigation"  # starts or resumes the machine
    APPROVAL = "approval"  # answers the machine's task token
    ESCALATION = "escalation"  # the queue of calls to people


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """Work that has to happen after the commit: ids only, never texts."""

    workspace_id: UUID
    id: UUID
    topic: str
    position: int
    node_ids: tuple[UUID, ...] = ()
    reference: UUID | None = None
    batch: int | None = None
    attempt: int = 0  # how often the sweep has sent it again


class OutboxStore(Protocol):
    """Rows live until the stage they wake has done its part."""

    def add(self, row: OutboxRow, now: datetime) -> None:
        """Add a row that is about to be sent, in the transaction that makes its work."""
        ...

    def done(self, ids: Collection[UUID]) -> None:
        """Remove rows whose work is finished."""
        ...

    def unsent(self, ids: Collection[UUID]) -> None:
        """Mark rows whose message could not be sent: the next sweep takes them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """The answer once given under an idempotency key: ids, positions and outcomes, no texts."""

    body_hash: bytes
    status: int
    answer: Mapping[str, Any]


class IdempotencyStore(Protocol):
    """Answers by (workspace, principal, key), kept for 24 hours."""

    def find(self, key: str, now: datetime) -> StoredAnswer | None:
        """Return the answer given under this key within 24 hours."""
        ...

    def save(self, key: str, answer: StoredAnswer, now: datetime) -> None:
        """Keep the answer, in the transaction of the work it answers for."""
        ...


class WriteStores(Protocol):
    """What every write needs of a transaction."""

    @property
    def ledger(self) -> LedgerStore: ...
    @property
    def memories(self) -> KnownStore: ...
    @property
    def nodes(self) -> NodeStore: ...
    @property
    def subjects(self) -> SubjectStore: ...
    @property
    def outbox(self) -> OutboxStore: ...
    @property
    def idempotency(self) -> IdempotencyStore: ...
    @property
    def taints(self) -> TaintStore: ...
    @property
    def webhooks(self) -> WebhookSubscribers: ...


class Dispatcher(Protocol):
    """Sends outbox rows once they are committed."""

    def send(self, rows: Sequence[OutboxRow]) -> None:
        """Send each row's message. A queue out of reach raises nothing: a sweep sends it later."""
        ...


__all__ = [
    "Dispatcher",
    "IdempotencyStore",
    "LedgerStore",
    "NodeStore",
    "OutboxRow",
    "OutboxStore",
    "StoredAnswer",
    "Subject",
    "SubjectStore",
    "Topic",
    "WriteStores",
]
