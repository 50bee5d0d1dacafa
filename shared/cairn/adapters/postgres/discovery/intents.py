"""Intents as they stand, and what members' own nodes say, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.discovery.intents.rows import IntentRow, IntentState, TextRow

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

_INTENT = record(IntentRow, state=IntentState)
_TEXT = record(TextRow)


class PostgresIntents(Store):
    """The intents that the transaction's principal may see: a member's own."""

    def add(self, row: IntentRow) -> None:
        """Keep how a new one stands."""
        self.write("intent.add", row)

    def move(self, seen: IntentRow, to: IntentRow) -> bool:
        """Move one on from where it was seen; False when something else has."""
        return self.write("intent.move", to, seen=seen.version).rowcount == 1

    def find(self, intent_id: UUID) -> IntentRow | None:
        """Return one."""
        return self.first_of(_INTENT, "intent.find", id=intent_id)

    def open(self, member_id: UUID) -> Sequence[IntentRow]:
        """Return a member's that are not over, the oldest first."""
        return self.all_of(_INTENT, "intent.open", member_id=member_id)

    def page(
        self,
        member_id: UUID,
        *,
        states: Collection[IntentState] | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[IntentRow]:
        """Return a member's, the newest first."""
        names = [state.value for state in states] if states is not None else None
        parameters = {"states": names, "before": before, "limit": limit}
        return self.all_of(_INTENT, "intent.page", member_id=member_id, **parameters)

    def due(self, now: datetime, limit: int) -> Sequence[IntentRow]:
        """Return those whose time is over."""
        return self.all_of(_INTENT, "intent.due", now=now, limit=limit)

    def unassign(self, ids: Collection[UUID], now: datetime) -> None:
        """Take intents out of their networks."""
        self.run("intent.unassign", ids=list(ids), now=now)

    def opportunities(self, ids: Collection[UUID]) -> Sequence[UUID]:
        """Return the opportunities that are not ended and rest on intents."""
        return self.values("intent.opportunities", ids=list(ids))

    def drop_lenses(self, ids: Collection[UUID]) -> None:
        """Delete the hypothetical documents of intents."""
        self.run("intent.drop_lenses", ids=list(ids))

    def uncleaned(self, limit: int) -> Sequence[UUID]:
        """Return intents that are over while something that is not ended rests on them."""
        return self.values("intent.uncleaned", limit=limit)

    def texts(self, ids: Collection[UUID]) -> Mapping[UUID, TextRow]:
        """Return what nodes of members say, by id."""
        return {row.id: row for row in self.all_of(_TEXT, "intent.texts", ids=list(ids))}

    def texts_as_of(
        self, client_id: str, label: str, position: int, limit: int
    ) -> Sequence[TextRow]:
        """Return a member's nodes of a label as they were at a ledger position, newest first."""
        where = {"client_id": client_id, "label": label, "position": position}
        return self.all_of(_TEXT, "intent.texts_as_of", **where, limit=limit)

    def premises(self, profile_id: UUID, now: datetime, limit: int) -> Sequence[TextRow]:
        """Return what a member says of themselves and has not retracted."""
        parameters = {"profile_id": profile_id, "now": now, "limit": limit}
        return self.all_of(_TEXT, "intent.premises", **parameters)

    def document(self, document_id: UUID, client_id: str, limit: int) -> Sequence[str]:
        """Return what a document of a client says, part by part."""
        where = {"id": document_id, "client_id": client_id}
        return self.values("intent.document", **where, limit=limit)

    def conversation(self, conversation_id: UUID, client_id: str, limit: int) -> Sequence[str]:
        """Return what a client wrote in a conversation, message by message."""
        where = {"id": conversation_id, "client_id": client_id}
        return self.values("intent.conversation", **where, limit=limit)

    def memories(self, client_id: str, limit: int) -> Sequence[str]:
        """Return facts that are remembered of a client, the newest first."""
        return self.values("intent.memories", client_id=client_id, limit=limit)
