"""Turns of chats, their events, and what waits for the person, in PostgreSQL."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, record
from cairn.chat.rows import ActionRow, AnsweredBy, ChatActionState, EventRow, TurnRow, TurnState
from cairn.kernel.text.canonical import format_timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.chat.rows import NewTurn

_TURN = record(TurnRow, state=TurnState, source=AnsweredBy)
_ACTION = record(ActionRow, state=ChatActionState)


class PostgresChats(Store):
    """The chats of the transaction's principal: nobody reads another's turns."""

    @property
    def _mine(self) -> dict[str, Any]:
        return {"principal_id": self.principal.principal_id}

    def tidy(
        self, session: bytes, now: datetime, *, events_before: datetime, turns_before: datetime
    ) -> None:
        """Close what was interrupted in a session, and drop what was kept long enough."""
        self.run("chat.close_interrupted", session=session, now=now)
        self.run("chat.drop_old", events_before=events_before, turns_before=turns_before)

    def begin(self, turn: NewTurn) -> bool:
        """Keep a turn; False when its id is known, or a turn of its session runs."""
        return self.write("chat.begin", turn).rowcount == 1

    def keep(self, turn_id: UUID, *, until: datetime, begun_after: datetime) -> None:
        """Let a turn that runs go on until then; one that runs for too long does not."""
        self.run("chat.keep", id=turn_id, until=until, begun_after=begun_after)

    def find(self, turn_id: UUID) -> TurnRow | None:
        """Return a turn."""
        return self.first_of(_TURN, "chat.find", id=turn_id, **self._mine)

    def earlier(self, session: bytes, limit: int) -> Sequence[TurnRow]:
        """Return the last answered turns of a session, the newest first."""
        return self.all_of(_TURN, "chat.earlier", session=session, limit=limit)

    def said(
        self, session: bytes, address: bytes | None, *, minute: datetime, day: datetime
    ) -> tuple[int, int, int]:
        """Return how many turns a session had, and an address since two moments.

        Others that are counted together wait until the transaction ends.
        """
        self.run("widget.lock", counted=address or session)
        parameters = {"session": session, "address": address, "minute": minute, "day": day}
        return self.run("chat.said", **parameters).fetchone() or (0, 0, 0)

    def tell(self, turn_id: UUID, events: Sequence[EventRow]) -> Sequence[int]:
        """Keep events of a turn that runs; return their numbers, none when it does not."""
        rows = [
            {
                "name": event.name,
                "data": event.data,
                "sealed": base64.b64encode(event.sealed).decode() if event.sealed else None,
                "at": format_timestamp(event.at),
            }
            for event in events
        ]
        return sorted(self.values("chat.tell", id=turn_id, rows=json.dumps(rows)))

    def runs(self, turn_id: UUID) -> bool:
        """Return whether a turn runs."""
        return bool(self.value("chat.runs", id=turn_id))

    def end(
        self,
        turn_id: UUID,
        state: TurnState,
        *,
        source: AnsweredBy | None,
        answer: bytes | None,
        now: datetime,
    ) -> bool:
        """End a turn; False when it does not run (any more)."""
        source_name = source.value if source else None
        ended = self.run(
            "chat.end", id=turn_id, state=state.value, source=source_name, answer=answer, now=now
        )
        return ended.rowcount == 1

    def any(self, turn_id: UUID) -> TurnRow | None:
        """Return a turn of anybody."""
        return self.first_of(_TURN, "chat.any", id=turn_id)

    def of_session(self, session: bytes, limit: int) -> Sequence[TurnRow]:
        """Return the turns of a chat, whoever's, the oldest first."""
        return self.all_of(_TURN, "chat.of_session", session=session, limit=limit)

    def did(self, turns: Sequence[UUID], limit: int) -> Sequence[dict[str, Any]]:
        """Return what was told of the tools and the screening of some turns."""
        return self.rows("chat.did", turns=list(turns), limit=limit)

    def live(self, since: datetime, limit: int) -> Sequence[TurnRow]:
        """Return the last turn of each chat that the agent answers, the newest first."""
        return self.all_of(_TURN, "chat.live", since=since, limit=limit)

    def last_passed(self, session: bytes) -> TurnRow | None:
        """Return the last message of a chat that a person is to answer."""
        return self.first_of(_TURN, "chat.last_passed", session=session)

    def pass_on(self, session: bytes, now: datetime) -> tuple[UUID, bytes] | None:
        """Pass the turn of a chat that runs on to a person; return its id and its question."""
        return self.run("chat.pass_on", session=session, now=now).fetchone()

    def answer_by_person(self, turn_id: UUID, answer: bytes, now: datetime) -> None:
        """Keep what a person has said to a turn that was passed on to them."""
        self.run("chat.answer_by_person", id=turn_id, answer=answer, now=now)

    def abort(self, turn_id: UUID, now: datetime) -> bool:
        """Stop a turn; False when it does not run."""
        return self.run("chat.abort", id=turn_id, now=now, **self._mine).rowcount == 1

    def events(self, turn_id: UUID, *, after: int, limit: int) -> Sequence[EventRow]:
        """Return what was told of a turn after a number."""
        return self.all_of(record(EventRow), "chat.events", id=turn_id, after=after, limit=limit)

    def propose(self, action: ActionRow) -> None:
        """Keep what waits for the person."""
        self.write("chat.propose", action)

    def action(self, action_id: UUID) -> ActionRow | None:
        """Return what the caller was asked about."""
        return self.first_of(_ACTION, "chat.action", id=action_id, **self._mine)

    def waiting(self, session: bytes, now: datetime) -> Sequence[ActionRow]:
        """Return what waits in a session, the newest first."""
        return self.all_of(_ACTION, "chat.waiting", session=session, now=now)

    def of_turn(self, turn_id: UUID) -> Sequence[ActionRow]:
        """Return what a turn asked the person for."""
        return self.all_of(_ACTION, "chat.of_turn", turn_id=turn_id)

    def decide(self, action_id: UUID, state: ChatActionState, now: datetime) -> bool:
        """Take the person's word; False when it was decided before or has expired."""
        parameters = {"id": action_id, "state": state.value, "now": now, **self._mine}
        return self.run("chat.decide", **parameters).rowcount == 1

    def done(self, action_id: UUID, state: ChatActionState, result: bytes) -> bool:
        """Keep what came of one that ran."""
        done = self.run("chat.done", id=action_id, state=state.value, result=result)
        return done.rowcount == 1
