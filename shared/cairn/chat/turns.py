"""Turns of a chat: begun once, read while they go, stopped. Not how they are answered."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.chat.recording import add_message, stir
from cairn.chat.rows import NewTurn, TurnState
from cairn.chat.views import Told, TurnEvents, TurnView
from cairn.chat.window import MOST_EXCHANGES, Exchange
from cairn.conversations.messages import Channel
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, NotFound, RateLimited
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.hashes import sha256
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import MAX_TEXT_CHARS, clean_name
from cairn.writing.sealing import Sealer, client_subjects

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.chat.actions import Actions
    from cairn.chat.handoff import HandOffRow
    from cairn.chat.rows import TurnRow
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform
    from cairn.writing.ports import OutboxRow

KEEP_EVENTS = timedelta(hours=24)
KEEP_TURNS = timedelta(days=30)
LONGEST = timedelta(minutes=10)
"""For so long a turn is worked on at most."""

LEASE = timedelta(seconds=45)
"""A turn of which nobody has said for so long that it is worked on was interrupted."""

A_SESSION, A_MINUTE, A_DAY = 40, 20, 200
"""Messages of a public session, and of an address in a minute and in a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One message of a person. Without a `session_id` a new session begins."""

    message: str
    session_id: str | None = None
    turn_id: UUID | None = None
    client_id: str | None = None
    suggest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """How turns of a door are counted: together by `key`, and refused by `require`.

    It is asked in the transaction that begins the turn, which it undoes by raising.
    """

    key: bytes
    require: Callable[[Stores, NewTurn], None]
    channel: Channel = Channel.WEBCHAT

    @property
    def door(self) -> str:
        """Return by which door its sessions come."""
        return "widget" if self.channel is Channel.WEBCHAT else self.channel.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn under way, for who works on it."""

    id: UUID
    principal: Principal
    message: str
    session_id: str
    session: bytes
    client_id: str | None
    suggest: bool
    sealer: Sealer
    fresh: bool  # False: it was begun before, and is not to be worked on
    titled: bool = True  # False: nobody sees a title
    channel: Channel | None = None  # where its conversation takes place; None: as its role says


