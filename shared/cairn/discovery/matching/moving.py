"""How an opportunity moves: by compare-and-set, with its entry, in one table of transitions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, NotFound
from cairn.ledger.entry import SYSTEM, Actor
from cairn.ledger.keys import key_subjects
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.discovery.matching.rows import OpportunityRow, OpportunityState
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write


def move(
    write: Write, row: OpportunityRow, to: OpportunityState, actor: UUID | None = None
) -> OpportunityRow:
    """Move one in an open write of the keys of whom it is about, and return it as it is then.

    `actor` is the member who does it, None is Cairn. Raises Conflict (`not-allowed`) where the
    table has no such transition for them, (`moved`) when something else moved it meanwhile.
    """
    party = row.party_of(actor)
    if party is None or not row.may_move(to, party):
        detail = f"An opportunity that is {row.state} does not become {to} by this."
        raise Conflict(detail, reason="not-allowed", state=row.state.value)
    position = write.entries.add(
        "opportunity.moved",
        {
            "opportunity_id": str(row.id),
            "from": row.state.value,
            "to": to.value,
            "actor": str(actor) if actor else None,
        },
        {},
        data_subjects=row.data_subjects,
        occurred_at=write.now,
    )
    if not write.stores.opportunities.move(row, to, actor, position, write.now):
        raise Conflict("The opportunity has moved on meanwhile.", reason="moved")
    return replace(row, state=to, changed_at=write.now)


def keys_of(platform: Platform, workspace_id: UUID, row: OpportunityRow) -> Mapping[UUID, bytes]:
    """Return the keys that a write about an opportunity is opened with."""
    subjects = key_subjects(workspace_id, row.data_subjects)
    return platform.keys.get_or_create(workspace_id, subjects)


def moved(
    platform: Platform,
    principal: Principal,
    row: OpportunityRow,
    to: OpportunityState,
    member_id: UUID | None = None,
    *,
    actor: Actor = SYSTEM,
) -> OpportunityRow:
    """Move one in a write of its own; SubjectForgotten when one of them was forgotten."""
    keys = keys_of(platform, principal.workspace_id, row)
    about = row.data_subjects
    with open_write(platform, principal, actor=actor, keys=keys, data_subjects=about) as write:
        return move(write, row, to, member_id)


def found(platform: Platform, workspace_id: UUID, opportunity_id: UUID) -> OpportunityRow:
    """Return one as Cairn sees it; NotFound without it."""
    with platform.transactions.reading(system_principal(workspace_id)) as stores:
        row = stores.opportunities.find(opportunity_id)
    if row is None:
        raise missing_opportunity(opportunity_id)
    return row


def missing_opportunity(opportunity_id: UUID) -> NotFound:
    """Return the refusal of one that there is not, or that is not theirs to see."""
    return NotFound("There is no such opportunity.", opportunity_id=str(opportunity_id))
