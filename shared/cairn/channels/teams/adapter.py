"""Microsoft Teams as a messaging channel: activities in, messages and cards out. Not the HTTP.

A place is a chat, personal or of a group, or a channel of a team; there each reply chain is a
thread, whose name is the id of the message that began it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from cairn.channels.port import Clicked, Heard, Place, Profile, Speaker, Spoken
from cairn.channels.teams import activities, cards
from cairn.channels.teams.activities import Activity, activity_of
from cairn.tickets.adapter import text_at
from cairn.tickets.deliveries import record_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cairn.channels.port import Delivered, Message
    from cairn.channels.teams.door import BotDoor

SERVICE_URL = "https://smba.trafficmanager.net/teams/"
"""Where a bot begins that nobody wrote to yet; else it answers where the activity came from."""

THREAD_MARK = ";messageid="
TAKEN = "Taken. The card changes when it is done."


class TeamsClient(Protocol):
    """What of the Bot Connector a channel needs; a refusal raises."""

    def sign_in(self) -> None: ...
    def member(self, service_url: str, conversation: str, user: str) -> Mapping[str, Any]: ...
    def send(self, service_url: str, conversation: str, activity: Mapping[str, Any]) -> str:
        """Say something in a conversation; return the activity's id."""
        ...

    def begin(self, service_url: str, channel: str, activity: Mapping[str, Any]) -> str:
        """Begin a reply chain in a channel of a team; return the id of its first message."""
        ...

    def update(
        self, service_url: str, conversation: str, sent: str, activity: Mapping[str, Any]
    ) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamsChannel:
    """Implements `ChannelAdapter`. Teams keeps no key of a message: `again` posts it once more."""

    client: TeamsClient
    door: BotDoor
    service_url: str = SERVICE_URL

    def check(self) -> str:
        """Return the bot's id; raise when its secret is not good."""
        self.client.sign_in()
        return self.door.app_id

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated, or Denied, unless the Bot Connector sent this to this bot, now."""
        authorization = delivered.headers.get("authorization", "")
        self.door.check(authorization, record_of(delivered), now)

    def read(self, delivered: Delivered) -> Heard:
        """Return what somebody wrote or pressed; nothing for what else happens."""
        activity = activity_of(record_of(delivered))
        if activity is None:
            return Heard()
        place, speaker = _place(activity), _speaker(activity, self.door.tenant_id)
        if activity.pressed is not None:
            clicked = Clicked(
                id=activity.id,
                place=place,
                message_id=activity.reply_to,
                speaker=speaker,
                button=activity.pressed.get(cards.BUTTON, ""),
                value=activity.pressed.get(cards.VALUE, ""),
                at=activity.at,
            )
            answer = cards.invoke_answer(TAKEN) if activity.invoked else None
            return Heard(clicks=(clicked,), answer=answer)
        if not activity.text:
            return Heard()
        spoken = Spoken(
            id=f"{activity.conversation} {activity.id}",
            place=place,
            speaker=speaker,
            text=activity.text,
            at=activity.at,
            addressed=activity.mentioned,
            direct=activity.place is activities.Place.PERSONAL,
        )
        return Heard(messages=(spoken,))

    def profile(self, speaker: Speaker, place: Place) -> Profile:
        """Return what Teams knows of somebody who is in a place."""
        member = self.client.member(place.via or self.service_url, place.conversation, speaker.user)
        role, tenant = text_at(member, "userRole"), text_at(member, "tenantId").casefold()
        guest = "#ext#" in text_at(member, "userPrincipalName").casefold()
        own = role in ("", "user") and tenant in ("", self.door.tenant_id.casefold())
        return Profile(name=text_at(member, "name")[:200], outsider=guest or not own)

    def post(self, place: Place, message: Message, key: str, *, again: bool = False) -> str:
        """Post a message and return its id."""
        where, activity = place.via or self.service_url, cards.activity(message)
        if is_channel(place.conversation) and not place.thread:
            return self.client.begin(where, place.conversation, activity)
        return self.client.send(where, _conversation(place), activity)

    def update(self, place: Place, message_id: str, message: Message) -> None:
        """Show another message in the place of one of ours."""
        where = place.via or self.service_url
        chain = place if place.thread else replace(place, thread=message_id)
        self.client.update(where, _conversation(chain), message_id, cards.activity(message))


def is_channel(conversation: str) -> bool:
    """Return whether a conversation is a channel of a team, which alone has threads."""
    return conversation.endswith(("@thread.tacv2", "@thread.skype"))


def _place(activity: Activity) -> Place:
    conversation, _, root = activity.conversation.partition(THREAD_MARK)
    if activity.place is activities.Place.CHANNEL or is_channel(conversation):
        return Place(
            conversation=conversation, thread=root or activity.id, via=activity.service_url
        )
    return Place(conversation=conversation, via=activity.service_url)


def _conversation(place: Place) -> str:
    if is_channel(place.conversation) and place.thread:
        return f"{place.conversation}{THREAD_MARK}{place.thread}"
    return place.conversation


def _speaker(activity: Activity, tenant: str) -> Speaker:
    user = activity.object_id or activity.user
    return Speaker(user=user, team=tenant, client=f"{user}@{tenant}.teams.invalid")
