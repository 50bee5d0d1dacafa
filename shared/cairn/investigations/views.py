"""Investigations as people and programs are shown them. Records; what they are read from: `browse`.

Texts are redacted already; one whose data subject was forgotten is None, and `readable` says so.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cairn.investigations.ports import ActionState, ApprovalState
from cairn.investigations.state import State, Verdict
from cairn.llm.costs import CostRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentView:
    """What was spent; `unpriced_calls` cost money nobody knows the amount of."""

    tokens: int
    usd: float
    seconds: float
    iterations: int
    unpriced_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsView:
    """What may be spent, or what is left of it; nothing is ever less than 0."""

    tokens: int
    usd: float
    seconds: float
    iterations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InvestigationView:
    """An investigation in a list. `trace_id` is W3C's, of the request it began with."""

    id: UUID
    ticket_id: UUID
    persona: str
    state: State
    verdict: Verdict | None
    error: str | None
    run: int
    execution: str | None
    trace_id: str | None
    spent: SpentView
    created_at: datetime
    moved_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """A line of the timeline; `seq` counts from 1, `ms` is how long it took.

    `position` is the ledger entry that holds its text.
    """

    seq: int
    state: str
    system: str
    action: str
    kind: str
    detail: str | None
    citations: tuple[str, ...]
    ms: int
    at: datetime
    position: int
    readable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsView:
    """Lines after a number. Ask again with `after` until `ended`."""

    items: tuple[StepView, ...]
    after: int
    state: State
    ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallView:
    """A tool call. `owner` is the connector the tool belongs to, `tool` is `connector.tool`.

    A call over MCP or HTTP has the owner `cairn`, no investigation, and no free texts. `input` and
    `output` are cut; `ms` is from start to end.
    """

    id: UUID
    investigation_id: UUID | None
    owner: str
    tool: str
    lane: str
    state: ActionState
    dry_run: bool
    is_error: bool
    error: str | None
    input: str | None
    output: str | None
    session_id: str | None
    proposed_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    ms: int | None
    readable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """A question to a person in a line: not what was asked, and not with which values."""

    id: UUID
    investigation_id: UUID
    ticket_id: UUID
    action_id: UUID
    tool: str
    state: ApprovalState
    asked_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvestigationDetail:
    """An investigation with what it spent by purpose, what is left, its questions and actions."""

    investigation: InvestigationView
    spent_by_purpose: tuple[CostRow, ...]
    budget: LimitsView
    left: LimitsView
    approvals: tuple[QuestionView, ...]
    actions: tuple[ToolCallView, ...]
