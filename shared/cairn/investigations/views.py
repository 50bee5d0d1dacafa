"""Investigations as people and programs are shown them. Records; what they are read from: `browse`.

Texts are redacted already; one whose data subject was forgotten is None, and `readable` says so.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.investigations.ports import (
    ActionFields,
    Approval,
    ApprovalFields,
    ApprovalState,
    CandidateFields,
    EscalationFields,
    QuestionView,
)
from cairn.investigations.state import Investigation, State, Verdict
from cairn.kernel.records import convert
from cairn.llm.costs import CostRow


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationView(EscalationFields):
    """A call of a person in a list; `noted` says that a note stands at the ticket."""

    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MendView:
    """What a ticket waits for: a connector or a ticket source that is to be authorised again.

    `page` is the console's, where a person does it.
    """

    kind: str
    name: str
    path: str
    command: str
    page: str


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
class CandidateView(CandidateFields):
    """A resolution that may become a document. In lists `text` is None."""

    title: str | None
    text: str | None
    rejected_because: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEvidence:
    """What speaks for the action, with its citation; the text is redacted."""

    citation: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceChange:
    """Citations that came and went since the same tool was last asked for."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


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
class ToolCallView(ActionFields):
    """A tool call. `owner` is the connector the tool belongs to, `tool` is `connector.tool`.

    A call over MCP or HTTP has the owner `cairn`, no investigation, and no free texts. `input` and
    `output` are cut; `ms` is from start to end.
    """

    owner: str
    input: str | None
    output: str | None
    ms: int | None
    readable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class InvestigationDetail:
    """An investigation with what it spent by purpose, what is left, its questions and actions."""

    investigation: InvestigationView
    spent_by_purpose: tuple[CostRow, ...]
    budget: LimitsView
    left: LimitsView
    approvals: tuple[QuestionView, ...]
    actions: tuple[ToolCallView, ...]


def mends(waits_for: str | None, *, by_code: bool = False) -> tuple[MendView, ...]:
    """Return what a ticket waits for, as `connector:<name>` or `source:<name>` says it.

    `by_code` says that it signs in by a device code; else its secrets are renewed.
    """
    kind, _, name = (waits_for or "").partition(":")
    if not name:
        return ()
    noun = "connectors" if kind == "connector" else "ticket-sources"
    path = f"/v1/connectors/{name}" if kind == "connector" else "/v1/ticket-sources"
    command = f"cairn {noun} sign-in {name}"
    if not by_code:
        command = f"cairn {noun} set {name} --secret NAME"
    page = f"/console/{noun}/{name}/sign-in"  # leads on to where secrets are renewed
    return (MendView(kind=kind, name=name, path=path, command=command, page=page),)


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
class ApprovalView(ApprovalFields):
    """A question as a person decides on it.

    `arguments` have the values the tool would get. `binding` is to be sent back with a yes: it says
    what was seen. `rollback` is the tool that undoes this one, None when there is none. `rehearsal`
    is what a dry run said. `evidence_change` is None when this tool was not asked for before.
    """

    arguments: Mapping[str, Any]
    title: str
    why: str
    rule: str
    detail: str
    dangerous: bool
    rollback: str | None
    rehearsal: str
    evidence: tuple[ShownEvidence, ...]
    evidence_change: EvidenceChange | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What a decision did: the question's state, and where the investigation goes on."""

    id: UUID
    state: ApprovalState
    investigation_id: UUID
    investigation_state: State
    position: int


def view_of(
    approval: Approval, content: Mapping[str, Any], change: EvidenceChange | None
) -> ApprovalView:
    """Return a question with its opened content."""
    evidence = tuple(
        ShownEvidence(citation=name["citation"], text=name["text"])
        for name in content.get("evidence", ())
    )
    return convert(
        approval,
        ApprovalView,
        arguments=json.loads(content["arguments"]),
        title=content.get("title", ""),
        why=content.get("why", ""),
        rule=content.get("rule", ""),
        detail=content.get("detail", ""),
        dangerous=bool(content.get("dangerous")),
        rollback=content.get("rollback"),
        rehearsal=content.get("rehearsal", ""),
        evidence=evidence,
        evidence_change=change,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """The present state of an investigation, and which of its executions counts."""

    workspace_id: UUID
    investigation_id: UUID
    state: State
    run: int

    def as_answer(self) -> dict[str, str | int]:
        """Return it as a state of the machine passes it on: ids, a state and a number."""
        return {
            "workspace_id": str(self.workspace_id),
            "investigation_id": str(self.investigation_id),
            "state": self.state.value,
            "run": self.run,
        }


def present(investigation: Investigation) -> Present:
    """Return where an investigation is."""
    return Present(
        workspace_id=investigation.workspace_id,
        investigation_id=investigation.id,
        state=investigation.state,
        run=investigation.run,
    )
