"""An investigation and what it knows while it runs. Pure values; not the steps.

Working memory is what the agent thinks with: it is snapshotted, sealed, at every transition. Steps
are what people see of it: rows that are only ever added.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.kernel.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Mapping, Set
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.action import Action


class State(StrEnum):
    """The states of an investigation; the edges stand in `transitions`."""

    CREATED = "CREATED"
    PLANNING = "PLANNING"
    RETRIEVING = "RETRIEVING"
    SAFETY_CHECK = "SAFETY_CHECK"
    WAITING_APPROVAL = "WAITING_APPROVAL"
    ACTING = "ACTING"
    OBSERVING = "OBSERVING"
    VERDICT = "VERDICT"
    WRITING_BACK = "WRITING_BACK"
    DONE = "DONE"
    HALTED = "HALTED"

    @property
    def is_end(self) -> bool:
        """Return whether nothing follows."""
        return self in (State.DONE, State.HALTED)


class Verdict(StrEnum):
    """How an investigation ended."""

    AUTO_RESOLVED = "auto_resolved"
    NEEDS_TECH = "needs_tech"
    NEEDS_L2 = "needs_l2"
    NEEDS_CLIENT = "needs_client"
    SKIPPED = "skipped"  # triage found nothing to investigate
    FAILED = "failed"
    FAILED_BUDGET = "failed_budget"

    @property
    def escalates(self) -> bool:
        """Return whether a person is called."""
        return self is not Verdict.AUTO_RESOLVED

    @property
    def answers(self) -> bool:
        """Return whether its message is for the requester; the others' is a note for the desk."""
        return self in (Verdict.AUTO_RESOLVED, Verdict.NEEDS_CLIENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The ticket as models see it: redacted, and cut at `MAX_BODY_CHARS`.

    `own_names` are the words and placeholders in it that are the requester's name.
    """

    ticket_id: UUID
    source: str
    external_id: str
    title: str
    body: str
    customer: str = ""
    requester: str = ""
    priority: str = "medium"
    language: str = "en"
    suspicious: bool = False
    own_names: tuple[str, ...] = ()


class NextKind(StrEnum):
    """What a plan asks for."""

    RETRIEVE = "retrieve"
    ACT = "act"
    CONCLUDE = "conclude"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The next step a planner wants. `provider` is `heuristic` when rules made it.

    RETRIEVE has a `query`; ACT a `connector`, a `tool`, `arguments` and `evidence`; CONCLUDE none.
    """

    kind: NextKind
    reason: str
    query: str = ""
    connector: str = ""
    tool: str = ""
    arguments: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    evidence: tuple[str, ...] = ()
    provider: str = "heuristic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Something found, with the citation that names it: `[doc:...]`, `[memory:...]`, redacted.

    `node_id` is the node it was read from, where there is one.
    """

    citation: str
    text: str
    node_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What came of an action, redacted: `[tool:<action id>]` cites it.

    `outcome` is applied, failed, denied, rejected or unknown; `reason` the code of a refusal.
    """

    action_id: UUID
    connector: str
    tool: str
    arguments: Mapping[str, JsonValue]
    outcome: str
    text: str = ""
    reason: str = ""
    dry_run: bool = False
    evidence: tuple[str, ...] = ()


def seen_of(
    action: Action, outcome: str, text: str, *, reason: str, dry_run: bool = False
) -> Observation:
    """Return what came of an action as working memory keeps it."""
    return Observation(
        action_id=action.id,
        connector=action.connector,
        tool=action.tool,
        arguments=action.arguments,
        outcome=outcome,
        text=text,
        reason=reason,
        dry_run=dry_run,
        evidence=action.evidence,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One message of the investigation's own conversation with its models."""

    role: str  # user | assistant
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What an investigation has spent over all its processes; times in ms, money as decimals."""

    tokens: int = 0
    usd: Decimal = Decimal(0)
    ms: int = 0
    iterations: int = 0
    unpriced_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """What an investigation knows. All text is redacted; values stand in the vault.

    `facts`, `similar`, `recent` (results of tools in other investigations of the customer) and
    `hints` fill the envelope and are read once. `pending` is the action
    between its safety check and its end. `vault` maps placeholders to values and leaves the act
    stage in no other form than sealed with this snapshot.
    """

    brief: Brief
    notes: tuple[Note, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    facts: tuple[Evidence, ...] = ()
    similar: tuple[Evidence, ...] = ()
    recent: tuple[Evidence, ...] = ()
    hints: tuple[str, ...] = ()
    observations: tuple[Observation, ...] = ()
    plan: Plan | None = None
    pending: Action | None = None
    approval_id: UUID | None = None
    denials: int = 0
    queries: tuple[str, ...] = ()
    skip_retrieval: bool = False
    verdict: Verdict | None = None
    verdict_reason: str = ""
    summary: str = ""
    spending: Spending = Spending()
    vault: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Investigation:
    """An investigation as stored and shown, without its working memory.

    `run` counts the executions it had: 1, and one more after each resume. `moved_at` is its last
    transition. `traceparent` is the W3C trace context it was started in.
    """

    id: UUID
    workspace_id: UUID
    ticket_id: UUID
    persona: str
    state: State
    verdict: Verdict | None = None
    spending: Spending = Spending()
    data_subjects: tuple[UUID, ...] = ()
    run: int = 1
    execution: str | None = None
    traceparent: str | None = None
    error: str | None = None
    created_at: datetime
    moved_at: datetime
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of the timeline. `system` is who did it, a stage or `connector.tool`.

    `action` is what, in a word; `detail` a redacted sentence; `kind` one of state, plan, search,
    action, approval, verdict, message, error. `ms` is how long it took.
    """

    system: str
    action: str
    detail: str
    kind: str
    ms: int = 0
    citations: tuple[str, ...] = ()


MAX_DENIALS = 3
"""Denied actions after which an investigation halts."""


EDGES: Mapping[State, Set[State]] = MappingProxyType(
    {
        State.CREATED: frozenset({State.PLANNING, State.VERDICT, State.HALTED}),
        State.PLANNING: frozenset(
            {State.RETRIEVING, State.SAFETY_CHECK, State.VERDICT, State.HALTED}
        ),
        State.RETRIEVING: frozenset({State.PLANNING, State.VERDICT, State.HALTED}),
        State.SAFETY_CHECK: frozenset(
            {
                State.ACTING,
                State.WAITING_APPROVAL,
                State.PLANNING,  # denied once or twice: another way
                State.VERDICT,
                State.HALTED,
            }
        ),
        State.WAITING_APPROVAL: frozenset(
            {
                State.ACTING,  # approved
                State.SAFETY_CHECK,  # edited
                State.PLANNING,  # rejected, or the policy changed meanwhile
                State.VERDICT,
                State.HALTED,  # expired
            }
        ),
        State.ACTING: frozenset({State.OBSERVING, State.VERDICT, State.HALTED}),
        State.OBSERVING: frozenset({State.PLANNING, State.VERDICT, State.HALTED}),
        State.VERDICT: frozenset({State.WRITING_BACK, State.HALTED}),
        State.WRITING_BACK: frozenset({State.DONE, State.HALTED}),
        State.DONE: frozenset(),
        State.HALTED: frozenset(),
    }
)
"""Where each state may lead. Any state that costs leads to VERDICT when its budget is spent."""


RESUMED: Mapping[State, State] = MappingProxyType(
    {
        state: (
            state
            if state in (State.CREATED, State.WAITING_APPROVAL) or state.is_end
            else State.PLANNING
        )
        for state in State
    }
)
"""Where a new execution takes up what a lost one left, once `action.applied` was looked up."""


def check(source: State, target: State) -> None:
    """Raise Conflict (reason `no-such-transition`) for an edge that is none."""
    if target not in EDGES[source]:
        raise Conflict(
            f"An investigation does not go from {source} to {target}.", reason="no-such-transition"
        )
