"""What investigations need of the stores and of the stages around them. Contracts.

Content (texts, arguments, results) is sealed with the keys of the ticket's data subjects: stores
see bytes. What stands in clear is ids, states, codes, counts and times.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from cairn.writing.ports import WriteStores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.connectors.port import ConnectorView
    from cairn.investigations.people.ports import (
        CandidateStore,
        ChannelStore,
        EscalationStore,
        OpinionStore,
    )
    from cairn.investigations.state import (
        Evidence,
        Investigation,
        Plan,
        Spending,
        State,
        Verdict,
        WorkingMemory,
    )
    from cairn.kernel.text.json_value import JsonValue
    from cairn.llm.budget import Budget
    from cairn.nodes.ports import GraphNodeStore
    from cairn.safety.grants import GrantStore
    from cairn.safety.tools import ToolSpec
    from cairn.tickets.personas import Persona
    from cairn.tickets.ticket import Ticket, TicketStore
    from cairn.webhooks.webhooks import WebhookStore


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


class InvestigationStore(Protocol):
    """The investigations of the transaction's workspace."""

    def add(self, investigation: Investigation, snapshot: bytes) -> bool:
        """Keep a new one with its `execution`; False when its ticket has one in no end state."""
        ...

    def find(self, investigation_id: UUID) -> Investigation | None:
        """Return one."""
        ...

    def snapshot(self, investigation_id: UUID) -> bytes:
        """Return the sealed working memory of the last transition; b"" before the first."""
        ...

    def move(self, move: Move) -> bool:
        """Make a transition; False, and nothing changes, when it has moved on from `since`.

        A transition to DONE or HALTED leaves `ended_at` empty: `close` sets it.
        """
        ...

    def close(self, investigation_id: UUID, now: datetime) -> bool:
        """Set `ended_at` of one in an end state: everybody was told. False when it is set."""
        ...

    def spend(self, investigation_id: UUID, spending: Spending, *, run: int) -> None:
        """Keep what was spent by a step that did not get to a transition; nothing of older runs."""
        ...

    def rerun(self, investigation_id: UUID, execution: str, now: datetime) -> int:
        """Count another execution, name it, and return its number; `moved_at` becomes `now`.

        The name it has already is not counted again.
        """
        ...

    def add_steps(self, investigation_id: UUID, steps: Sequence[StepRow]) -> None:
        """Append lines; `seq` 0 is given the next number."""
        ...

    def steps(self, investigation_id: UUID, *, after: int, limit: int) -> Sequence[StepRow]:
        """Return lines after a number, in order."""
        ...

    def page(
        self, *, before: UUID | None, limit: int, state: State | None, ticket_id: UUID | None
    ) -> Sequence[Investigation]:
        """Return investigations, the newest first."""
        ...

    def stale(self, before: datetime, limit: int) -> Sequence[Investigation]:
        """Return those that are not closed and have not moved since, the longest first.

        Those that wait for a person are left out; those in an end state without `ended_at` are in.
        """
        ...


class SlotStore(Protocol):
    """How many investigations run at once in a workspace: numbered slots."""

    def take(self, investigation_id: UUID, most: int, now: datetime) -> bool:
        """Take a free slot of `most`, skipping what others hold; True too when it has one."""
        ...

    def free(self, investigation_id: UUID) -> None:
        """Give the slot back; nothing when it has none."""
        ...

    def taken(self) -> int:
        """Return how many are held."""
        ...


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
class Approval:
    """A question to a person, bound to exactly one action under exactly one set of rules.

    `binding` is SHA-256 over tool, canonical arguments, evidence, policy version and expiry;
    `content` the sealed action as shown to the person. Its task token is not part of it.
    """

    id: UUID
    investigation_id: UUID
    ticket_id: UUID
    action_id: UUID
    tool: str
    binding: str
    policy_version: str
    content: bytes
    state: ApprovalState
    data_subjects: tuple[UUID, ...]
    asked_at: datetime
    expires_at: datetime
    decided_at: datetime | None = None
    decided_by: UUID | None = None
    decision_position: int | None = None


