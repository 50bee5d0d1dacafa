"""What calling people, and learning from them, needs of the stores. Contracts.

Sentences (why, comments, candidates) are sealed under the id of their row with the keys of the
investigation's data subjects; in clear stand ids, codes, counts and times.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A place people are called at that is no webhook and no ticket. Its address is a secret."""

    name: str
    kind: str
    created_at: datetime
    created_by: UUID


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What came of a tool in an investigation, for one customer: the client's natural key."""

    tool: str
    outcome: str
    customer: str
    investigation_id: UUID
    at: datetime
