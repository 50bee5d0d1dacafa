"""Answers what people say to the agent in a thread. Not what operators do (`operating.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from cairn.channels.channel import ChannelSettings, InboundState
from cairn.channels.port import Message
from cairn.chat.recording import in_public
from cairn.chat.rows import TurnState
from cairn.chat.turns import Ask, Counting
from cairn.chat.widget import MOST_MESSAGE_CHARS
from cairn.chat.widget_sessions import WITH_PERSON, count
from cairn.conversations.messages import Channel, GateReason, MessageRole, NewMessage
from cairn.kernel.access import Scope
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, RateLimited, Unavailable
from cairn.kernel.ids import derived_id
from cairn.kernel.text.hashes import sha256
from cairn.writing.items import IdempotencyKey

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.channels.channel import ChannelRow, InboundRow
    from cairn.channels.port import ChannelAdapter, Spoken
    from cairn.channels.sessions import ThreadSession, ThreadSessions
    from cairn.chat.answer import AnswerTurn
    from cairn.chat.hand_offs import HandOffs
    from cairn.chat.tools import Toolbox
    from cairn.chat.turns import Turn, Turns
    from cairn.chat.views import TurnView
    from cairn.conversations.record import RecordMessage
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

DAY = timedelta(days=1)
EMPTY = "Write me what you need, and I look into it."
TOO_LONG = f"This is more than I can read at once: write {MOST_MESSAGE_CHARS:,} characters at most."
OUTSIDER = "I answer members of this organisation only."
NOT_ANSWERED = "I could not answer this. Please try again later."


@dataclass(frozen=True, slots=True, kw_only=True)
class Converse:
    """Takes what somebody said in a thread, once, and posts the answer there.

    Every limit is counted before any model or embedder is asked.
    """

    platform: Platform
    sessions: ThreadSessions
    turns: Turns
    answer: AnswerTurn
    tools: Callable[[Principal, ThreadSession], Toolbox]
    hand_offs: HandOffs
    record: RecordMessage

    def __call__(
        self,
        workspace_id: UUID,
        channel: ChannelRow,
        adapter: ChannelAdapter,
        inbound: InboundRow,
        spoken: Spoken,
    ) -> InboundState:
        """Return what became of it; what the channel raises is to be tried again."""

        def post(text: str, what: str = "") -> None:
            key, again = f"{inbound.id}{what}", inbound.attempts > 1
            adapter.post(spoken.place, Message(text=text), key, again=again)

        settings = ChannelSettings.model_validate(channel.settings)
        session = self.sessions.find(workspace_id, channel, inbound.thread)
        if session is None:
            profile = adapter.profile(spoken.speaker, spoken.place)
            if not settings.answers or profile.app or (profile.outsider and not settings.outsiders):
                was_told = self._was_refused(workspace_id, inbound)
                if settings.answers and not profile.app and not was_told:
                    post(OUTSIDER)
                self._record(workspace_id, channel, inbound, spoken, GateReason.SENDER_NOT_ALLOWED)
                return InboundState.REFUSED
            session = self.sessions.open(workspace_id, channel, inbound, spoken.place)
        elif not settings.answers and session.row.state not in WITH_PERSON:
            self._record(workspace_id, channel, inbound, spoken, GateReason.SENDER_NOT_ALLOWED)
            return InboundState.REFUSED
        if session is None:
            raise Unavailable("The thread's session ended meanwhile.", reason="session-state")
        text = spoken.text.strip()
        if not text or len(text) > MOST_MESSAGE_CHARS:
            post(TOO_LONG if text else EMPTY)
            self._record(workspace_id, channel, inbound, spoken, GateReason.OTHER)
            return InboundState.REFUSED
        try:
            view = self._turn(session, inbound, text)
        except RateLimited:
            self._busy(session, post)
            self._record(workspace_id, channel, inbound, spoken, GateReason.OTHER)
            return InboundState.REFUSED
        self._note_busy(session, busy=False)
        if view.state is not TurnState.PASSED:  # else the person who has the chat is told
            post(words_of(view))
        return InboundState.DONE

    def _turn(self, session: ThreadSession, inbound: InboundRow, text: str) -> TurnView:
        """Return the turn of what was said, worked on; one that a dead worker left is aborted.

        Who calls this has the thread for itself: what runs in it is nobody's any more.
        """
        ids = [derived_id(inbound.id, "turn", number) for number in range(1, inbound.attempts + 1)]
        for before in ids[:-1]:
            view = self._shown(session, before)
            if view is not None and view.state is TurnState.RUNNING:
                self.turns.abort(session.principal, before)
            elif view is not None and view.state is not TurnState.ABORTED:
                return view
        counting = Counting(
            key=session.row.counted,
            require=partial(count, session),
            channel=Channel.of_door(session.channel),
        )
        ask = Ask(
            message=text,
            session_id=session.name,
            turn_id=ids[-1],
            client_id=session.row.client_id,
        )
        turn = self.turns.begin(session.principal, ask, counting=counting)
        if turn.fresh:
            self._work(session, turn)
        return self.turns.show(session.principal, turn.id)

    def _work(self, session: ThreadSession, turn: Turn) -> None:
        try:
            self.answer(turn, self.tools(turn.principal, session))
            self.hand_offs.after_answer(session)
        finally:
            self.sessions.spend(session, turn.id)

    def _shown(self, session: ThreadSession, turn_id: UUID) -> TurnView | None:
        try:
            return self.turns.show(session.principal, turn_id)
        except CairnError:
            return None

    def _busy(self, session: ThreadSession, post: Callable[[str, str], None]) -> None:
        """Say once that there are too many messages, until one is answered again."""
        with self.platform.transactions.reading(system_principal(session.workspace_id)) as stores:
            was_told = stores.messaging.is_busy(session.row.id)
        if not was_told:
            post(session.busy, ":busy")
            self._note_busy(session, busy=True)

    def _note_busy(self, session: ThreadSession, *, busy: bool) -> None:
        system = system_principal(session.workspace_id)
        with self.platform.transactions.preparing(system) as (stores, _):
            stores.messaging.tell_busy(session.row.id, busy=busy)

    def _was_refused(self, workspace_id: UUID, inbound: InboundRow) -> bool:
        """Return whether somebody was told in this thread that they may not."""
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            return stores.messaging.refused_in(inbound.thread, inbound.received_at - DAY) > 0

    def _record(
        self,
        workspace_id: UUID,
        channel: ChannelRow,
        inbound: InboundRow,
        spoken: Spoken,
        reason: GateReason,
    ) -> None:
        """Keep in the conversation what was turned away."""
        if not spoken.text.strip():
            return
        slug = ChannelSettings.model_validate(channel.settings).agent
        message = NewMessage(
            channel=Channel.of_door(channel.kind.value),
            session_id=f"{channel.id}:{inbound.thread.hex()}",
            role=MessageRole.USER,
            text=spoken.text,
            accepted=False,
            gate_reason=reason,
            client_id=inbound.client_id,
            scope=Scope.PUBLIC,
            agents=(slug,) if slug else (),
            infer=False,
        )
        key = IdempotencyKey(
            key=f"channel:{inbound.id}", body_hash=sha256(str(inbound.id).encode())
        )
        self.record(in_public(system_principal(workspace_id), slug), message, idempotency=key)


def words_of(view: TurnView) -> str:
    """Return an answer as a thread shows it: its words, and the sources that they do not name."""
    text = (view.answer or "").strip() or NOT_ANSWERED
    unnamed = [each for each in view.citations if each not in text]
    return f"{text}\n\n{' '.join(unnamed)}" if unnamed else text
