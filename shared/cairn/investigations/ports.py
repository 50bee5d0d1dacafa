"""What investigations need of the stores and of the stages around them. Contracts.

Content (texts, arguments, results) is sealed with the keys of the ticket's data subjects: stores
see bytes. What stands in clear is ids, states, codes, counts and times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.connectors.port import ConnectorView
    from cairn.investigations.state import (
        Evidence,
        Investigation,
        Plan,
        Spending,
        State,
        Step,
        Verdict,
        WorkingMemory,
    )
    from cairn.llm.budget import Budget
    from cairn.safety.tools import ToolSpec
    from cairn.tickets.personas import Persona
    from cairn.tickets.ticket import Ticket
    from cairn.writing.writer import Write


class EscalationState(StrEnum):
    """queued -> delivered or failed; failed -> queued when somebody asks for another try."""

    QUEUED = "queued"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationFields:
    """What stands in clear of a call of a person. Its id follows from the investigation's.

    `channel` is the one last tried, as personas name it. `noted` says that a note stands at the
    ticket, which is also what a channel that fails falls back to.
    """

    id: UUID
    investigation_id: UUID
    ticket_id: UUID
    verdict: Verdict
    channel: str
    queued_at: datetime
    updated_at: datetime
    state: EscalationState = EscalationState.QUEUED
    attempts: int = 0
    noted: bool = False
    error: str | None = None
    delivered_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation(EscalationFields):
    """A call of a person about an investigation, as it is stored: `why` is sealed."""

    why: bytes
    data_subjects: tuple[UUID, ...]


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
class CandidateFields:
    """What stands in clear of a candidate. Its id follows from the investigation's.

    `cause` is rated or undisputed. `reason` is a code: disputed, unreviewed, forgotten.
    """

    id: UUID
    investigation_id: UUID
    ticket_id: UUID
    cause: str
    staged_at: datetime
    state: CandidateState = CandidateState.STAGED
    edited_at: datetime | None = None
    decided_at: datetime | None = None
    decided_by: UUID | None = None
    reason: str | None = None
    document_id: UUID | None = None
    ingestion_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(CandidateFields):
    """A resolution that may become a document, as it is stored.

    `content` is the sealed title and text, and why it was rejected.
    """

    content: bytes
    data_subjects: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What came of a tool in an investigation, for one customer: the client's natural key."""

    tool: str
    outcome: str
    customer: str
    investigation_id: UUID
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """An investigation as a step finds it."""

    investigation: Investigation
    memory: WorkingMemory
    persona: Persona
    budget: Budget

    @property
    def workspace_id(self) -> UUID:
        """Return the workspace."""
        return self.investigation.workspace_id

    def question(self, memory: WorkingMemory, tools: Sequence[ToolSpec] = ()) -> Question:
        """Return what a planner may read: everything but the vault."""
        return Question(
            workspace_id=self.workspace_id,
            investigation_id=self.investigation.id,
            persona=self.persona,
            tools=tools,
            memory=without_vault(memory),
            budget=self.budget,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """An entry a step wants in the ledger: `meta` in clear (ids, codes, counts), `body` sealed."""

    type: str
    meta: Mapping[str, Any]
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])


Effect = Callable[["Write"], None]
"""A change of rows, in the transaction of the transition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a step wants: the next state, the memory, the lines people see, entries and rows."""

    target: State
    memory: WorkingMemory
    lines: tuple[Step, ...]
    facts: tuple[Fact, ...] = ()
    effects: tuple[Effect, ...] = ()
    verdict: Verdict | None = None
    error: str | None = None


StepFunction = Callable[[Situation], Change]


