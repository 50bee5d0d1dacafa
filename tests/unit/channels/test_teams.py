"""Teams without its HTTP: who is let in, what activities say, what a bot writes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from tests.support.teams_replay import CHANNEL, GROUP, MEGAN, PERSONAL, TENANT, TeamsReplay

from cairn.channels.port import Button, Link, Message, Place
from cairn.channels.teams import cards
from cairn.channels.teams.adapter import TeamsChannel
from cairn.channels.teams.door import BotDoor, require_service_url
from cairn.kernel.errors import CairnError, Denied, Unauthenticated, ValidationFailed
from cairn.tickets.adapter import Delivered

if TYPE_CHECKING:
    from collections.abc import Mapping

NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
APP = "c9e8c047-2a74-40a2-b28a-b162d5f5327c"


class Nobody:
    """No Bot Connector: what is tested here asks nothing."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


@pytest.fixture(scope="module")
def teams() -> TeamsReplay:
    replay = TeamsReplay(url="https://smba.trafficmanager.net", now=NOW)
    replay.publish("webchat-only", "webchat")
    replay.publish("good")
    return replay


def channel(teams: TeamsReplay) -> TeamsChannel:
    def key(key_id: str) -> Mapping[str, Any] | None:
        if key_id not in teams.keys:
            return None
        private, endorsements = teams.keys[key_id]
        half = json.loads(RSAAlgorithm.to_jwk(private.public_key()))
        del half["key_ops"]
        return {**half, "kid": key_id, "use": "sig", "endorsements": list(endorsements)}

    door = BotDoor(app_id=APP, tenant_id=TENANT, keys=key)
    nobody: Any = Nobody()
    return TeamsChannel(client=nobody, door=door)


def verify(teams: TeamsReplay, activity: Any, **changes: Any) -> None:
    body, headers = teams.signed(activity, **changes)
    channel(teams).verify(Delivered(body=body, headers=headers), NOW)


def test_an_activity_that_the_bot_connector_signed_is_let_in(teams: TeamsReplay) -> None:
    verify(teams, teams.say("Hello"))
    verify(teams, teams.say("Hello"), serviceurl="https://smba.trafficmanager.net/teams")
    late = int((NOW - timedelta(minutes=4, seconds=59)).timestamp())
    verify(teams, teams.say("Clocks differ by five minutes"), exp=late)


STRANGER = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
AGO = int((NOW - timedelta(minutes=5)).timestamp())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"algorithm": "none"}, "token-algorithm"),
        ({"algorithm": "HS256", "key": "x" * 64}, "token-algorithm"),
        ({"algorithm": "RS512"}, "token-algorithm"),
        ({"headers": {"crit": ["b64"]}}, "token-malformed"),
        ({"key": STRANGER}, "token-signature"),
        ({"key": STRANGER, "headers": {"kid": "mine"}}, "token-key"),
        ({"exp": AGO}, "token-expired"),
        ({"nbf": int((NOW + timedelta(minutes=6)).timestamp())}, "token-early"),
        ({"exp": None}, "token-claims"),
        ({"exp": "soon"}, "token-claims"),
        ({"aud": "another-bot"}, "token-audience"),
        ({"aud": None}, "token-claims"),
        ({"iss": "https://sts.windows.net/tenant/"}, "token-issuer"),
        ({"serviceurl": None}, "service-url"),
        ({"serviceurl": "https://smba.trafficmanager.net/amer/"}, "service-url"),
        ({"serviceUrl": "https://elsewhere.example/"}, "service-url"),
    ],
)
def test_a_token_that_does_not_hold_lets_nobody_in(
    teams: TeamsReplay, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises((Unauthenticated, Denied)) as refused:
        verify(teams, teams.say("Hello"), **changes)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    "sent", ["", "Bearer ", "Basic abc", "Bearer a.b", "Bearer " + "x" * 20_000]
)
def test_what_is_no_token_is_refused_before_anything_else(teams: TeamsReplay, sent: str) -> None:
    body = json.dumps(teams.say("Hello")).encode()
    with pytest.raises(Unauthenticated):
        channel(teams).verify(Delivered(body=body, headers={"authorization": sent}), NOW)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"channelId": "webchat"}, "channel"),
        ({"channelData": {"tenant": {"id": "another"}}}, "tenant"),
        ({"channelData": {}, "conversation": {"id": PERSONAL}}, "tenant"),
        ({"conversation": {"id": PERSONAL, "tenantId": "another"}}, "tenant"),
        ({"serviceUrl": "https://elsewhere.example/"}, "service-url"),
    ],
)
def test_an_activity_of_another_channel_tenant_or_place_is_denied(
    teams: TeamsReplay, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Denied) as refused:
        verify(teams, {**teams.say("Hello"), **changes})
    assert refused.value.reason == reason


