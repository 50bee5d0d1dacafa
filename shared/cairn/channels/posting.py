"""What channels are told of questions to people and of chats, brought up to how they stand.

A message of ours is posted once and then changed; of a chat the lines since are posted in its
thread. It is looked at anew whenever something moves: what was told before is not told again, also
when whoever told it died.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.channels import operating as deeds
from cairn.channels.channel import LEASE, PostedAs
from cairn.channels.port import Button, Link, Message, Place
from cairn.chat.handoff import OPEN, HandOffState, LineBy, LineKind
from cairn.investigations.ports import ApprovalState
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, NotFound, Unavailable
from cairn.kernel.text.canonical import format_timestamp
from cairn.tickets.adapter import NeedsAuth

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.channels.channel import ChannelRow, PostRow
    from cairn.channels.keep import Channels
    from cairn.channels.port import ChannelAdapter
    from cairn.chat.hand_off_views import BrowseChats, ChatDetail
    from cairn.chat.hand_offs import HandOffs
    from cairn.chat.handoff import HandOffRow, Line
    from cairn.investigations.approvals import Approvals
    from cairn.investigations.ports import QuestionView
    from cairn.investigations.views import ApprovalView
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

ROUNDS = 20
MOST_CHARS = 600
MOST_SAID = 8

HAPPENED = {
    LineKind.ACCEPTED: "{name} answers now.",
    LineKind.LEFT: "{name} has left; somebody else is waited for.",
    LineKind.RETURNED: "The agent answers again.",
    LineKind.CLOSED: "{name} has closed this chat.",
    LineKind.TICKET: "This chat became a ticket.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TellChannels:
    """Brings what channels show up to how something stands. `console_url` is where people decide.

    `about` is an approval or a hand-off; of another thing nothing is told.
    """

    platform: Platform
    channels: Channels
    approvals: Approvals
    hand_offs: HandOffs
    chats: BrowseChats
    console_url: str = ""

    def __call__(self, workspace_id: UUID, about: UUID) -> str:
        """Return what it was; what a channel raises is to be tried again, and holds up no other."""
        system = system_principal(workspace_id)
        with self.platform.transactions.reading(system) as stores:
            question = stores.approvals.find(about)
            chat = None if question else stores.hand_offs.find(about)
            channels = {each.id: each for each in stores.messaging.all() if not each.paused}
        if question is None and chat is None:
            return "gone"
        self._begin(system, tuple(channels.values()), question, chat)
        with self.platform.transactions.reading(system) as stores:
            posts = stores.messaging.posts_of(about)
        problems: list[CairnError] = []
        for post in posts:
            if channel := channels.get(post.channel_id):
                try:
                    self._bring_up(system, channel, post)
                except CairnError as problem:
                    problems.append(problem)
        if problems:
            raise problems[0]
        return "approval" if question else "chat"

    def _begin(
        self,
        system: Principal,
        channels: Sequence[ChannelRow],
        question: QuestionView | None,
        chat: HandOffRow | None,
    ) -> None:
        """Keep which messages there are to be."""
        waits = question is not None and question.state is ApprovalState.PENDING
        about = question.id if question else chat.id if chat else None
        role = PostedAs.APPROVAL if question else PostedAs.HAND_OFF
        now = self.platform.clock()
        with self.platform.transactions.preparing(system) as (stores, _):
            messaging = stores.messaging
            if about is not None and (waits or (chat is not None and chat.state in OPEN)):
                for channel in channels:
                    if channel.operators:
                        place = Place(conversation=channel.operators)
                        messaging.begin_post(channel.id, about, role, place, now)
            if chat is not None and chat.chat_session_id is not None:
                where = messaging.place_of(chat.chat_session_id)
                if where is not None:
                    messaging.begin_post(where[0], chat.id, PostedAs.CUSTOMER, where[1], now)

    def _bring_up(self, system: Principal, channel: ChannelRow, post: PostRow) -> None:
        """Bring one message up, alone; who comes meanwhile makes it look once more.

        They raise Unavailable, and come again: who holds it may have died.
        """
        for _ in range(ROUNDS):
            now = self.platform.clock()
            with self.platform.transactions.preparing(system) as (stores, _):
                again = stores.messaging.hold_post(post, now, now + LEASE)
            if again is None:
                raise Unavailable("Somebody works at this message.", reason="channel-held")
            try:
                self._tell(system, channel, post, again=again)
            except CairnError as problem:
                with self.platform.transactions.preparing(system) as (stores, _):
                    stores.messaging.expire_post(post, self.platform.clock())
                    if isinstance(problem, NeedsAuth):
                        stores.messaging.failed(channel.id, problem.reason)
                raise
            with self.platform.transactions.preparing(system) as (stores, _):
                stores.messaging.failed(channel.id, None)
                stirred = stores.messaging.free_post(post)
            if not stirred:
                return
        raise Unavailable("This chat moves faster than it can be told.", reason="channel-busy")

    def _tell(self, system: Principal, channel: ChannelRow, post: PostRow, *, again: bool) -> None:
        with self.platform.transactions.reading(system) as stores:
            posts = stores.messaging.posts_of(post.about)
            question = stores.approvals.find(post.about)
        post = next(
            each for each in posts if (each.channel_id, each.role) == (post.channel_id, post.role)
        )
        adapter = self.channels.adapter(system, channel)
        try:
            if question is not None:
                self._tell_question(system, adapter, post, question, again=again)
            else:
                self._tell_chat(system, adapter, post, again=again)
        except NotFound as gone:  # the conversation, or our message in it: nobody can be told
            fields = {"channel_id": str(channel.id), "reason": gone.reason}
            self.platform.warn("channel.not_told", fields)
            with self.platform.transactions.preparing(system) as (stores, _):
                stores.messaging.failed(channel.id, "not-found")

    def _tell_question(
        self,
        system: Principal,
        adapter: ChannelAdapter,
        post: PostRow,
        question: QuestionView,
        *,
        again: bool,
    ) -> None:
        shown = question.state.value
        if post.shown == shown:
            return
        if question.state is ApprovalState.PENDING:
            message = asking(self.approvals.get(system, question.id), self._link("approvals"))
        else:
            message = decided(question, self._decider(system, question))
        if post.message_id is None and question.state is not ApprovalState.PENDING and not again:
            self._keep(system, replace(post, shown=shown))
            return
        self._show(system, adapter, post, message, shown, again=again)

    def _tell_chat(
        self, system: Principal, adapter: ChannelAdapter, post: PostRow, *, again: bool
    ) -> None:
        row = self.hand_offs.find(system, post.about)
        if post.role is PostedAs.CUSTOMER:
            self._tell_lines(system, adapter, post, row, post.place, again=again)
            return
        shown = f"{row.state.value}:{row.operator_id or ''}"
        if post.shown != shown:
            message = chat_message(self.chats.show(row), self._link(f"chats/{row.id}"))
            first = post.message_id is None
            post = self._show(system, adapter, post, message, shown, again=again)
            if first:  # what was said before stands in the message
                post = self._keep(system, replace(post, seq=max(post.seq, 1)))
        thread = replace(post.place, thread=post.message_id or "")
        self._tell_lines(system, adapter, post, row, thread, again=again)

    def _tell_lines(
        self,
        system: Principal,
        adapter: ChannelAdapter,
        post: PostRow,
        row: HandOffRow,
        thread: Place,
        *,
        again: bool,
    ) -> None:
        """Post each line after the last one that was told, and keep how far it is after each."""
        for line in self.hand_offs.lines(system, row, after=post.seq):
            text = self._words(system, post, row, line)
            if text:
                key = f"{row.id}:{post.role.value}:{line.seq}"
                adapter.post(thread, Message(text=text), key, again=again)
            again = False
            post = self._keep(system, replace(post, seq=line.seq))

    def _words(self, system: Principal, post: PostRow, row: HandOffRow, line: Line) -> str:
        """Return a line as the other side reads it; empty for what they wrote, or know."""
        name = line.name or "A member of our team"
        customers = post.role is PostedAs.CUSTOMER
        if line.kind is not LineKind.SAID:
            if line.kind is LineKind.REQUESTED:
                return ""
            words = HAPPENED[line.kind].format(name=name)
            ticket = line.kind is LineKind.TICKET and row.ticket_id
            return f"{words} Its number is {row.ticket_id}." if ticket else words
        if line.text is None:
            return ""
        if line.speaker is LineBy.CUSTOMER:
            return "" if customers else f"Customer: {line.text}"
        if not customers and self._written_here(system, post, line):
            return ""
        return f"{name}: {line.text}"

    def _written_here(self, system: Principal, post: PostRow, line: Line) -> bool:
        """Return whether an operator wrote a line in this channel's own thread."""
        with self.platform.transactions.reading(system) as stores:
            return stores.messaging.wrote_line(post.channel_id, post.about, line.seq)

    def _show(
        self,
        system: Principal,
        adapter: ChannelAdapter,
        post: PostRow,
        message: Message,
        shown: str,
        *,
        again: bool,
    ) -> PostRow:
        """Post a message, or put another in its place."""
        if post.message_id is None:
            key = f"{post.about}:{post.role.value}"
            posted = adapter.post(post.place, message, key, again=again)
            return self._keep(system, replace(post, message_id=posted, shown=shown))
        adapter.update(post.place, post.message_id, message)
        return self._keep(system, replace(post, shown=shown))

    def _keep(self, system: Principal, post: PostRow) -> PostRow:
        with self.platform.transactions.preparing(system) as (stores, _):
            stores.messaging.keep_post(post)
        return post

    def _decider(self, system: Principal, question: QuestionView) -> str:
        if question.decided_by is None:
            return ""
        with self.platform.transactions.reading(system) as stores:
            person = stores.people.credentials(question.decided_by)
        return person.name if person else "somebody with a key"

    def _link(self, path: str) -> str:
        return f"{self.console_url}/console/{path}" if self.console_url else ""