class ApprovalStore(Protocol):
    """The approvals of the transaction's workspace."""

    def add(self, approval: Approval) -> None:
        """Keep a question."""
        ...

    def find(self, approval_id: UUID) -> Approval | None:
        """Return one."""
        ...

    def granted(self, investigation_id: UUID, now: datetime) -> Sequence[Approval]:
        """Return its granted approvals that are neither used nor expired, the newest first.

        A binding covers its expiry: whoever compares computes it anew for each of them.
        """
        ...

    def decide(
        self,
        approval_id: UUID,
        state: ApprovalState,
        *,
        by: UUID | None,
        position: int,
        now: datetime,
    ) -> bool:
        """Decide a pending one; False when it was decided before or has expired.

        EXPIRED and VOID are decided of expired ones too.
        """
        ...

    def use(self, approval_id: UUID) -> bool:
        """Use a granted one; False when it is not granted (any more)."""
        ...

    def keep_token(self, approval_id: UUID, token: str) -> None:
        """Keep the machine's task token, whatever was decided; the newest counts."""
        ...

    def token(self, approval_id: UUID) -> str | None:
        """Return the task token, for the process that answers the machine; None while pending."""
        ...

    def of(self, investigation_id: UUID) -> Sequence[Approval]:
        """Return an investigation's approvals, the newest first."""
        ...

    def due(self, now: datetime, limit: int) -> Sequence[Approval]:
        """Return pending ones that have expired, the longest first."""
        ...

    def page(
        self, *, state: ApprovalState | None, before: UUID | None, limit: int
    ) -> Sequence[Approval]:
        """Return approvals, the newest first."""
        ...

    def pending(self) -> int:
        """Return how many wait."""
        ...


class ActionState(StrEnum):
    """denied at once, or proposed -> denied, or started -> applied, failed or unknown."""

    PROPOSED = "proposed"
    DENIED = "denied"
    STARTED = "started"  # committed before the call; without an end, nobody knows yet
    APPLIED = "applied"
    FAILED = "failed"  # the tool said so, or the call was never sent: nothing happened
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRow:
    """A record of a tool call: who, what, when, how it ended. `input`/`output` are sealed, cut.

    `digest` is SHA-256 over `connector.tool` and canonical arguments: the same action asked for
    again in the same investigation finds this row, and keeps its id as idempotency key.
    `principal_id` is whose key called, over MCP or HTTP; None for an investigation's call.
    """

    id: UUID
    investigation_id: UUID | None
    connector: str
    tool: str
    lane: str
    digest: str
    state: ActionState
    dry_run: bool
    is_error: bool
    input: bytes
    output: bytes
    data_subjects: tuple[UUID, ...]
    proposed_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None
    error: str | None = None
    session_id: str | None = None
    principal_id: UUID | None = None


class ActionStore(Protocol):
    """The tool calls of the transaction's workspace: what was asked for and what came of it."""

    def add(self, action: ActionRow) -> None:
        """Keep a proposed or denied action; the same id again changes nothing."""
        ...

    def find(self, action_id: UUID) -> ActionRow | None:
        """Return one."""
        ...

    def same(self, investigation_id: UUID, digest: str) -> ActionRow | None:
        """Return the investigation's newest action of this digest that was not denied."""
        ...

    def earlier(
        self, ticket_id: UUID, but: UUID, *, connector: str, tool: str, limit: int
    ) -> Sequence[ActionRow]:
        """Return a tool's writes for a ticket that happened or may have, the newest first.

        Those of the investigation `but`, reads, dry runs and what is known to have failed are left
        out.
        """
        ...

    def recent(
        self,
        ticket_id: UUID,
        but: UUID,
        *,
        owner: UUID | None,
        alone: bool,
        since: datetime,
        limit: int,
    ) -> Sequence[ActionRow]:
        """Return reads that brought a result since, the newest first.

        Of other investigations than `but`, of the ticket or of tickets of the data subject `owner`,
        and about it then as now; `alone` is of tickets that are about nobody else.
        """
        ...

    def open(self, investigation_id: UUID) -> Sequence[ActionRow]:
        """Return what was started and has no end."""
        ...

    def deny(self, action_id: UUID, *, error: str, now: datetime) -> bool:
        """Deny a proposed one: the rules changed before it started. False when it is not proposed.

        `error` is the code of the refusal.
        """
        ...

    def start(self, action_id: UUID, *, dry_run: bool, now: datetime) -> bool:
        """Start a proposed one; False when it was started before."""
        ...

    def end(
        self,
        action_id: UUID,
        state: ActionState,
        *,
        output: bytes,
        is_error: bool,
        error: str | None,
        now: datetime,
    ) -> bool:
        """End a started one; False when it has ended."""
        ...

    def page(
        self,
        *,
        investigation_id: UUID | None,
        connector: str | None,
        session_id: str | None = None,
        before: UUID | None,
        limit: int,
        principal_id: UUID | None = None,
    ) -> Sequence[ActionRow]:
        """Return tool calls, of a principal its own only, the newest first."""
        ...