def test_a_key_that_is_endorsed_for_other_channels_says_nothing_for_teams(
    teams: TeamsReplay,
) -> None:
    key = teams.keys["webchat-only"][0]
    with pytest.raises(Denied) as refused:
        verify(teams, teams.say("Hello"), key=key, headers={"kid": "webchat-only"})
    assert refused.value.reason == "endorsement"


@pytest.mark.parametrize(
    "url",
    [
        "http://smba.trafficmanager.net/teams/",
        "https://smba.trafficmanager.net.evil.example/",
        "https://evil.trafficmanager.net/",
        "https://smba.trafficmanager.net@evil.example/",
        "https://smba.trafficmanager.net:8443/",
        "https://evil.example\\@smba.trafficmanager.net/",
        "https://smba.trafficmanager.net/?a=b",
        "https://smba.trafficmanager.net/#x",
        "https://smba.trafficmanager.net/ x",
        "https://[smba/",
        "https://169.254.169.254/",
        "",
    ],
)
def test_the_bots_token_goes_to_no_other_host_than_microsofts(teams: TeamsReplay, url: str) -> None:
    with pytest.raises(Denied):
        require_service_url(url)
    with pytest.raises(Denied):  # nor where a token says so
        verify(teams, {**teams.say("Hello"), "serviceUrl": url}, serviceurl=url)


def heard(teams: TeamsReplay, activity: Any) -> Any:
    return channel(teams).read(Delivered(body=json.dumps(activity).encode(), headers={}))


def test_a_message_of_a_personal_chat_is_read(teams: TeamsReplay) -> None:
    record = teams.say("Where is my order?")
    (said,) = heard(teams, record).messages
    assert (said.text, said.addressed, said.direct) == ("Where is my order?", True, True)
    assert said.place == Place(conversation=PERSONAL, via=teams.service_url)
    assert (said.speaker.user, said.speaker.team) == (MEGAN.object_id, TENANT)
    assert said.speaker.client == f"{MEGAN.object_id}@{TENANT}.teams.invalid"
    assert said.at == NOW


def test_a_reply_chain_of_a_channel_is_a_thread_and_the_mention_is_no_text(
    teams: TeamsReplay,
) -> None:
    (first,) = heard(teams, teams.say("What is up?", conversation=CHANNEL)).messages
    (reply,) = heard(
        teams, teams.say("And now?", conversation=CHANNEL, thread=first.place.thread)
    ).messages
    assert (first.text, first.addressed, first.direct) == ("What is up?", True, False)
    assert first.place == reply.place
    (other,) = heard(teams, teams.say("Else?", conversation=CHANNEL)).messages
    assert other.place != first.place
    unmentioned = teams.say("x", conversation=CHANNEL, text="Just us here", entities=[])
    assert heard(teams, unmentioned).messages[0].addressed is False


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"text": "<at>Cairn</at>&nbsp;help"}, "help"),
        ({"text": "\r\n<at>Cairn</at> who\r\n\r\nare you\u00a0?"}, "who\n\nare you ?"),
        ({"text": "<at>Cairn</at> ask <at>Ole</at>"}, "ask Ole"),
        ({"text": "<at>Cairn</at> a\x00b\ud800c"}, "abc"),
        ({"text": "<at>Cairn</at> 2 < 3"}, "2 < 3"),
    ],
)
def test_the_text_is_what_was_written(
    teams: TeamsReplay, changes: dict[str, Any], text: str
) -> None:
    (said,) = heard(teams, teams.say("x", conversation=GROUP, **changes)).messages
    assert said.text == text
    assert said.place.thread == ""


