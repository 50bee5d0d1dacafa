"""What operators do in a channel: decide by buttons, take chats, and answer in their threads.

Who clicks has to be a person here, by a tie; what a button is about stands with the message that
Cairn posted, and is not taken from the click. Each deed is the console's own, with its refusals.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.channels.channel import InboundState, PostedAs
from cairn.channels.port import Clicked, Message, Place
from cairn.channels.ties import code_in
from cairn.investigations.approvals import AlreadyDecided
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, Conflict, Unavailable, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.channels.channel import ChannelRow, InboundRow, PostRow
    from cairn.channels.port import ChannelAdapter, Spoken
    from cairn.channels.ties import ChannelTies
    from cairn.chat.hand_offs import HandOffs
    from cairn.investigations.approvals import Approvals
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

APPROVE, REJECT = "approve", "reject"
ACCEPT, TAKE_OVER, RELEASE = "accept", "take-over", "release"
GIVE_BACK, CLOSE, TICKET = "give-back", "close", "ticket"

STRANGER = (
    "I do not know who you are here. Make a code in the console (Administration, Channels), and "
    "send it to me as a direct message: tie CODE"
)
TIED = "You are {name} here now. What you decide and say in this channel counts as yours."
NO_CODE = "This code is not good any more, or never was. Make another in the console."
HOUR, MOST_CODES = timedelta(hours=1), 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Operate:
    """Does what an operator clicked or wrote, once."""

    platform: Platform
    ties: ChannelTies
    approvals: Approvals
    hand_offs: HandOffs

    def tie(
        self,
        workspace_id: UUID,
        channel: ChannelRow,
        adapter: ChannelAdapter,
        inbound: InboundRow,
        spoken: Spoken,
    ) -> InboundState | None:
        """Take the code that somebody sends to the app alone; None for what is no code."""
        code = code_in(spoken.text) if spoken.direct else None
        if code is None:
            return None
        if self._refused(workspace_id, inbound) >= MOST_CODES:
            return InboundState.REFUSED
        user = spoken.speaker.user
        name = self.ties.redeem(workspace_id, channel.id, user, code)
        if name is None and inbound.attempts > 1:  # a try before may have taken it
            tied = self.ties.principal(workspace_id, channel.id, user)
            name = tied.name if tied else None
        text = NO_CODE if name is None else TIED.format(name=name)
        key, again = f"{inbound.id}", inbound.attempts > 1
        adapter.post(spoken.place, Message(text=text), key, again=again)
        return InboundState.REFUSED if name is None else InboundState.DONE

    def __call__(
        self,
        workspace_id: UUID,
        channel: ChannelRow,
        adapter: ChannelAdapter,
        inbound: InboundRow,
        event: Clicked | Spoken,
        post: PostRow,
    ) -> InboundState:
        """Do it as the person that who acts is here; whoever is refused is told why."""
        message_id = post.message_id or ""
        thread = Place(
            conversation=event.place.conversation, thread=message_id, via=event.place.via
        )

        def tell(text: str) -> None:
            again = inbound.attempts > 1
            adapter.post(thread, Message(text=text), f"{inbound.id}", again=again)

        person = self.ties.principal(workspace_id, channel.id, event.speaker.user)
        if person is None:
            if not self._refused(workspace_id, inbound):
                tell(STRANGER)
            return InboundState.REFUSED
        try:
            self._do(person, inbound, event, post)
        except Unavailable:
            raise
        except CairnError as refusal:
            if self._was_done_before(person, inbound, refusal):
                return InboundState.DONE
            tell(f"{person.name}: {refusal.detail}")
            return InboundState.REFUSED
        return InboundState.DONE

    def _do(
        self, person: Principal, inbound: InboundRow, event: Clicked | Spoken, post: PostRow
    ) -> None:
        if not isinstance(event, Clicked):
            if post.role is PostedAs.HAND_OFF:
                self.hand_offs.say(person, post.about, event.text, line_id=inbound.id)
            return
        if post.role is PostedAs.APPROVAL:
            self._decide(person, event, post)
            return
        do = self._deeds(person, post.about).get(event.button)
        if do is None:
            raise ValidationFailed("There is no such button.", reason="button")
        do()

    def _decide(self, person: Principal, event: Clicked, post: PostRow) -> None:
        """Decide exactly what was shown: the binding of the click has to be the question's."""
        if self.approvals.get(person, post.about).binding != event.value:
            raise Conflict(
                "This is not what was shown: look at it again.", reason="changed-content"
            )
        if event.button == APPROVE:
            self.approvals.approve(person, post.about, binding=event.value)
        elif event.button == REJECT:
            self.approvals.reject(person, post.about, reason=f"{person.name} said no.")
        else:
            raise ValidationFailed("There is no such button.", reason="button")

    def _deeds(self, person: Principal, about: UUID) -> dict[str, Callable[[], object]]:
        chats = self.hand_offs
        return {
            ACCEPT: lambda: chats.accept(person, about),
            TAKE_OVER: lambda: chats.accept(person, about, take_over=True),
            RELEASE: lambda: chats.release(person, about),
            GIVE_BACK: lambda: chats.give_back(person, about),
            CLOSE: lambda: chats.close(person, about, f"{person.name} closed it in a channel."),
            TICKET: lambda: chats.to_ticket(person, about),
        }

    def _was_done_before(self, person: Principal, inbound: InboundRow, refusal: CairnError) -> bool:
        """Return whether a try of the same click, cut off, did it."""
        if inbound.attempts < 2:
            return False
        if isinstance(refusal, AlreadyDecided):
            return refusal.fields.get("decided_by") == str(person.principal_id)
        return refusal.reason in ("hand-off-over", "not-yours")

    def _refused(self, workspace_id: UUID, inbound: InboundRow) -> int:
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            return stores.messaging.refused_in(inbound.thread, inbound.received_at - HOUR)