def asking(view: ApprovalView, console: str) -> Message:
    """Return a question as operators see it, with its buttons. Pure."""
    arguments = json.dumps(dict(view.arguments), ensure_ascii=False, sort_keys=True, indent=1)
    facts = [
        ("Tool", view.tool),
        ("Rule", view.rule or "-"),
        ("Undo", view.rollback or "nothing undoes this"),
        ("Until", format_timestamp(view.expires_at)),
    ]
    pieces = [view.why, f"Arguments:\n{arguments}"]
    if view.rehearsal:
        pieces.append(f"Dry run:\n{cut(view.rehearsal)}")
    if view.evidence:
        evidence = "\n".join(f"{each.citation} {cut(each.text, 200)}" for each in view.evidence[:6])
        pieces.append(f"Evidence:\n{evidence}")
    return Message(
        title=f"May this be done? {view.title or view.tool}",
        text="\n\n".join(piece for piece in pieces if piece),
        facts=tuple(facts),
        buttons=(
            Button(name=deeds.APPROVE, label="Approve", value=view.binding, tone="good"),
            Button(name=deeds.REJECT, label="Reject", value=view.binding, tone="bad"),
        ),
        links=(Link(label="Change it in the console", url=f"{console}/{view.id}"),)
        if console
        else (),
    )


