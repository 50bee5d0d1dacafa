"""An opportunity as one of the two sees it: why, who, what each said, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.discovery.matching.rows import (
    ENDS,
    SENDABLE,
    OpportunityRow,
    OpportunityState,
    OpportunityTrigger,
    Party,
    Valency,
)
from cairn.ledger.keys import BodyUnreadable, key_subjects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.writing.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class SideView:
    """One of the two. `yes` is whether they said that they want it."""

    member_id: UUID
    name: str
    intent_id: UUID | None
    intent: str
    side: str | None
    role: Valency
    yes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OpportunityView:
    """An opportunity. `yours` says which part the reader has; `can` what they may do now."""

    id: UUID
    state: OpportunityState
    score: int
    verdict: str
    network_id: UUID
    trigger: OpportunityTrigger
    reason: str
    questions: tuple[str, ...]
    by: str
    source: SideView
    target: SideView
    introducer_id: UUID | None
    yours: Party | None
    can: tuple[str, ...]
    created_at: datetime
    changed_at: datetime
    expires_at: datetime


def opened(platform: Platform, workspace_id: UUID, row: OpportunityRow) -> Mapping[str, Any]:
    """Return what an opportunity says; nothing once one of them was forgotten."""
    subjects = key_subjects(workspace_id, row.data_subjects)
    held = platform.keys.get(workspace_id, subjects)
    try:
        return platform.cipher.open(row.id, workspace_id, subjects, held, row.body)
    except BodyUnreadable as error:
        if error.reason != "key-destroyed":
            raise
        return {}


def view_of(
    row: OpportunityRow, body: Mapping[str, Any], member_id: UUID | None
) -> OpportunityView:
    """Return one as a member sees it; None is an operator, who may do nothing for anybody."""
    party = row.party_of(member_id) if member_id is not None else None
    return OpportunityView(
        id=row.id,
        state=row.state,
        score=row.score,
        verdict="must_meet" if row.score >= 90 else "should_meet",
        network_id=row.network_id,
        trigger=row.trigger,
        reason=body.get("reason", ""),
        questions=tuple(body.get("questions", ())),
        by=body.get("by", "rules"),
        source=_side(row, body, Party.SOURCE),
        target=_side(row, body, Party.TARGET),
        introducer_id=row.introducer_id,
        yours=party,
        can=tuple(_can(row, party)),
        created_at=row.created_at,
        changed_at=row.changed_at,
        expires_at=row.expires_at,
    )


def _side(row: OpportunityRow, body: Mapping[str, Any], party: Party) -> SideView:
    says: Mapping[str, Any] = body.get(party.value, {})
    is_source = party is Party.SOURCE
    yes_at = row.source_yes_at if is_source else row.target_yes_at
    return SideView(
        member_id=row.source_id if is_source else row.target_id,
        name=says.get("name", ""),
        intent_id=row.source_intent if is_source else row.target_intent,
        intent=says.get("intent", ""),
        side=says.get("side"),
        role=row.source_role if is_source else row.target_role,
        yes=yes_at is not None,
    )


def _can(row: OpportunityRow, party: Party | None) -> Sequence[str]:
    if party is None or row.state in ENDS:
        return ()
    yes = row.source_yes_at if party is Party.SOURCE else row.target_yes_at
    can = ["send"] if row.state in SENDABLE else []
    if row.state is OpportunityState.PENDING and party is not Party.INTRODUCER and yes is None:
        can.append("accept")
    if row.may_move(OpportunityState.REJECTED, party):
        can.append("reject")
    return can
