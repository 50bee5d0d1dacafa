"""Opportunities, how each stood when, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.discovery.matching.rows import (
    ChangeRow,
    OpportunityRow,
    OpportunityState,
    OpportunityTrigger,
    Valency,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

_ROW = record(
    OpportunityRow,
    state=OpportunityState,
    trigger=OpportunityTrigger,
    source_role=Valency,
    target_role=Valency,
)


class PostgresOpportunities(Store):
    """The opportunities that the transaction's principal may see."""

    def find(self, opportunity_id: UUID) -> OpportunityRow | None:
        """Return one."""
        return self.first_of(_ROW, "opportunity.find", id=opportunity_id)

    def by_pair(self, pairs: Collection[str]) -> Sequence[OpportunityRow]:
        """Return those that there are of some pairs."""
        return self.all_of(_ROW, "opportunity.by_pair", pairs=list(pairs))

    def of(
        self,
        member_id: UUID | None,
        *,
        states: Collection[OpportunityState] | None = None,
        before: UUID | None = None,
        limit: int = 50,
    ) -> Sequence[OpportunityRow]:
        """Return those that somebody has a part in, or all, the newest first."""
        in_states = [state.value for state in states] if states is not None else None
        where = {"states": in_states, "before": before, "limit": limit}
        if member_id is None:
            return self.all_of(_ROW, "opportunity.all", **where)
        # a query of its own: plans are generic, and one for both reads everybody's
        return self.all_of(_ROW, "opportunity.of", member_id=member_id, **where)

    def add(self, row: OpportunityRow, actor: UUID | None, position: int) -> bool:
        """Keep one; False when there is one of its pair."""
        if self.write("opportunity.add", row).rowcount != 1:
            return False
        self._note(row.id, row.state, actor, position, row.created_at)
        return True

    def move(
        self,
        seen: OpportunityRow,
        to: OpportunityState,
        actor: UUID | None,
        position: int,
        now: datetime,
    ) -> bool:
        """Move one on from the state it was seen in; False when it is in another by now."""
        states = {"state": seen.state.value, "to": to.value}
        if self.run("opportunity.move", id=seen.id, now=now, **states).rowcount != 1:
            return False
        self._note(seen.id, to, actor, position, now)
        return True

    def say_yes(self, opportunity_id: UUID, member_id: UUID, now: datetime) -> bool:
        """Keep that one of the two wants it; False when they had said so."""
        parameters = {"id": opportunity_id, "member_id": member_id, "now": now}
        return self.run("opportunity.say_yes", **parameters).rowcount == 1

    def find_too(self, opportunity_id: UUID, member_id: UUID, now: datetime) -> bool:
        """Keep that the search of the other one of the two found it, too; False when it had."""
        parameters = {"id": opportunity_id, "member_id": member_id, "now": now}
        return self.run("opportunity.find_too", **parameters).rowcount == 1

    def changes(self, opportunity_id: UUID) -> Sequence[ChangeRow]:
        """Return the states that one had, in order."""
        return self.all_of(
            record(ChangeRow, state=OpportunityState), "opportunity.changes", id=opportunity_id
        )

    def states_then(self, ids: Collection[UUID], moment: datetime) -> dict[UUID, OpportunityState]:
        """Return the states that some had at a moment; those not there yet are left out."""
        rows = self.rows("opportunity.states_then", ids=list(ids), moment=moment)
        return {row["id"]: OpportunityState(row["state"]) for row in rows}

    def due(self, now: datetime, limit: int = 1000) -> Sequence[OpportunityRow]:
        """Return open ones whose time is over."""
        return self.all_of(_ROW, "opportunity.due", now=now, limit=limit)

    def negotiable(self, now: datetime, limit: int = 1000) -> Mapping[UUID, OpportunityTrigger]:
        """Return latent ones that their two can negotiate, and what began their search."""
        rows = self.rows("opportunity.negotiable", now=now, limit=limit)
        return {row["id"]: OpportunityTrigger(row["trigger"]) for row in rows}

    def shown_since(self, member_ids: Collection[UUID], since: datetime) -> dict[UUID, int]:
        """Return how often each was found for somebody since a moment; none are left out."""
        rows = self.rows("opportunity.shown_since", ids=list(member_ids), since=since)
        return {row["target_id"]: row["times"] for row in rows}

    def _note(
        self,
        opportunity_id: UUID,
        state: OpportunityState,
        actor: UUID | None,
        position: int,
        now: datetime,
    ) -> None:
        self.run(
            "opportunity.note",
            id=opportunity_id,
            state=state.value,
            actor=actor,
            position=position,
            now=now,
        )
