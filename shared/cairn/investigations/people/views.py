"""Calls of people, their words and candidates as they are shown. Records.

A sentence whose data subject was forgotten is None.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.investigations.people.ports import CandidateState, EscalationState
from cairn.investigations.state import Verdict
from cairn.investigations.views import InvestigationView, StepView, ToolCallView


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationView:
    """A call of a person in a list; `noted` says that a note stands at the ticket."""

    id: UUID
    investigation_id: UUID
    ticket_id: UUID
    verdict: Verdict
    channel: str
    state: EscalationState
    why: str | None
    attempts: int
    noted: bool
    error: str | None
    queued_at: datetime
    updated_at: datetime
    delivered_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MendView:
    """What a ticket waits for: a connector or a ticket source that is to be authorised again."""

    kind: str
    name: str
    path: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOff:
    """Everything whoever takes over needs: they start in the middle, not from nothing.

    `memory` is the working memory with placeholders; what stands behind them is never in it.
    """

    escalation: EscalationView
    investigation: InvestigationView
    transcript: tuple[StepView, ...]
    tool_calls: tuple[ToolCallView, ...]
    citations: tuple[str, ...]
    memory: dict[str, Any] | None
    mend: tuple[MendView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionView:
    """What a person said last: a rating with a comment, or a dispute with a reason."""

    investigation_id: UUID
    principal_id: UUID
    kind: str
    rating: int | None
    text: str | None
    said_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateView:
    """A resolution that may become a document. In lists `text` is None."""

    id: UUID
    investigation_id: UUID
    ticket_id: UUID
    state: CandidateState
    cause: str
    title: str | None
    text: str | None
    rejected_because: str | None
    reason: str | None
    staged_at: datetime
    edited_at: datetime | None
    decided_at: datetime | None
    decided_by: UUID | None
    document_id: UUID | None
    ingestion_id: UUID | None
