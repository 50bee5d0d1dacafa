"""Questions to people as they are shown, and what came of a decision. Records only."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.investigations.ports import Approval, ApprovalState
from cairn.investigations.state import State


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
class ApprovalView:
    """A question as a person decides on it.

    `arguments` have the values the tool would get. `binding` is to be sent back with a yes: it says
    what was seen. `rollback` is the tool that undoes this one, None when there is none. `rehearsal`
    is what a dry run said. `evidence_change` is None when this tool was not asked for before.
    """

    id: UUID
    investigation_id: UUID
    ticket_id: UUID
    action_id: UUID
    tool: str
    arguments: Mapping[str, Any]
    binding: str
    policy_version: str
    state: ApprovalState
    title: str
    why: str
    rule: str
    detail: str
    dangerous: bool
    rollback: str | None
    rehearsal: str
    evidence: tuple[ShownEvidence, ...]
    evidence_change: EvidenceChange | None
    asked_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: UUID | None
    decision_position: int | None


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
        ShownEvidence(citation=one["citation"], text=one["text"])
        for one in content.get("evidence", ())
    )
    return ApprovalView(
        id=approval.id,
        investigation_id=approval.investigation_id,
        ticket_id=approval.ticket_id,
        action_id=approval.action_id,
        tool=approval.tool,
        arguments=json.loads(content["arguments"]),
        binding=approval.binding,
        policy_version=approval.policy_version,
        state=approval.state,
        title=content.get("title", ""),
        why=content.get("why", ""),
        rule=content.get("rule", ""),
        detail=content.get("detail", ""),
        dangerous=bool(content.get("dangerous")),
        rollback=content.get("rollback"),
        rehearsal=content.get("rehearsal", ""),
        evidence=evidence,
        evidence_change=change,
        asked_at=approval.asked_at,
        expires_at=approval.expires_at,
        decided_at=approval.decided_at,
        decided_by=approval.decided_by,
        decision_position=approval.decision_position,
    )
