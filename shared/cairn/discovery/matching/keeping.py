"""Keeps what was found as opportunities, once for each two people and both intents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cairn.discovery.matching.rows import (
    OPPOSITE,
    OpportunityRow,
    OpportunityState,
    OpportunityTrigger,
    pair_of,
)
from cairn.kernel.access.system import system_principal
from cairn.kernel.text.canonical import format_timestamp
from cairn.ledger.keys import key_subjects
from cairn.writing.append import principal_actor
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.discovery.matching.discovery import Match
    from cairn.discovery.matching.searching import Looking
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

LASTS = timedelta(days=30)
"""How long an opportunity stays open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """An opportunity that is there now; `is_new` when it was not before."""

    row: OpportunityRow
    is_new: bool


def keep(
    platform: Platform,
    principal: Principal,
    look: Looking,
    match: Match,
    *,
    trigger: OpportunityTrigger,
    state: OpportunityState,
    introducer_id: UUID | None = None,
) -> Keeping:
    """Keep one, or return what there is of these two and their intents.

    What the other one's own search found before is shown to both from then on. Raises
    SubjectForgotten when one of them was forgotten meanwhile.
    """
    workspace_id = principal.workspace_id
    people = {look.member_id, match.judgement.member_id}
    about = tuple(sorted(people | ({introducer_id} if introducer_id else set())))
    keys = platform.keys.get_or_create(workspace_id, key_subjects(workspace_id, about))
    pair = pair_of(
        look.member_id, look.intent_id, match.judgement.member_id, match.judgement.node_id
    )
    with open_write(
        platform,
        system_principal(workspace_id),
        actor=principal_actor(principal),
        keys=keys,
        data_subjects=about,
    ) as write:
        there = write.stores.opportunities.by_pair([pair])
        if there:
            row = there[0]
            if row.target_id == look.member_id and introducer_id is None:
                meta = {"opportunity_id": str(row.id), "member_id": str(look.member_id)}
                if write.stores.opportunities.find_too(row.id, look.member_id, write.now):
                    write.note("opportunity.found_too", meta)
            return Keeping(row=row, is_new=False)
        body = body_of(look, match)
        row = _row(
            platform,
            write,
            look,
            match,
            pair=pair,
            trigger=trigger,
            state=state,
            introducer_id=introducer_id,
            about=about,
            body=body,
            keys=keys,
        )
        position = write.note("opportunity.found", _meta_of(row), body)
        write.stores.opportunities.add(row, None, position)
    return Keeping(row=row, is_new=True)


def _row(
    platform: Platform,
    write: Write,
    look: Looking,
    match: Match,
    *,
    pair: str,
    trigger: OpportunityTrigger,
    state: OpportunityState,
    introducer_id: UUID | None,
    about: tuple[UUID, ...],
    body: Mapping[str, Any],
    keys: Mapping[UUID, bytes],
) -> OpportunityRow:
    judgement, opportunity_id = match.judgement, platform.new_id()
    return OpportunityRow(
        id=opportunity_id,
        pair=pair,
        network_id=match.network_id,
        source_id=look.member_id,
        target_id=judgement.member_id,
        introducer_id=introducer_id,
        source_intent=look.intent_id,
        target_intent=judgement.node_id,
        source_role=OPPOSITE[judgement.role],
        target_role=judgement.role,
        score=judgement.score,
        trigger=trigger,
        state=state,
        data_subjects=about,
        body=platform.cipher.seal(opportunity_id, write.entries.workspace_id, keys, body),
        created_at=write.now,
        changed_at=write.now,
        expires_at=write.now + LASTS,
    )


def _meta_of(row: OpportunityRow) -> dict[str, Any]:
    """Return what an entry says of one in clear: ids and words of ours, no texts."""
    ids = {
        name: str(value) if (value := getattr(row, name)) else None
        for name in (
            "network_id",
            "source_id",
            "target_id",
            "introducer_id",
            "source_intent",
            "target_intent",
        )
    }
    return {
        "opportunity_id": str(row.id),
        **ids,
        "source_role": row.source_role.value,
        "target_role": row.target_role.value,
        "score": row.score,
        "trigger": row.trigger.value,
        "state": row.state.value,
        "expires_at": format_timestamp(row.expires_at),
    }


def body_of(look: Looking, match: Match) -> dict[str, Any]:
    """Return what an opportunity says: the reason, the questions, and what the two said."""
    judgement, candidate = match.judgement, match.candidate
    return {
        "reason": judgement.reason,
        "by": judgement.by,
        "questions": list(judgement.questions),
        "source": {"name": look.name, "intent": look.text, "side": look.side},
        "target": {
            "name": candidate.name,
            "intent": candidate.wish,
            "side": candidate.side,
        },
    }