class AgentStores(WriteStores, Protocol):
    """What the steps of an investigation need of a transaction."""

    @property
    def investigations(self) -> InvestigationStore: ...
    @property
    def slots(self) -> SlotStore: ...
    @property
    def approvals(self) -> ApprovalStore: ...
    @property
    def actions(self) -> ActionStore: ...
    @property
    def tickets(self) -> TicketStore: ...
    @property
    def grants(self) -> GrantStore: ...
    @property
    def graph_nodes(self) -> GraphNodeStore: ...
    @property
    def escalations(self) -> EscalationStore: ...
    @property
    def channels(self) -> ChannelStore: ...
    @property
    def opinions(self) -> OpinionStore: ...
    @property
    def candidates(self) -> CandidateStore: ...
    @property
    def webhooks(self) -> WebhookStore: ...


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


class Recaller(Protocol):
    """Finds evidence in the workspace's memory (recipe `knowledge`), redacted by the caller."""

    def __call__(
        self, workspace_id: UUID, query: str, *, customer: str, limit: int = 6
    ) -> Sequence[Evidence]:
        """Return what was found, each with its citation; Unavailable when recall cannot answer."""
        ...


class Surrounds(Protocol):
    """Fills what the envelope has besides evidence, once, when an investigation is created."""

    def __call__(
        self, workspace_id: UUID, ticket: Ticket
    ) -> tuple[Sequence[Evidence], Sequence[Evidence], Sequence[str]]:
        """Return (applicable facts, similar recent tickets, hints), as many as the envelope holds.

        Hints are of the last 24 h: a duplicate of a ticket, a burst of the same.
        """
        ...


class TicketDesk(Protocol):
    """Tickets as an investigation sees them; implemented by `helpdesk`."""

    def ticket(self, workspace_id: UUID, ticket_id: UUID) -> Ticket:
        """Return a ticket with its text; NotFound, or SubjectForgotten."""
        ...

    def persona(self, workspace_id: UUID, name: str, *, began: datetime | None = None) -> Persona:
        """Return a persona, the default one for a name that is none.

        What `began` before its persona was removed goes on with no more autonomy than it had.
        """
        ...

    def write_back(
        self,
        workspace_id: UUID,
        ticket_id: UUID,
        *,
        investigation_id: UUID,
        verdict: Verdict,
        summary: str,
        minutes: int,
        private: bool,
        data_subjects: tuple[UUID, ...],
    ) -> Mapping[str, str]:
        """Reply, set the status and log the time at the source; once, however often asked.

        `private` replies are notes for the desk's own people. `data_subjects` are those the
        investigation is about: forgetting one erases what is kept of the reply. Returns what was
        done, by part.
        Raises Unavailable when the source does not answer.
        """
        ...

    def note(
        self,
        workspace_id: UUID,
        ticket_id: UUID,
        *,
        investigation_id: UUID,
        text: str,
        data_subjects: tuple[UUID, ...],
    ) -> str:
        """Leave a private note that calls a person; once, however often asked.

        Returns done, not-supported, needs-auth or refused. Raises Unavailable when the source does
        not answer.
        """
        ...

    def ended(
        self, workspace_id: UUID, ticket_id: UUID, investigation_id: UUID, verdict: Verdict
    ) -> None:
        """Set the ticket's own status: failed for failed_budget, needs_tech for skipped."""
        ...


class Redactor(Protocol):
    """Replaces personal values by placeholders and back; `vault` maps placeholders to values."""

    def redact(
        self, text: str, vault: Mapping[str, str], *, profile: str
    ) -> tuple[str, Mapping[str, str]]:
        """Return the text with placeholders, and the vault with what is new.

        A value that the vault knows gets its old placeholder.
        """
        ...

    def moved(
        self,
        value: JsonValue,
        theirs: Mapping[str, str],
        vault: Mapping[str, str],
        *,
        profile: str,
    ) -> tuple[JsonValue, Mapping[str, str]]:
        """Return a JSON value whose placeholders are of the vault `theirs` with those of `vault`.

        Raises ValidationFailed for a placeholder that `theirs` does not know.
        """
        ...

    def restore(self, value: JsonValue, vault: Mapping[str, str]) -> JsonValue:
        """Return a JSON value with the placeholders in its strings replaced by their values."""
        ...


class Connectors(Protocol):
    """The catalogue of a workspace: what `ToolHost.connectors` returns, or a store's view of it."""

    def connectors(self, workspace_id: UUID) -> Sequence[ConnectorView]:
        """Return the workspace's connectors with the manifests last seen."""
        ...


class Escalate(Protocol):
    """Calls a person, with the hand-off bundle, by the persona's channel; once an investigation."""

    def __call__(
        self, workspace_id: UUID, investigation_id: UUID, *, verdict: Verdict, why: str
    ) -> None:
        """Queue the call."""
        ...