def test_who_is_mentioned_stands_in_the_entities_not_in_the_text(teams: TeamsReplay) -> None:
    faked = teams.say("x", conversation=CHANNEL, text="<at>Cairn</at> obey", entities=[])
    (said,) = heard(teams, faked).messages
    assert (said.text, said.addressed) == ("Cairn obey", False)


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "conversationUpdate"},
        {"type": "messageReaction"},
        {"type": "typing"},
        {"type": "invoke", "name": "composeExtension/query", "value": {}},
        {"text": "   "},
        {"text": 7},
        {"from": {"id": f"28:{APP}", "name": "Cairn"}},
        {"from": {"id": "29:x", "role": "bot"}},
    ],
)
def test_what_nobody_said_is_not_heard(teams: TeamsReplay, changes: dict[str, Any]) -> None:
    found = heard(teams, {**teams.say("Hello"), **changes})
    assert (found.messages if changes.get("text") != 7 else ()) == ()
    assert found.clicks == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"id": ""},
        {"id": "x" * 501},
        {"id": "a b"},
        {"from": {}},
        {"from": "me"},
        {"recipient": None},
        {"conversation": []},
        {"timestamp": "yesterday"},
    ],
)
def test_an_activity_without_who_where_or_when_is_refused(
    teams: TeamsReplay, changes: dict[str, Any]
) -> None:
    with pytest.raises(ValidationFailed):
        heard(teams, {**teams.say("Hello"), **changes})


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"\xff", b"[" * 100_000])
def test_a_body_of_another_form_is_refused_or_tells_nothing(
    teams: TeamsReplay, body: bytes
) -> None:
    with pytest.raises(CairnError):
        channel(teams).verify(Delivered(body=body, headers=teams.signed(b"{}")[1]), NOW)


@pytest.mark.parametrize("value", ["x", [], {"action": 7}, {"action": {"data": "x"}}, None])
def test_an_invoke_that_presses_nothing_of_ours_is_not_taken(
    teams: TeamsReplay, value: Any
) -> None:
    record = {**teams.say("x"), "type": "invoke", "name": "adaptiveCard/action", "value": value}
    assert heard(teams, record).clicks == ()


MESSAGE = Message(
    title="Approve?",
    text="Refund **[all](https://evil.example)** <at>Everyone</at>",
    facts=(("Arguments", '{"amount": 12}'),),
    buttons=(Button(name="approve", label="Approve", value="token-1", tone="good"),),
    links=(Link(label="Open", url="https://cairn.example/console"),),
)


@pytest.mark.parametrize("old", [False, True])
def test_a_buttons_press_brings_back_what_it_carries(teams: TeamsReplay, old: bool) -> None:
    shown = {**cards.activity(MESSAGE), "id": "1500", "from": {"id": "28:x"}}
    teams.said[f"{CHANNEL};messageid=1500"] = [shown]
    found = heard(teams, teams.press("Approve", where=CHANNEL, old=old))
    (clicked,) = found.clicks
    assert (clicked.button, clicked.value, clicked.message_id) == ("approve", "token-1", "1500")
    assert clicked.place.thread == "1500"
    assert found.messages == ()
    assert (found.answer is None) == old
    if found.answer:
        assert found.answer["type"] == "application/vnd.microsoft.activity.message"


def test_text_of_others_stands_in_a_card_as_runs_that_know_no_markdown() -> None:
    card = cards.card(MESSAGE)
    assert [each["type"] for each in card["body"]] == ["RichTextBlock"] * 4
    assert card["body"][1]["inlines"][0]["text"] == MESSAGE.text
    assert [each["type"] for each in card["actions"]] == ["Action.Execute", "Action.OpenUrl"]
    assert card["actions"][0]["fallback"]["type"] == "Action.Submit"
    assert "entities" not in card["msteams"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See [your bank](https://evil.example/x)", "See your bank (https://evil.example/x)"),
        ("![](https://evil.example/p.png)", "https://evil.example/p.png"),
        ('[a](<https://evil.example> "title")', "a (https://evil.example)"),
        ("[a][1]\n\n[1]: https://evil.example", "\\[a\\]\\[1\\]\n\n\\[1\\]: https://evil.example"),
        (
            "<at>All</at> <a href='x'>y</a>",
            "&lt;at&gt;All&lt;/at&gt; &lt;a href='x'&gt;y&lt;/a&gt;",
        ),
        ("[[a](b)](https://evil.example)", "\\[a (b)\\](https://evil.example)"),
        ("&lt;at&gt;", "&amp;lt;at&amp;gt;"),
        ("**bold**, `code`\n- list", "**bold**, `code`\n- list"),
    ],
)
def test_a_text_mentions_nobody_and_hides_no_address(text: str, shown: str) -> None:
    said = cards.activity(Message(text=text))
    assert (said["text"], said["textFormat"]) == (shown, "markdown")
    assert "entities" not in said


@pytest.mark.parametrize("letter", ["a", "\u00fc", "&", "\U0001f600", "["])
def test_the_longest_message_stays_below_what_teams_takes(letter: str) -> None:
    text = cards.activity(Message(text=letter * 50_000))["text"]
    assert text.endswith("\u2026")
    assert 5_000 < len(text.encode()) <= 28_000
    facts = tuple((str(at), letter * 5_000) for at in range(10))
    assert len(json.dumps(cards.card(Message(text="", title="x", facts=facts)))) <= 28_000
