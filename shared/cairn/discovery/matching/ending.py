"""What ends with intents: the opportunities that rest on them, and their hypothetical documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.discovery.matching.moving import found, moved
from cairn.discovery.matching.rows import OpportunityState
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.writing.platform import Platform


def end_with(platform: Platform, workspace_id: UUID, intent_ids: Sequence[UUID]) -> int:
    """Let every open opportunity of intents expire; return how many. Safe to repeat."""
    principal = system_principal(workspace_id)
    with platform.transactions.reading(principal) as stores:
        opportunities = stores.intents.opportunities(intent_ids)
    ended = 0
    for opportunity_id in opportunities:
        try:
            row = found(platform, workspace_id, opportunity_id)
            moved(platform, principal, row, OpportunityState.EXPIRED)
            ended += 1
        except CairnError as error:  # it moved meanwhile, or somebody was forgotten
            fields = {"opportunity_id": str(opportunity_id), "reason": error.reason}
            platform.warn("opportunity.not_expired", fields)
    with platform.transactions.writing(principal) as stores:
        stores.intents.drop_lenses(intent_ids)
    return ended