def without_vault(memory: WorkingMemory) -> WorkingMemory:
    """Return the memory as models may see it."""
    return replace(memory, vault={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A transition to store: the state, the sealed snapshot, what was spent so far.

    `run` is the one it was thought of in, `since` the `moved_at` it was thought of at: a state may
    be come back to. `data_subjects` are whose keys seal the snapshot, when they are others than
    before.
    """

    investigation_id: UUID
    run: int
    source: State
    since: datetime
    target: State
    snapshot: bytes
    spending: Spending
    now: datetime
    verdict: Verdict | None = None
    error: str | None = None
    data_subjects: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """A stored line of the timeline; its text is the body of the ledger entry at `position`.

    `line` is its place among the lines of that entry; (`seq`) counts from 1 in an investigation.
    """

    seq: int
    state: str
    system: str
    action: str
    kind: str
    ms: int
    position: int
    line: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an investigation is: another value means there is something new to show."""

    id: UUID
    moved_at: datetime
    ended_at: datetime | None
    seq: int


class ApprovalState(StrEnum):
    """pending -> granted, rejected, edited, expired or void; granted -> used."""

    PENDING = "pending"
    GRANTED = "granted"
    USED = "used"  # the action it was for was started
    REJECTED = "rejected"
    EDITED = "edited"  # the changed action goes through the safety check again
    EXPIRED = "expired"
    VOID = "void"  # its investigation ended, or the rules changed


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
    decided_at: datetime | None = None
    decided_by: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFields(QuestionView):
    """What stands in clear of a question to a person.

    `binding` is SHA-256 over tool, canonical arguments, evidence, policy version and expiry.
    """

    binding: str
    policy_version: str
    decision_position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval(ApprovalFields):
    """A question to a person, bound to exactly one action under exactly one set of rules.

    `content` is the sealed action as shown to the person. Its task token is not part of it.
    """

    content: bytes
    data_subjects: tuple[UUID, ...]


class ActionState(StrEnum):
    """denied at once, or proposed -> denied, or started -> applied, failed or unknown."""

    PROPOSED = "proposed"
    DENIED = "denied"
    STARTED = "started"  # committed before the call; without an end, nobody knows yet
    APPLIED = "applied"
    FAILED = "failed"  # the tool said so, or the call was never sent: nothing happened
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionFields:
    """What stands in clear of a tool call, and is shown: who, what, when, how it ended."""

    id: UUID
    investigation_id: UUID | None
    tool: str
    lane: str
    state: ActionState
    dry_run: bool
    is_error: bool
    proposed_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None
    error: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRow(ActionFields):
    """A tool call as it is stored. `input` and `output` are sealed, cut.

    `digest` is SHA-256 over `connector.tool` and canonical arguments: the same action asked for
    again in the same investigation finds this row, and keeps its id as idempotency key.
    `principal_id` is whose key called, over MCP or HTTP; None for an investigation's call.
    """

    connector: str
    digest: str
    input: bytes
    output: bytes
    data_subjects: tuple[UUID, ...]
    principal_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Everything a planner may read: the persona, the tools, and the memory with its budget."""

    workspace_id: UUID
    investigation_id: UUID
    persona: Persona
    tools: Sequence[ToolSpec]
    memory: WorkingMemory
    budget: Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The verdict on an investigation, why, and who said so."""

    verdict: Verdict
    reason: str
    provider: str = "heuristic"


class Planner(Protocol):
    """Thinks: by a model, or by rules where none is configured or answers.

    Every method raises BudgetExceeded before it would pass a limit. Nothing it says is trusted:
    the steps check plans against the catalogue and summaries against the evidence.
    """

    def triage(self, question: Question) -> Ruling | None:
        """Return SKIPPED with a reason for what is not worth investigating, else None."""
        ...

    def plan(self, question: Question) -> Plan:
        """Return the next step."""
        ...

    def verdict(self, question: Question) -> Ruling:
        """Return how it ended."""
        ...

    def summary(self, question: Question, ruling: Ruling) -> str:
        """Return the message, every claim ending with a citation.

        It is for the requester where the verdict `answers`, else a note for the desk.
        """
        ...


Surrounds: TypeAlias = (
    "Callable[[UUID, Ticket], tuple[Sequence[Evidence], Sequence[Evidence], Sequence[str]]]"
)
"""Fills what the envelope has besides evidence, once, when an investigation is created.

Return (applicable facts, similar recent tickets, hints), as many as the envelope holds.

Hints are of the last 24 h: a duplicate of a ticket, a burst of the same.
"""


class Connectors(Protocol):
    """The catalogue of a workspace: what `ToolHost.connectors` returns, or a store's view of it."""

    def connectors(self, workspace_id: UUID) -> Sequence[ConnectorView]:
        """Return the workspace's connectors with the manifests last seen."""
        ...
