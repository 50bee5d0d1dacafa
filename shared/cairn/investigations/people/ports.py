"""What calling people, and learning from them, needs of the stores. Contracts.

Sentences (why, comments, candidates) are sealed under the id of their row with the keys of the
investigation's data subjects; in clear stand ids, codes, counts and times.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.investigations.state import Verdict


class EscalationState(StrEnum):
    """queued -> delivered or failed; failed -> queued when somebody asks for another try."""

    QUEUED = "queued"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """A call of a person about an investigation. Its id follows from the investigation's.

    `channel` is the one last tried, as personas name it. `noted` says that a note stands at the
    ticket, which is also what a channel that fails falls back to. `why` is sealed.
    """

    id: UUID
    investigation_id: UUID
    ticket_id: UUID
    verdict: Verdict
    channel: str
    why: bytes
    data_subjects: tuple[UUID, ...]
    queued_at: datetime
    updated_at: datetime
    state: EscalationState = EscalationState.QUEUED
    attempts: int = 0
    noted: bool = False
    error: str | None = None
    delivered_at: datetime | None = None


class EscalationStore(Protocol):
    """The calls of people in the transaction's workspace, one an investigation."""

    def add(self, escalation: Escalation) -> bool:
        """Keep a new one; False when its investigation has one."""
        ...

    def find(self, escalation_id: UUID) -> Escalation | None:
        """Return one."""
        ...

    def of(self, investigation_id: UUID) -> Escalation | None:
        """Return that of an investigation."""
        ...

    def tried(
        self,
        escalation_id: UUID,
        state: EscalationState,
        *,
        channel: str,
        noted: bool,
        error: str | None,
        now: datetime,
    ) -> bool:
        """Count a try of a queued one and keep what came of it; False when it is not queued."""
        ...

    def requeue(self, escalation_id: UUID, now: datetime) -> bool:
        """Queue a failed one anew, with no try counted; False when it has not failed."""
        ...

    def page(
        self, *, state: EscalationState | None, before: UUID | None, limit: int
    ) -> Sequence[Escalation]:
        """Return them, the newest first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A place people are called at that is no webhook and no ticket. Its address is a secret."""

    name: str
    kind: str
    created_at: datetime
    created_by: UUID


class ChannelStore(Protocol):
    """The channels of the transaction's workspace, by name."""

    def add(self, channel: Channel, sealed_url: bytes) -> bool:
        """Keep one; False when its name is taken."""
        ...

    def find(self, name: str) -> tuple[Channel, bytes] | None:
        """Return one with its sealed address."""
        ...

    def all(self) -> Sequence[Channel]:
        """Return every one, by name."""
        ...

    def remove(self, name: str) -> bool:
        """Remove one; False when there is none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What a person said of an investigation last: a rating of 1 to 5, or, without one, a dispute.

    `content` is the sealed comment or reason.
    """

    id: UUID
    investigation_id: UUID
    principal_id: UUID
    rating: int | None
    content: bytes
    data_subjects: tuple[UUID, ...]
    said_at: datetime


class OpinionStore(Protocol):
    """What people said of investigations in the transaction's workspace; the last word counts."""

    def put(self, opinion: Opinion) -> None:
        """Keep a word; what the same principal said of the same investigation before gives way."""
        ...

    def of(self, investigation_id: UUID) -> Sequence[Opinion]:
        """Return what stands, the oldest first."""
        ...


class CandidateState(StrEnum):
    """staged -> accepted or rejected by a person, archived when nobody looked for 30 days."""

    STAGED = "staged"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A resolution that may become a document. Its id follows from the investigation's.

    `cause` is rated or undisputed. `content` is the sealed title and text, and why it was rejected.
    `reason` is a code: disputed, unreviewed, forgotten.
    """

    id: UUID
    investigation_id: UUID
    ticket_id: UUID
    cause: str
    content: bytes
    data_subjects: tuple[UUID, ...]
    staged_at: datetime
    state: CandidateState = CandidateState.STAGED
    edited_at: datetime | None = None
    decided_at: datetime | None = None
    decided_by: UUID | None = None
    reason: str | None = None
    document_id: UUID | None = None
    ingestion_id: UUID | None = None


class CandidateStore(Protocol):
    """The review queue of the transaction's workspace, one candidate an investigation."""

    def add(self, candidate: Candidate) -> bool:
        """Keep a new one; False when its investigation has one."""
        ...

    def find(self, candidate_id: UUID) -> Candidate | None:
        """Return one."""
        ...

    def edit(self, candidate_id: UUID, content: bytes, now: datetime) -> bool:
        """Replace what a staged one says; False when it is not staged any more."""
        ...

    def decide(
        self,
        candidate_id: UUID,
        state: CandidateState,
        *,
        by: UUID | None,
        reason: str | None,
        content: bytes | None,
        now: datetime,
    ) -> bool:
        """Decide a staged one, its content replaced unless None; False when it is not staged."""
        ...

    def stored(self, candidate_id: UUID, document_id: UUID, ingestion_id: UUID) -> None:
        """Keep which document an accepted one became."""
        ...

    def page(
        self, *, state: CandidateState | None, before: UUID | None, limit: int
    ) -> Sequence[Candidate]:
        """Return candidates, the newest first."""
        ...

    def unreviewed(self, before: datetime, limit: int) -> Sequence[Candidate]:
        """Return those staged before a moment that nobody decided on, the oldest first."""
        ...

    def due(self, before: datetime, limit: int) -> Sequence[tuple[UUID, str]]:
        """Return (investigation, cause) of resolved ones without a candidate, the oldest first.

        Those closed, resolved by themselves, which nobody disputes, and which somebody rated 4 or
        more (`rated`) or which ended before a moment (`undisputed`).
        """
        ...

    def observed(self, since: datetime, limit: int) -> Sequence[Observed]:
        """Return what tools did for customers, the newest first, once an investigation.

        What ended before a moment, was only looked up, tried out or never answered does not count.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What came of a tool in an investigation, for one customer: the client's natural key."""

    tool: str
    outcome: str
    customer: str
    investigation_id: UUID
    at: datetime
