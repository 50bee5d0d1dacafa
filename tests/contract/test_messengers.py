"""The port to messaging channels, on each kind, against a server that answers as the original."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

import pytest
from tests.support import slack_replay, slack_team, teams_replay
from tests.support.replaying import Fault

from cairn.adapters.http.messengers.opening import OpenMessenger
from cairn.channels.port import Button, Clicked, Link, Message, Place, Spoken
from cairn.kernel.errors import NotFound, Unauthenticated, Unavailable
from cairn.tickets.adapter import Delivered, NeedsAuth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.replaying import Replay

    from cairn.channels.port import ChannelAdapter

CARD = Message(
    title="May this be done?",
    text="<b>Refund</b> [all](https://evil.example) & more",
    facts=(("Tool", "desk.refund"),),
    buttons=(
        Button(name="approve", label="Approve", value="binding-1", tone="good"),
        Button(name="reject", label="Reject", value="binding-1", tone="bad"),
    ),
    links=(Link(label="Open", url="https://cairn.example/console"),),
)


class Side(Protocol):
    """A kind of channel with people in it."""

    server: Replay
    channel: Place
    nowhere: Place

    def opened(self) -> ChannelAdapter: ...
    def says(self, words: str, *, thread: str = "", direct: bool = False) -> Delivered: ...
    def presses(self, place: Place, message_id: str, title: str) -> Delivered: ...
    def shown(self, place: Place) -> list[str]: ...
    def revoke(self) -> None: ...


class SlackSide:
    """A team of Slack."""

    def __init__(self, server: slack_team.SlackTeam) -> None:
        self.server: Any = server
        self.channel = Place(conversation=slack_team.GENERAL)
        self.nowhere = Place(conversation="CNOWHERE1", thread="1.000001")
        self.member = slack_team.Member(server, None, "")  # type: ignore[arg-type]

    def opened(self) -> ChannelAdapter:
        config = {"team_id": slack_replay.TEAM, "api_url": self.server.url}
        secrets = {
            "bot_token": slack_replay.BOT_TOKEN,
            "signing_secret": slack_replay.SIGNING_SECRET,
        }
        return OpenMessenger(allow_private=True)("slack", config, secrets)

    def says(self, words: str, *, thread: str = "", direct: bool = False) -> Delivered:
        where = "D0DIRECT01" if direct else slack_team.GENERAL
        event = self.member.writes(words, channel=where, thread=thread or None)
        body, headers = slack_replay.signed(event, datetime.now(UTC))
        return Delivered(body=body, headers=headers)

    def presses(self, place: Place, message_id: str, title: str) -> Delivered:
        message = self.server.message(place.conversation, message_id)
        click = self.member.click(message, title.lower())
        form = urlencode({"payload": json.dumps(click)}).encode()
        body, headers = slack_replay.signed(form, datetime.now(UTC))
        return Delivered(
            body=body, headers={**headers, "content-type": "application/x-www-form-urlencoded"}
        )

    def shown(self, place: Place) -> list[str]:
        told = self.server.told(place.conversation, place.thread or None)
        return [each["text"] + json.dumps(each.get("blocks") or "") for each in told]

    def revoke(self) -> None:
        self.server.token = "another"


class TeamsSide:
    """A tenant of Microsoft Teams."""

    def __init__(self, server: teams_replay.TeamsReplay) -> None:
        self.server: Any = server
        self.channel = Place(conversation=teams_replay.CHANNEL, via=server.service_url)
        self.nowhere = Place(conversation="a:nowhere", via=server.service_url)

    def opened(self) -> ChannelAdapter:
        config = {
            "app_id": teams_replay.APP_ID,
            "tenant_id": teams_replay.TENANT,
            "microsoft_url": self.server.url,
        }
        secrets = {"client_secret": teams_replay.SECRET}
        return OpenMessenger(allow_private=True)("teams", config, secrets)

    def says(self, words: str, *, thread: str = "", direct: bool = False) -> Delivered:
        where = teams_replay.PERSONAL if direct else teams_replay.CHANNEL
        activity = self.server.say(words, conversation=where, thread=thread)
        body, headers = self.server.signed(activity)
        return Delivered(body=body, headers=headers)

    def presses(self, place: Place, message_id: str, title: str) -> Delivered:
        body, headers = self.server.signed(self.server.press(title, where=place.conversation))
        return Delivered(body=body, headers=headers)

    def shown(self, place: Place) -> list[str]:
        thread = f";messageid={place.thread}" if place.thread else ""
        return self.server.texts(place.conversation + thread)

    def revoke(self) -> None:
        self.server.secret = "another"
        self.server.expire_tokens()


@pytest.fixture(params=["slack", "teams"])
def side(request: pytest.FixtureRequest) -> Iterator[Side]:
    with ExitStack() as stack:
        if request.param == "slack":
            yield SlackSide(stack.enter_context(slack_team.slack_team()))
        else:
            yield TeamsSide(stack.enter_context(teams_replay.teams_replay()))


def spoken_of(side: Side, delivered: Delivered) -> Spoken:
    adapter = side.opened()
    adapter.verify(delivered, datetime.now(UTC))
    (spoken,) = adapter.read(delivered).messages
    return spoken


def test_the_keys_are_good_or_it_is_said_that_they_are_not(side: Side) -> None:
    adapter = side.opened()
    assert adapter.check()
    side.revoke()
    with pytest.raises(NeedsAuth):
        adapter.post(side.channel, CARD, "key")


def test_what_is_unsigned_changed_or_late_is_not_let_in(side: Side) -> None:
    adapter, good = side.opened(), side.says("Hello")
    now = datetime.now(UTC)
    adapter.verify(good, now)
    for bad, at in (
        (replace(good, headers={}), now),
        (good, now + timedelta(days=1)),
        (good, now - timedelta(days=1)),
    ):
        with pytest.raises(Unauthenticated):
            adapter.verify(bad, at)


def test_the_same_message_told_of_twice_is_one_and_another_is_not(side: Side) -> None:
    first = side.says("Hello")
    assert spoken_of(side, first).id == spoken_of(side, first).id
    assert spoken_of(side, side.says("Hello")).id != spoken_of(side, first).id


def test_a_message_is_its_text_without_the_mention_and_knows_whom_it_is_for(side: Side) -> None:
    spoken = spoken_of(side, side.says("When does it open?"))
    assert (spoken.text, spoken.addressed, spoken.direct) == ("When does it open?", True, False)
    assert spoken.place.conversation == side.channel.conversation
    assert spoken.speaker.client.endswith(".invalid")
    alone = spoken_of(side, side.says("When does it open?", direct=True))
    assert (alone.text, alone.addressed, alone.direct) == ("When does it open?", True, True)
    assert alone.place.thread == ""
    assert alone.speaker == spoken.speaker


def test_replies_are_in_the_thread_that_a_message_begins_and_answers_are_posted_there(
    side: Side,
) -> None:
    adapter = side.opened()
    first = spoken_of(side, side.says("When does it open?"))
    reply = spoken_of(side, side.says("And when does it close?", thread=first.place.thread))
    other = spoken_of(side, side.says("Something else"))
    assert reply.place == first.place
    assert other.place != first.place
    adapter.post(first.place, Message(text="At six."), "key")
    assert len(side.shown(first.place)) == 1
    assert side.shown(other.place) == []


def test_what_is_posted_in_a_conversation_begins_a_thread_of_the_name_that_is_returned(
    side: Side,
) -> None:
    adapter = side.opened()
    posted = adapter.post(side.channel, CARD, "key")
    reply = spoken_of(side, side.says("Yes", thread=posted))
    assert reply.place.thread == posted
    adapter.post(reply.place, Message(text="Done."), "key-2")
    assert len(side.shown(reply.place)) == 2


def test_a_press_brings_back_its_button_and_value_and_the_message_is_changed(side: Side) -> None:
    adapter = side.opened()
    posted = adapter.post(side.channel, CARD, "key")
    delivered = side.presses(side.channel, posted, "Approve")
    adapter.verify(delivered, datetime.now(UTC))
    (clicked,) = adapter.read(delivered).clicks
    assert isinstance(clicked, Clicked)
    assert (clicked.button, clicked.value) == ("approve", "binding-1")
    assert (clicked.message_id, clicked.place.conversation) == (posted, side.channel.conversation)
    adapter.update(
        replace(clicked.place, thread=posted), posted, Message(title="Refund", text="Granted.")
    )
    (shown,) = side.shown(side.channel)
    assert "Granted." in shown and "Approve" not in shown


def test_somebody_is_known_by_name_and_nobody_is_not(side: Side) -> None:
    adapter = side.opened()
    spoken = spoken_of(side, side.says("Hello"))
    profile = adapter.profile(spoken.speaker, spoken.place)
    assert profile.name
    assert not profile.outsider and not profile.app
    with pytest.raises(NotFound):
        adapter.profile(replace(spoken.speaker, user="UNOBODY"), spoken.place)


def test_where_nothing_is_nothing_can_be_posted(side: Side) -> None:
    with pytest.raises(NotFound):
        side.opened().post(side.nowhere, Message(text="Hello"), "key")


def test_a_busy_channel_says_when_to_come_again_and_has_posted_nothing(side: Side) -> None:
    adapter = side.opened()
    adapter.check()
    side.server.faults.append(Fault(status=429, headers={"retry-after": "30"}, only="POST"))
    with pytest.raises(Unavailable) as busy:
        adapter.post(side.channel, CARD, "key")
    assert busy.value.retry_after == 30
    assert side.shown(side.channel) == []
    side.server.faults.append(Fault(cut=True, done=True, only="POST"))
    with pytest.raises(Unavailable):
        adapter.post(side.channel, CARD, "key")
    assert len(side.shown(side.channel)) == 1
