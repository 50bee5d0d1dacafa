"""Chats go to people: asked for, accepted, left, given back, closed, or made a ticket of.

Every change is a compare-and-set under a lock of the chat, with its entry in one transaction: of
two who do the same at once one is told so. What is said is kept before anybody is told that it was.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.chat.hand_off_rules import (
    Grown,
    current_of,
    move_session,
    name_of,
    not_yours,
    note,
    over,
    require_room,
    session_of,
    taken,
    the_same,
)
from cairn.chat.handoff import (
    MOST_LINE_CHARS,
    OPEN,
    SESSION_OF,
    HandOffCause,
    HandOffRow,
    HandOffState,
    Line,
    LineBy,
    LineKind,
    LineRow,
)
from cairn.chat.recording import add_message, opened, sealer_of, stir
from cairn.chat.rows import TurnState
from cairn.chat.widget import WidgetHandOff, WidgetSettings
from cairn.chat.widget_sessions import SessionState
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, Conflict, Denied, NotFound
from cairn.kernel.metrics import Metric, untold
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.elements import one_line
from cairn.tickets.adapter import Incoming
from cairn.tickets.intake import From
from cairn.tickets.personas import DEFAULT
from cairn.tickets.ticket import API_SOURCE, MAX_TITLE_CHARS
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import owners
from cairn.writing.sealing import Sealer, client_subjects
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.chat.recording import RecordLines
    from cairn.chat.rows import TurnRow
    from cairn.chat.widget_sessions import CustomerSession
    from cairn.kernel.access import Principal
    from cairn.kernel.metrics import Metrics
    from cairn.kernel.stores import Stores
    from cairn.tickets.intake import Intake, Received
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

MOST_LINES = 500
KEEP = timedelta(days=30)
LIVE = timedelta(hours=1)
"""A chat in which nothing was said for so long is not taken over any more."""

WHY = {
    HandOffCause.CUSTOMER: "The customer asked for a person.",
    HandOffCause.RULES: "The customer's message asks for a person.",
}
ENTRY_OF = {HandOffState.RETURNED: "handoff.returned", HandOffState.CLOSED: "handoff.closed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOffs:
    """Hand-offs as customers, operators and the sweep change them."""

    platform: Platform
    intake: Intake
    record: RecordLines
    transcript: Callable[[HandOffRow], str]
    metrics: Metrics = field(default=untold)

    # What a customer does

    def request(
        self, session: CustomerSession, cause: HandOffCause, why: str | None = None
    ) -> HandOffRow:
        """Ask for a person; the same again while one is asked for changes nothing.

        Raises Denied where no person answers, Conflict before anything was said or when the chat
        is over, RateLimited when it went to a person too often.
        """
        settings = session.hand_off
        if settings is None:
            raise Denied("No person answers in this chat.", reason="hand-off")
        client = session.row.client_id
        hashed = session_of(session)
        system, now = system_principal(session.workspace_id), self.platform.clock()
        row = HandOffRow(
            workspace_id=system.workspace_id,
            id=self.platform.new_id(),
            session=hashed,
            chat_session_id=session.row.id,
            principal_id=session.row.id,
            client_id=client,
            state=HandOffState.PENDING,
            cause=cause,
            operator_id=None,
            operator=None,
            data_subjects=self._subjects(system, client),
            sealed=b"",
            wait_seconds=60 * settings.wait_minutes,
            away_seconds=60 * settings.away_minutes,
            requested_at=now,
            moved_at=now,
            heard_at=now,
            unanswered_since=now,
            channel=session.channel,
        )
        row = self._sealed(row, why or WHY[cause], session.name, create=True)
        with open_write(self.platform, system) as write:
            present = write.stores.hand_offs.hold(hashed)
            if present is not None:
                return present
            require_room(write.stores, hashed)
            move_session(write.stores, row, (SessionState.ACTIVE,))
            write.stores.hand_offs.begin(row)
            note(write, row, "handoff.requested")
            self._add(write.stores, row, LineKind.REQUESTED)
        self.metrics(Metric.CHAT_HANDOFFS, 1, channel=session.channel)
        return replace(row, seq=1)

    def of_customer(self, session: CustomerSession, *, after: int) -> tuple[HandOffRow, list[Line]]:
        """Return the last hand-off of a customer's session and its lines after a number.

        Whatever is due by now happens first. NotFound where there was none.
        """
        system = system_principal(session.workspace_id)
        return self._lines(system, session_of(session), after)

    def of_chat(
        self, principal: Principal, session: bytes, *, after: int
    ) -> tuple[HandOffRow, list[Line]]:
        """Return the last hand-off of a chat of the caller, and its lines after a number."""
        return self._lines(principal, session, after)

    def _lines(
        self, principal: Principal, session: bytes, after: int
    ) -> tuple[HandOffRow, list[Line]]:
        with self.platform.transactions.reading(principal) as stores:
            row = stores.hand_offs.last_of(session)
            rows = stores.hand_offs.lines(row.id, after=after, limit=MOST_LINES) if row else ()
        if row is None:
            raise NotFound("This chat was with no person.")
        if row.due(self.platform.clock()) is not None:
            row = self.settle(row)
            return row, self.lines(principal, row, after=after)
        sealer = self._sealer(row) if rows else None
        return row, [opened(sealer, line) for line in rows if sealer]

    def lines(
        self, principal: Principal, row: HandOffRow, *, after: int = 0, limit: int = MOST_LINES
    ) -> list[Line]:
        """Return the lines of a hand-off after a number, opened."""
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.hand_offs.lines(row.id, after=after, limit=limit)
        sealer = self._sealer(row)
        return [opened(sealer, line) for line in rows]

    def after_answer(self, session: CustomerSession) -> None:
        """Ask for a person where as many answers in a row as the widget allows found nothing."""
        settings = session.hand_off
        most = settings.after_unanswered if settings else None
        if most is None:
            return
        system, hashed = system_principal(session.workspace_id), session_of(session)
        with self.platform.transactions.reading(system) as stores:
            turns = stores.chats.earlier(hashed, most)
        answers = [
            Sealer.of(self.platform, system.workspace_id, turn.id, tuple(turn.data_subjects)).open(
                turn.answer
            )
            for turn in turns
            if turn.state is TurnState.DONE
        ]
        if len(answers) == most and not any(answer.get("citations") for answer in answers):
            why = f"{most} answers in a row found nothing in the public documents."
            with suppress(CairnError):  # it ended meanwhile, or went to a person too often
                self.request(session, HandOffCause.RULES, why)

    # What operators do

    def find(self, principal: Principal, handoff_id: UUID) -> HandOffRow:
        """Return one, as it is now that what is due has happened; NotFound without it."""
        principal.require_person()
        return self.settle(self._find(principal, handoff_id))

    def accept(
        self,
        principal: Principal,
        handoff_id: UUID,
        *,
        take_over: bool = False,
        name: str | None = None,
    ) -> HandOffRow:
        """Answer a chat from now on. `take_over` takes it from another operator.

        Customers see a person's own name, or the `name` that who holds a key gives.

        Raises Conflict (`accepted`) for one that another operator has, or took first, and
        (`hand-off-over`) for one that is over.
        """
        row = self._to_change(principal, handoff_id)
        if row.state is HandOffState.ACTIVE and row.operator_id == principal.principal_id:
            return row
        if row.state is HandOffState.ACTIVE and not take_over:
            raise taken(row)
        now = self.platform.clock()
        after = replace(
            row,
            state=HandOffState.ACTIVE,
            operator_id=principal.principal_id,
            operator=name_of(principal, name),
            moved_at=now,
            unanswered_since=now,  # whoever waits, waits for the first word from now on
            accepted_at=row.accepted_at or now,
        )
        sealer = self._sealer(row)
        with open_write(self.platform, principal) as write:
            self._moved(write, row, after, "handoff.accepted", LineKind.ACCEPTED)
            self._pass_on(write.stores, after, sealer, now)
        return after

    def take(self, principal: Principal, turn_id: UUID, *, name: str | None = None) -> HandOffRow:
        """Take a chat over that the agent answers; one that waits for a person is accepted.

        Raises NotFound without the turn, Conflict when its chat is over or another operator's.
        """
        principal.require_operator()
        with self.platform.transactions.reading(principal) as stores:
            turn = stores.chats.any(turn_id)
            present = stores.hand_offs.last_of(turn.session) if turn else None
            door = stores.chat_sessions.door_of(turn.principal_id) if turn else None
        if turn is None:
            raise NotFound("There is no such turn of a chat.")
        if present is not None and present.state in OPEN:
            return self.accept(principal, present.id, name=name)
        now = self.platform.clock()
        if now - turn.created_at > LIVE and door is None:
            raise Conflict("Nothing was said in this chat lately.", reason="session-state")
        row = self._taken_over(principal, turn, name_of(principal, name), door=door, now=now)
        with open_write(self.platform, principal) as write:
            present = write.stores.hand_offs.hold(turn.session)
            if present is not None:
                raise taken(present)
            pending = replace(row, state=HandOffState.PENDING)
            move_session(write.stores, pending, (SessionState.ACTIVE,))
            move_session(write.stores, row, (SessionState.HANDOFF_PENDING,))
            write.stores.hand_offs.begin(row)
            note(write, row, "handoff.requested")
            note(write, row, "handoff.accepted")
            self._add(write.stores, row, LineKind.ACCEPTED)
            self._pass_on(write.stores, row, self._sealer(row), now)
        self.metrics(Metric.CHAT_HANDOFFS, 1, channel=row.door)
        return replace(row, seq=1)

    def _taken_over(
        self, principal: Principal, turn: TurnRow, operator: str, *, door: str | None, now: datetime
    ) -> HandOffRow:
        """Return a hand-off that begins with its operator."""
        settings = self._settings(principal)
        row = HandOffRow(
            workspace_id=principal.workspace_id,
            id=self.platform.new_id(),
            session=turn.session,
            chat_session_id=turn.principal_id if door else None,
            principal_id=turn.principal_id,
            client_id=turn.client_id,
            state=HandOffState.ACTIVE,
            cause=HandOffCause.OPERATOR,
            operator_id=principal.principal_id,
            operator=operator,
            data_subjects=turn.data_subjects,
            sealed=b"",
            wait_seconds=60 * settings.wait_minutes,
            away_seconds=60 * settings.away_minutes,
            requested_at=now,
            moved_at=now,
            heard_at=now,
            unanswered_since=now,
            accepted_at=now,
            channel=turn.door or door,
        )
        sealer = Sealer.of(self.platform, principal.workspace_id, turn.id, turn.data_subjects)
        session_name = str(sealer.open(turn.question).get("session_id", ""))
        return self._sealed(row, f"{operator} took the chat over.", session_name)

    def say(
        self, principal: Principal, handoff_id: UUID, text: str, *, line_id: UUID | None = None
    ) -> Line:
        """Say something to the customer; the same `line_id` and text again is said once.

        Raises Conflict (`not-yours`) for who does not have the chat, or (`line-id`) for the id of
        another line.
        """
        message = clean_text(text, field="text", max_chars=MOST_LINE_CHARS)
        row = self._to_change(principal, handoff_id)
        sealer, now = self._sealer(row), self.platform.clock()
        line = LineRow(
            seq=0,
            id=line_id or self.platform.new_id(),
            kind=LineKind.SAID,
            speaker=LineBy.OPERATOR,
            name=row.operator,
            sealed=None,
            recorded=False,
            at=now,
        )
        line = replace(line, sealed=replace(sealer, row_id=line.id).seal({"text": message}))
        with self.platform.transactions.writing(principal) as stores:
            current = current_of(stores, row)
            present = stores.hand_offs.line(row.id, line.id)
            if present is not None:
                return the_same(opened(sealer, present), present, message)
            if current.state is not HandOffState.ACTIVE or (
                current.operator_id != principal.principal_id
            ):
                raise not_yours(current)
            seq = stores.hand_offs.add_line(row.id, line)
            self._answer_turn(stores, current, sealer, message, now)
            stirred = stir(self.platform, stores, row, now)
        self.platform.dispatcher.send(stirred)
        self.record(row)
        return opened(sealer, replace(line, seq=seq or 0))

    def release(self, principal: Principal, handoff_id: UUID) -> HandOffRow:
        """Leave a chat: it waits for another operator."""
        row = self._own(principal, handoff_id)
        return self._left(principal, row)

    def give_back(self, principal: Principal, handoff_id: UUID) -> HandOffRow:
        """Let the agent answer again."""
        row = self._own(principal, handoff_id)
        return self._ended(principal, row, HandOffState.RETURNED, LineKind.RETURNED)

    def close(self, principal: Principal, handoff_id: UUID, resolution: str) -> HandOffRow:
        """End a chat whose customer has what they wanted; `resolution` says what that was."""
        text = clean_text(resolution, field="resolution", max_chars=MOST_LINE_CHARS)
        row = self._own(principal, handoff_id)
        sealed = replace(self._sealer(row), row_id=row.id).seal({"resolution": text})
        row = replace(row, resolution=sealed)
        return self._ended(principal, row, HandOffState.CLOSED, LineKind.CLOSED)

    def to_ticket(self, principal: Principal, handoff_id: UUID) -> HandOffRow:
        """Make a ticket of a chat, with all that was said; one that nobody has, too."""
        row = self._to_change(principal, handoff_id)
        if row.state is HandOffState.ACTIVE and row.operator_id != principal.principal_id:
            raise not_yours(row)
        return self._ticketed(principal, row)

    # What time does

    def settle(self, row: HandOffRow) -> HandOffRow:
        """Return a hand-off as it is now: what is due happens, once, whoever looks first."""
        system = system_principal(row.workspace_id)
        try:
            match row.due(self.platform.clock()):
                case HandOffState.TICKET:
                    return self._ticketed(system, row)
                case HandOffState.PENDING:
                    return self._left(system, row)
                case HandOffState.CLOSED:
                    return self._ended(system, row, HandOffState.CLOSED, LineKind.CLOSED)
                case _:
                    return row
        except Conflict:  # somebody was quicker
            return self._find(system, row.id)

    def sweep(self, workspace_id: UUID, limit: int = 100) -> dict[str, int]:
        """Do what is due in a workspace; return how much it was."""
        system, now = system_principal(workspace_id), self.platform.clock()
        with self.platform.transactions.reading(system) as stores:
            due = stores.hand_offs.due(now, limit)
            behind = stores.hand_offs.behind(now - timedelta(minutes=1), limit)
        for handoff_id in due:
            self.settle(self._find(system, handoff_id))
        for handoff_id in behind:
            self.record(self._find(system, handoff_id))
        with self.platform.transactions.preparing(system) as (stores, _):
            stores.hand_offs.drop_old(now - KEEP)
        return {"hand_offs_settled": len(due), "hand_offs_recorded": len(behind)}

    def sweeping(self, workspaces: Callable[[], Sequence[UUID]]) -> Callable[[], dict[str, int]]:
        """Return what sweeps every workspace; what fails in one leaves the others be."""

        def swept() -> dict[str, int]:
            counts = {"hand_offs_settled": 0, "hand_offs_recorded": 0}
            for workspace_id in workspaces():
                try:
                    done = self.sweep(workspace_id)
                except CairnError as error:
                    fields = {"workspace_id": str(workspace_id), "reason": error.reason}
                    self.platform.warn("hand_offs.not_swept", fields)
                else:
                    counts = {name: count + done[name] for name, count in counts.items()}
            return counts

        return swept

    # How it is done

    def _find(self, principal: Principal, handoff_id: UUID) -> HandOffRow:
        with self.platform.transactions.reading(principal) as stores:
            row = stores.hand_offs.find(handoff_id)
        if row is None:
            raise NotFound("There is no such chat with a person.")
        return row

    def _to_change(self, principal: Principal, handoff_id: UUID) -> HandOffRow:
        """Return one that an operator may change now."""
        principal.require_operator()
        row = self.find(principal, handoff_id)
        if row.state not in OPEN:
            raise over(row)
        return row

    def _own(self, principal: Principal, handoff_id: UUID) -> HandOffRow:
        row = self._to_change(principal, handoff_id)
        if row.state is not HandOffState.ACTIVE or row.operator_id != principal.principal_id:
            raise not_yours(row)
        return row

    def _left(self, principal: Principal, row: HandOffRow) -> HandOffRow:
        now = self.platform.clock()
        after = replace(
            row,
            state=HandOffState.PENDING,
            operator_id=None,
            operator=None,
            moved_at=now,
            unanswered_since=row.unanswered_since or now,
        )
        with open_write(self.platform, principal) as write:
            self._moved(write, row, after, "handoff.released", LineKind.LEFT, name=row.operator)
        return after

    def _ended(
        self, principal: Principal, row: HandOffRow, state: HandOffState, kind: LineKind
    ) -> HandOffRow:
        now = self.platform.clock()
        after = replace(row, state=state, moved_at=now, ended_at=now)
        with open_write(self.platform, principal) as write:
            self._moved(write, row, after, ENTRY_OF[state], kind)
        self.record(after)
        self._count(after)
        return after

    def _count(self, row: HandOffRow) -> None:
        """Count a session of a customer that is over; one that the agent has again is not."""
        if row.chat_session_id is not None and row.state is not HandOffState.RETURNED:
            self.metrics(Metric.CHAT_SESSIONS, 1, channel=row.door, outcome=row.state.value)

    def _ticketed(self, principal: Principal, row: HandOffRow) -> HandOffRow:
        """End a hand-off with a ticket, in one transaction; what was said before it is in it."""
        system = system_principal(principal.workspace_id)
        for _ in range(3):
            row = self._find(system, row.id)
            if row.state not in OPEN:
                return row
            text = self.transcript(row)
            try:
                return self._ticket(principal, row, text)
            except Grown:  # something was said meanwhile
                continue
        raise Conflict("The customer is writing; try again.", reason="hand-off-moved")

    def _ticket(self, principal: Principal, row: HandOffRow, text: str) -> HandOffRow:
        now = self.platform.clock()
        after = replace(row, state=HandOffState.TICKET, moved_at=now, ended_at=now)
        why = self._sealer(row).open(row.sealed).get("why", "")
        ticket = Incoming(
            external_id=str(row.id),
            title=one_line(f"Chat: {why}")[:MAX_TITLE_CHARS],
            body=text,
            customer=(row.client_id or "")[:200],
            source_metadata={"chat": str(row.id)},
        )

        def also(write: Write, received: Received) -> None:
            if current_of(write.stores, row).seq != row.seq:
                raise Grown("Something was said meanwhile.", reason="hand-off-moved")
            done = replace(after, ticket_id=received.id)
            self._moved(write, row, done, "handoff.ticketed", LineKind.TICKET)

        about = owners(row.client_id or GLOBAL_CLIENT, ())
        origin = From(source=API_SOURCE, persona=DEFAULT.name)
        received = self.intake.add_about(principal, origin, ticket, about, also)
        after = replace(after, ticket_id=received.id)
        self.record(after)
        self._count(after)
        return after

    def _moved(
        self,
        write: Write,
        before: HandOffRow,
        after: HandOffRow,
        entry: str,
        kind: LineKind,
        *,
        name: str | None = None,
    ) -> None:
        """Make a transition with its entry, its line, the session's state; Conflict if late."""
        stores = write.stores
        current = current_of(stores, before)
        line = name or after.operator
        if after.ended_at is not None:  # no line is added to one that is over
            self._add(stores, before, kind, name=line)
        if not stores.hand_offs.move(before, after):
            raise over(current) if current.state not in OPEN else taken(current)
        if after.ended_at is None:
            self._add(stores, after, kind, name=line)
        move_session(stores, after, (SESSION_OF[before.state],))
        note(write, after, entry)

    def _add(
        self, stores: Stores, row: HandOffRow, kind: LineKind, *, name: str | None = None
    ) -> None:
        line = LineRow(
            seq=0,
            id=self.platform.new_id(),
            kind=kind,
            speaker=LineBy.CAIRN,
            name=name or row.operator,
            sealed=None,
            recorded=True,
            at=self.platform.clock(),
        )
        stores.hand_offs.add_line(row.id, line)

    def _pass_on(self, stores: Stores, row: HandOffRow, sealer: Sealer, now: datetime) -> None:
        """Give the operator the turn that the agent works on: it answers no more."""
        running = stores.chats.pass_on(row.session, now)
        if running is None:
            return
        turn_id, question = running
        text = replace(sealer, row_id=turn_id).open(question).get("message", "")
        add_message(stores, row, replace(sealer, row_id=turn_id), text, now)

    def _answer_turn(
        self, stores: Stores, row: HandOffRow, sealer: Sealer, text: str, now: datetime
    ) -> None:
        """Keep what an operator says as the answer of the customer's last message to them."""
        turn = stores.chats.last_passed(row.session)
        if turn is None:
            return
        own = replace(sealer, row_id=turn.id)
        before = own.open(turn.answer)
        words = [*([before["text"]] if before.get("text") else []), text]
        body = {**before, "text": "\n\n".join(words)}
        stores.chats.answer_by_person(turn.id, own.seal(body), now)

    def _sealer(self, row: HandOffRow) -> Sealer:
        return sealer_of(self.platform, row)

    def _sealed(self, row: HandOffRow, why: str, name: str, *, create: bool = False) -> HandOffRow:
        sealer = sealer_of(self.platform, row, create=create)
        return replace(row, sealed=sealer.seal({"why": why, "session_id": name}))

    def _settings(self, principal: Principal) -> WidgetHandOff:
        """Return how long customers wait, where the widget does not say so."""
        with self.platform.transactions.reading(system_principal(principal.workspace_id)) as stores:
            row = stores.widgets.find()
        settings = WidgetSettings.model_validate(row.settings).hand_off if row else None
        return settings or WidgetHandOff()

    def _subjects(self, principal: Principal, client: str | None) -> tuple[UUID, ...]:
        return client_subjects(self.platform, principal, client) if client else ()