@dataclass(frozen=True, slots=True)
class Turns:
    """What is begun, read and stopped of turns; each sees its own only."""

    platform: Platform
    actions: Actions = field(kw_only=True)
    record: Callable[[HandOffRow], None] = field(default=lambda row: None, kw_only=True)

    def begin(
        self,
        principal: Principal,
        ask: Ask,
        *,
        address: str | None = None,
        counting: Counting | None = None,
    ) -> Turn:
        """Begin a turn, or find the one of the same id and message.

        Raises ValidationFailed or TooLarge for the message, RateLimited when a public session or
        address has said enough, Conflict when its session has a turn that runs (`turn-running`), or
        the id is another message's (`turn-id`). No model is asked before. `counting` stands
        in the place of the limits of public keys.
        """
        message = clean_text(ask.message, field="message", max_chars=MAX_TEXT_CHARS)
        turn_id = ask.turn_id or self.platform.new_id()
        name = clean_name(ask.session_id, "session_id") or str(turn_id)
        client = principal.writing_client(clean_name(ask.client_id, "client_id") or GLOBAL_CLIENT)
        session = hash_of_session(principal.workspace_id, principal.principal_id, client, name)
        digest = sha256(json.dumps([message, name if ask.session_id else None, client]).encode())
        if existing := self._find_row(principal, turn_id, digest):
            return self._open_turn(principal, existing)
        where = counting.key if counting else _address(principal, address)
        sealer = self._sealer(principal, turn_id, client)
        now = self.platform.clock()
        body = {"message": message, "session_id": name, "suggest": ask.suggest}
        new = NewTurn(
            id=turn_id,
            principal_id=principal.principal_id,
            client_id=None if client == GLOBAL_CLIENT else client,
            session=session,
            address=where,
            data_subjects=sealer.data_subjects,
            question=sealer.seal(body),
            digest=digest,
            created_at=now,
            deadline=now + LEASE,
            door=counting.door if counting else None,
        )
        begun, person = self._keep(principal, new, counting, sealer, message)
        if not begun:
            if existing := self._find_row(principal, turn_id, digest):
                return self._open_turn(principal, existing)
            raise Conflict("Another turn of this session runs.", reason="turn-running")
        if person is not None:
            self.record(person)
        return Turn(
            id=turn_id,
            principal=principal,
            message=message,
            session_id=name,
            session=session,
            client_id=new.client_id,
            suggest=ask.suggest,
            sealer=sealer,
            fresh=person is None,
            titled=counting is None,
            channel=counting.channel if counting else None,
        )

    def _keep(
        self,
        principal: Principal,
        new: NewTurn,
        counting: Counting | None,
        sealer: Sealer,
        message: str,
    ) -> tuple[bool, HandOffRow | None]:
        """Keep a turn that may begin; False when its id is known, or one of its session runs.

        While a person answers its chat, or is waited for, it goes to them and no model is asked.
        """
        now = new.created_at
        before = {"events_before": now - KEEP_EVENTS, "turns_before": now - KEEP_TURNS}
        with self.platform.transactions.preparing(principal) as (stores, _):
            stores.chats.tidy(new.session, now, **before)
            if counting is None and principal.role is Role.PUBLIC:
                _require_room(stores, new)
            person = stores.hand_offs.hold(new.session)
            if person is not None:
                new = replace(new, state=TurnState.PASSED, ended_at=now)
            begun = stores.chats.begin(new)
            if begun and counting is not None:
                counting.require(stores, new)
            stirred: list[OutboxRow] = []
            if begun and person is not None:
                add_message(stores, person, sealer, message, now)
                stirred = stir(self.platform, stores, person, now)
        self.platform.dispatcher.send(stirred)
        return begun, person

    def keep(self, turn: Turn) -> None:
        """Say that a turn is worked on, so that its session waits for it."""
        now = self.platform.clock()
        with self.platform.transactions.preparing(turn.principal) as (stores, _):
            stores.chats.keep(turn.id, until=now + LEASE, begun_after=now - LONGEST)

    def show(self, principal: Principal, turn_id: UUID) -> TurnView:
        """Return a turn; NotFound for another's."""
        row = self._row(principal, turn_id)
        sealer = self._opener(principal, row)
        question, answer = sealer.open(row.question), sealer.open(row.answer)
        with self.platform.transactions.reading(principal) as stores:
            actions = stores.chats.of_turn(turn_id)
        return TurnView(
            id=row.id,
            session_id=str(question.get("session_id", "")),
            state=self._state(row),
            source=row.source,
            answer=answer.get("text"),
            citations=tuple(answer.get("citations", ())),
            conversation_id=answer.get("conversation_id"),
            message_id=answer.get("message_id"),
            labels=answer.get("labels", {}),
            title=answer.get("title"),
            suggestions=tuple(answer.get("suggestions", ())),
            actions=[self.actions.view(principal, action) for action in actions],
            error=answer.get("error") or _interrupted(row, self._state(row)),
            created_at=row.created_at,
            ended_at=row.ended_at,
        )

    def events(self, principal: Principal, turn_id: UUID, *, after: int, limit: int) -> TurnEvents:
        """Return what was told after a number; NotFound for another's turn."""
        row = self._row(principal, turn_id)
        sealer = self._opener(principal, row)
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.chats.events(turn_id, after=after, limit=limit)
        items = [
            Told(
                seq=each.seq,
                name=each.name,
                data={**each.data, **sealer.open(each.sealed)},
                at=each.at,
            )
            for each in rows
        ]
        if row.state is TurnState.PASSED and after <= row.seq and len(items) < limit:
            data: dict[str, Any] = {
                "name": "chat",
                "state": row.state.value,
                "answer": None,
                "citations": [],
            }
            at = row.ended_at or row.created_at
            items.append(Told(seq=row.seq + 1, name="graph_end", data=data, at=at))
        last = items[-1].seq if items else after
        over = self._state(row) is not TurnState.RUNNING and last >= row.seq
        return TurnEvents(items=items, after=last, ended=over)

    def session_of(self, principal: Principal, turn_id: UUID) -> bytes:
        """Return what the turns of a turn's chat have in common; NotFound for another's."""
        return self._row(principal, turn_id).session

    def abort(self, principal: Principal, turn_id: UUID) -> TurnView:
        """Stop a turn; one that has ended stays as it is."""
        self._row(principal, turn_id)
        with self.platform.transactions.preparing(principal) as (stores, _):
            stores.chats.abort(turn_id, self.platform.clock())
        return self.show(principal, turn_id)

    def history(self, turn: Turn) -> tuple[Exchange, ...]:
        """Return the earlier turns of a session that can be read, oldest first."""
        with self.platform.transactions.reading(turn.principal) as stores:
            rows = stores.chats.earlier(turn.session, MOST_EXCHANGES)
        exchanges: list[Exchange] = []
        for row in reversed(rows):
            sealer = self._opener(turn.principal, row)
            question, answer = sealer.open(row.question), sealer.open(row.answer)
            if question and row.state in (TurnState.DONE, TurnState.PASSED):
                where = answer.get("conversation_id")
                exchanges.append(
                    Exchange(
                        question=question["message"],
                        answer=answer.get("text", ""),
                        conversation_id=UUID(where) if where else None,
                        ended_at=row.ended_at,
                    )
                )
        return tuple(exchanges)

    def _find_row(self, principal: Principal, turn_id: UUID, digest: bytes) -> TurnRow | None:
        with self.platform.transactions.reading(principal) as stores:
            row = stores.chats.find(turn_id)
        if row is not None and row.digest != digest:
            raise Conflict("This turn_id is another message's.", reason="turn-id")
        return row

    def _open_turn(self, principal: Principal, row: TurnRow) -> Turn:
        sealer = self._opener(principal, row)
        question = sealer.open(row.question)
        return Turn(
            id=row.id,
            principal=principal,
            message=str(question.get("message", "")),
            session_id=str(question.get("session_id", "")),
            session=row.session,
            client_id=row.client_id,
            suggest=bool(question.get("suggest")),
            sealer=sealer,
            fresh=False,
        )

    def _sealer(self, principal: Principal, turn_id: UUID, client: str) -> Sealer:
        """Return what seals a new turn."""
        subjects = client_subjects(self.platform, principal, client)
        return Sealer.of(self.platform, principal.workspace_id, turn_id, subjects, create=True)

    def _row(self, principal: Principal, turn_id: UUID) -> TurnRow:
        with self.platform.transactions.reading(principal) as stores:
            row = stores.chats.find(turn_id)
        if row is None:
            raise NotFound("There is no such turn.")
        return row

    def _opener(self, principal: Principal, row: TurnRow) -> Sealer:
        return Sealer.of(self.platform, principal.workspace_id, row.id, tuple(row.data_subjects))

    def _state(self, row: TurnRow) -> TurnState:
        late = row.state is TurnState.RUNNING and row.deadline <= self.platform.clock()
        return TurnState.FAILED if late else row.state


