"""What writes keep beside entries: subjects, work that follows a commit, answers; and who sends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A data subject: the random id the ledger uses for a client or a person."""

    id: UUID
    kind: str
    natural_key: str


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
    WORKFLOW = "workflow"  # starts or resumes the machine of a workflow's run
    DISCOVERY = "discovery"  # looks for who fits an intent
    SOURCE = "source"  # reads a source of knowledge
    CHANNEL = "channel"  # what came in from a messaging channel, or what it is to be told
    ASSIGNMENT = "assignment"  # judges anew which intents belong to a network


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """The answer once given under an idempotency key: ids, positions and outcomes, no texts."""

    body_hash: bytes
    status: int
    answer: Mapping[str, Any]


class Dispatcher(Protocol):
    """Sends outbox rows once they are committed."""

    def send(self, rows: Sequence[OutboxRow]) -> None:
        """Send each row's message. A queue out of reach raises nothing: a sweep sends it later."""
        ...
