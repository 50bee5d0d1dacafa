"""Negotiations, their turns, what a side keeps to itself, and members' agents, in PostgreSQL."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, record
from cairn.discovery.negotiation.rows import (
    NegotiationOutcome,
    NegotiationRow,
    NegotiationState,
    NegotiatorRow,
    PrivateRow,
    SideRow,
    Speaker,
    TurnRow,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

_ROW = record(NegotiationRow, state=NegotiationState, outcome=NegotiationOutcome, speaker=Speaker)


class PostgresNegotiations(Store):
    """The negotiations of the transaction's workspace that its principal sees."""

    def begin(self, row: NegotiationRow) -> bool:
        """Keep a negotiation; False when its opportunity has one."""
        return self.write("negotiation.begin", row).rowcount == 1

    def find(self, negotiation_id: UUID) -> NegotiationRow | None:
        """Return a negotiation."""
        return self.first_of(_ROW, "negotiation.find", id=negotiation_id)

    def of_opportunity(self, opportunity_id: UUID) -> NegotiationRow | None:
        """Return the negotiation about an opportunity."""
        return self.first_of(_ROW, "negotiation.of_opportunity", opportunity_id=opportunity_id)

    def of_opportunities(self, ids: Collection[UUID]) -> Sequence[NegotiationRow]:
        """Return the negotiations about some opportunities."""
        return self.all_of(_ROW, "negotiation.of_opportunities", ids=list(ids))

    def page(
        self,
        *,
        before: UUID | None,
        limit: int,
        state: NegotiationState | None = None,
        member_id: UUID | None = None,
        waiting_for: UUID | None = None,
    ) -> Sequence[NegotiationRow]:
        """Return negotiations, the newest first; `waiting_for`: where it is this member's turn."""
        filters = {"state": state.value if state else None, "member_id": member_id}
        places = {"before": before, "limit": limit, "waiting_for": waiting_for}
        return self.all_of(_ROW, "negotiation.page", **filters, **places)

    def takeable(
        self, member_id: UUID, now: datetime, claim: UUID | None = None
    ) -> NegotiationRow | None:
        """Return a turn that a member's agent may take up, or goes on with under its claim."""
        parameters = {"member_id": member_id, "now": now, "claim": claim}
        return self.first_of(_ROW, "negotiation.takeable", **parameters)

    def due(self, now: datetime, limit: int) -> Sequence[NegotiationRow]:
        """Return those that go on by themselves by now."""
        return self.all_of(_ROW, "negotiation.due", now=now, limit=limit)

    def move(self, to: NegotiationRow) -> NegotiationRow | None:
        """Move a negotiation on from the version that it was seen in; None when it has moved."""
        if self.write("negotiation.move", to).rowcount != 1:
            return None
        return replace(to, version=to.version + 1)

    def fail(self, negotiation_id: UUID, code: str) -> None:
        """Note that a turn failed, and what it was."""
        self.run("negotiation.fail", id=negotiation_id, code=code)

    def sides(self, negotiation_id: UUID, now: datetime) -> Mapping[UUID, SideRow]:
        """Return the members of a negotiation as they are now."""
        rows = self.all_of(record(SideRow), "negotiation.sides", id=negotiation_id, now=now)
        return {row.id: row for row in rows}

    def say(self, turn: TurnRow) -> None:
        """Keep a turn."""
        self.write("negotiation.say", turn)

    def turns(self, ids: Collection[UUID]) -> Sequence[TurnRow]:
        """Return the turns of negotiations, in order."""
        return self.all_of(record(TurnRow), "negotiation.turns", ids=list(ids))

    def keep_private(self, row: PrivateRow) -> None:
        """Keep what one side alone reads."""
        self.write("negotiation.keep_private", row)

    def private(self, negotiation_id: UUID, member_id: UUID) -> Sequence[PrivateRow]:
        """Return what one side alone reads, in order."""
        parameters = {"id": negotiation_id, "member_id": member_id}
        return self.all_of(record(PrivateRow), "negotiation.private", **parameters)

    def answer(self, question_id: UUID, body: bytes, now: datetime) -> bool:
        """Take the answer to a question; False when it has one."""
        return self.run("negotiation.answer", id=question_id, body=body, now=now).rowcount == 1

    def agents(self, members: Collection[UUID]) -> Sequence[NegotiatorRow]:
        """Return the agents that members bring."""
        return self.all_of(record(NegotiatorRow), "negotiation.agents", ids=list(members))

    def see_agent(
        self, member_id: UUID, agent: str, now: datetime, *, takeover: bool | None = None
    ) -> None:
        """Note that an agent asks for a turn; None leaves as it was whether the advocate may."""
        who = {"member_id": member_id, "agent": agent}
        self.run("negotiation.see_agent", **who, now=now, takeover=takeover)

    def give_key(self, member_id: UUID, agent: str, public_key: bytes) -> None:
        """Keep the public key of an agent."""
        who = {"member_id": member_id, "agent": agent}
        self.run("negotiation.give_key", **who, public_key=public_key)

    def shown(self, ids: Collection[UUID]) -> Sequence[dict[str, Any]]:
        """Return what intents and profiles say."""
        return self.rows("negotiation.shown", ids=list(ids))

    def memories(self, limit: int) -> Sequence[tuple[UUID, str]]:
        """Return what the memories of the client say whom the transaction is confined to."""
        return [(row["id"], row["text"]) for row in self.rows("negotiation.memories", limit=limit)]

    def counted(self) -> dict[str, int]:
        """Return how many ended, with a yes, and with a yes at once."""
        return self.rows("negotiation.counted")[0]