def _require_room(stores: Stores, new: NewTurn) -> None:
    """Raise RateLimited when a public session or address has said enough."""
    minute, day = new.created_at - timedelta(minutes=1), new.created_at - timedelta(days=1)
    in_session, lately, today = stores.chats.said(new.session, new.address, minute=minute, day=day)
    if in_session >= A_SESSION:
        raise RateLimited(
            f"A session has {A_SESSION} messages; begin another.",
            retry_after=60,
            reason="chat-session",
        )
    if today >= A_DAY or lately >= A_MINUTE:
        wait = 3_600 if today >= A_DAY else 60
        raise RateLimited(
            "Too many messages come from this address.", retry_after=wait, reason="chat-address"
        )


def _interrupted(row: TurnRow, state: TurnState) -> str | None:
    lost = state is TurnState.FAILED and row.answer is None
    return "interrupted" if lost else None


def hash_of_session(workspace_id: UUID, principal_id: UUID, client: str, name: str) -> bytes:
    """Return what a session is known by: who asks, for whom, and its name."""
    of = [str(workspace_id), str(principal_id), client, name]
    return sha256(json.dumps(of).encode())


def _address(principal: Principal, address: str | None) -> bytes | None:
    """Return a public question's address as it is counted; others are not."""
    if principal.role is not Role.PUBLIC or not address:
        return None
    return sha256(f"{principal.workspace_id} {address}".encode())