def decided(question: QuestionView, name: str) -> Message:
    """Return a question that waits no more: what became of it, and nothing of what it was. Pure."""
    by = f" by {name}" if name else ""
    at = f", {format_timestamp(question.decided_at)}" if question.decided_at else ""
    return Message(title=question.tool, text=f"{question.state.value.capitalize()}{by}{at}.")


def chat_message(chat: ChatDetail, console: str) -> Message:
    """Return a chat as operators see it: why a person is wanted, and how it got there. Pure."""
    lines = [
        f"{each.name or each.by.capitalize()}: {cut(each.text)}"
        for each in chat.transcript
        if each.text
    ][-MOST_SAID:]
    tools = [
        f"{each.tool}: {each.error or cut(each.result or '', 200)}" for each in chat.tool_calls
    ]
    pieces = [chat.why or "", *lines]
    if tools:
        pieces.append("Tools: " + "; ".join(tools[-MOST_SAID:]))
    if chat.citations:
        pieces.append("Cited: " + " ".join(chat.citations[:MOST_SAID]))
    states = {
        HandOffState.PENDING: "A chat waits for a person",
        HandOffState.ACTIVE: f"{chat.operator} answers a chat",
        HandOffState.CLOSED: "A chat was closed",
        HandOffState.RETURNED: "The agent answers this chat again",
        HandOffState.TICKET: "A chat became a ticket",
    }
    facts = [("From", chat.channel), ("Customer", chat.client_id or "anonymous")]
    if chat.ticket_id:
        facts.append(("Ticket", str(chat.ticket_id)))
    return Message(
        title=states[chat.state],
        text="\n\n".join(piece for piece in pieces if piece) or "-",
        facts=tuple(facts),
        buttons=_buttons(chat),
        links=(Link(label="Open in the console", url=console),) if console else (),
    )


def _buttons(chat: ChatDetail) -> tuple[Button, ...]:
    labels: dict[str, str] = {}
    if chat.state is HandOffState.PENDING:
        labels = {deeds.ACCEPT: "Accept", deeds.TICKET: "Make a ticket"}
    if chat.state is HandOffState.ACTIVE:
        labels = {
            deeds.CLOSE: "Close",
            deeds.GIVE_BACK: "Give back to the agent",
            deeds.RELEASE: "Leave it to others",
            deeds.TICKET: "Make a ticket",
            deeds.TAKE_OVER: "Take over",
        }
    first = next(iter(labels), "")
    return tuple(
        Button(name=name, label=label, value=str(chat.id), tone="good" if name == first else "")
        for name, label in labels.items()
    )


def cut(text: str, most: int = MOST_CHARS) -> str:
    """Return a text of so many characters at most. Pure."""
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"
