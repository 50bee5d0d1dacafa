"""A bot at the Bot Connector, against a server that answers as Microsoft documents it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from tests.support.replaying import Fault
from tests.support.teams_replay import (
    APP_ID,
    CHANNEL,
    GUEST,
    MEGAN,
    PERSONAL,
    SECRET,
    TENANT,
    Member,
    TeamsReplay,
    teams_replay,
)

from cairn.adapters.http.desks.declaring import Opening
from cairn.adapters.http.messengers.teams import MESSENGER
from cairn.adapters.http.rest import rest_breakers
from cairn.adapters.http.teams import BotAccount, BotConnector, BotTokens
from cairn.channels.port import Button, Message, Place, Speaker
from cairn.connectors.port import ConnectorUnauthorised, OutcomeUnknown
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.errors import (
    NotFound,
    RateLimited,
    Unauthenticated,
    ValidationFailed,
)
from cairn.tickets.adapter import Delivered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cairn.channels.teams.adapter import TeamsChannel

HELLO = Message(text="Hello")
CARD = Message(text="?", title="Approve?", buttons=(Button(name="y", label="Yes", value="1"),))


@pytest.fixture
def teams() -> Iterator[TeamsReplay]:
    with teams_replay() as replay:
        yield replay


def opened(
    teams: TeamsReplay, secret: str = SECRET, *, allow_private: bool = True, **config: Any
) -> Any:
    settings = {"app_id": APP_ID, "tenant_id": TENANT, "microsoft_url": teams.url, **config}
    settings = {name: value for name, value in settings.items() if value is not None}
    secrets = {"client_secret": secret}
    MESSENGER.config.check("config", settings)
    MESSENGER.secrets.check("secrets", secrets)
    return MESSENGER.open(
        Opening(
            config=settings,
            secrets=secrets,
            allow_private=allow_private,
            transport=None,
            clock=utc_now,
            stopwatch=monotonic,
            breakers=rest_breakers(),
        )
    )


def personal(teams: TeamsReplay) -> Place:
    return Place(conversation=PERSONAL, via=teams.service_url)


def test_a_message_and_a_card_are_said_and_changed_where_they_belong(teams: TeamsReplay) -> None:
    bot: TeamsChannel = opened(teams)
    sent = bot.post(personal(teams), HELLO, "key")
    bot.update(personal(teams), sent, Message(text="Hello again"))
    assert teams.texts(PERSONAL) == ["Hello again"]
    root = bot.post(Place(conversation=CHANNEL, via=teams.service_url), CARD, "key")
    thread = Place(conversation=CHANNEL, thread=root, via=teams.service_url)
    bot.post(thread, HELLO, "key")
    bot.update(replace(thread, thread=""), root, Message(text="Done", title="Approved"))
    assert teams.texts(f"{CHANNEL};messageid={root}") == ["Approved\nDone", "Hello"]
    assert teams.issued == 1


def test_a_bot_that_nobody_wrote_to_yet_begins_at_the_known_address(teams: TeamsReplay) -> None:
    bot: TeamsChannel = opened(teams)
    bot.post(Place(conversation=CHANNEL), CARD, "key")
    assert len(teams.texts(CHANNEL)) == 1


def test_a_token_is_used_until_its_end_and_made_anew_when_it_is_refused(
    teams: TeamsReplay,
) -> None:
    now = 0.0
    account = BotAccount(
        app_id=APP_ID,
        tenant_id=TENANT,
        secret=SECRET,
        login_url=teams.url,
        service_origins=frozenset({teams.url}),
        allow_private=True,
    )
    assert SECRET not in repr(account)
    bot = BotConnector(account=account, tokens=BotTokens(stopwatch=lambda: now))
    for _ in range(3):
        bot.sign_in()
    assert teams.issued == 1
    now = 3_299.0
    bot.sign_in()
    assert teams.issued == 2
    teams.expire_tokens()
    bot.send(teams.service_url, PERSONAL, {"type": "message", "text": "Hello"})
    assert teams.issued == 3
    assert teams.texts() == ["Hello"]


def test_a_secret_that_is_no_longer_good_needs_somebody(teams: TeamsReplay) -> None:
    bot: TeamsChannel = opened(teams)
    assert bot.check() == APP_ID
    teams.secret = "another"
    with pytest.raises(ConnectorUnauthorised):
        opened(teams, "wrong").check()
    teams.expire_tokens()
    with pytest.raises(ConnectorUnauthorised):
        bot.post(personal(teams), HELLO, "key")
    with pytest.raises(ConnectorUnauthorised):
        opened(teams, tenant_id=APP_ID).check()
    assert teams.said == {}


def test_a_token_that_is_refused_twice_is_not_asked_for_a_third_time(teams: TeamsReplay) -> None:
    bot: TeamsChannel = opened(teams)
    teams.faults.extend(Fault(status=401, where=lambda asked: "/v3/" in asked.path) for _ in "ab")
    with pytest.raises(ConnectorUnauthorised):
        bot.post(personal(teams), HELLO, "key")
    assert (teams.issued, teams.count("POST", "/activities")) == (2, 2)


@pytest.mark.parametrize("status", [412, 429])
def test_too_many_requests_come_again_as_late_as_teams_asks(
    teams: TeamsReplay, status: int
) -> None:
    bot: TeamsChannel = opened(teams)
    bot.check()
    teams.faults.append(Fault(status=status, headers={"retry-after": "17"}))
    with pytest.raises(RateLimited) as limited:
        bot.post(personal(teams), HELLO, "key")
    assert limited.value.retry_after == 17
    assert teams.said == {}


@pytest.mark.parametrize("fault", [Fault(status=502, done=True), Fault(cut=True, done=True)])
def test_a_message_without_an_answer_is_not_said_twice_by_itself(
    teams: TeamsReplay, fault: Fault
) -> None:
    bot: TeamsChannel = opened(teams)
    bot.check()
    teams.faults.append(fault)
    with pytest.raises(OutcomeUnknown):
        bot.post(personal(teams), HELLO, "key")
    assert teams.texts() == ["Hello"]


def test_a_change_without_an_answer_is_made_again(teams: TeamsReplay) -> None:
    bot: TeamsChannel = opened(teams)
    sent = bot.post(personal(teams), HELLO, "key")
    teams.faults.append(Fault(status=504, only="PUT"))
    bot.update(personal(teams), sent, Message(text="Changed"))
    assert teams.texts() == ["Changed"]


def test_where_the_bot_is_not_there_is_nothing_to_write(teams: TeamsReplay) -> None:
    bot: TeamsChannel = opened(teams)
    gone = Place(conversation="a:gone", via=teams.service_url)
    with pytest.raises(NotFound):
        bot.post(gone, HELLO, "key")
    with pytest.raises(NotFound):
        bot.update(personal(teams), "1", HELLO)
    blocked = {"errorCode": 209, "message": '{"subCode": "MessageWritesBlocked"}'}
    teams.faults.append(Fault(status=403, body=blocked))
    with pytest.raises(NotFound):
        bot.post(personal(teams), HELLO, "key")


def test_a_redirect_is_not_followed_with_the_token(teams: TeamsReplay) -> None:
    bot: TeamsChannel = opened(teams)
    bot.check()
    teams.faults.append(Fault(status=307, headers={"location": "/teams/v3/elsewhere"}))
    with pytest.raises(ValidationFailed):
        bot.post(personal(teams), HELLO, "key")
    assert teams.count("POST", "elsewhere") == 0


def test_ids_of_a_conversation_lead_nowhere_else(teams: TeamsReplay) -> None:
    bot: TeamsChannel = opened(teams)
    sly = Place(conversation="../../../oauth2?x=#", via=teams.service_url)
    with pytest.raises(NotFound):
        bot.post(sly, HELLO, "key")
    assert unquote(teams.asked[-1].path) == f"/teams/v3/conversations/{sly.conversation}/activities"


ANONYMOUS = Member(id="29:anonymous", object_id="", name="Anon1 (Guest)", role="anonymous")
ELSEWHERE = Member(id="29:elsewhere", object_id="", name="Fay", tenant=APP_ID)


def test_guests_and_people_of_elsewhere_are_outsiders(teams: TeamsReplay) -> None:
    bot: TeamsChannel = opened(teams)
    teams.members += (ANONYMOUS, ELSEWHERE)

    def profile(member: Member) -> Any:
        user = member.object_id or member.id
        speaker = Speaker(user=user, team=TENANT, client="x")
        return bot.profile(speaker, personal(teams))

    assert (profile(MEGAN).name, profile(MEGAN).outsider) == ("Megan Bowen", False)
    assert all(profile(each).outsider for each in (GUEST, ANONYMOUS, ELSEWHERE))
    with pytest.raises(NotFound):
        bot.profile(Speaker(user="29:nobody", team=TENANT, client="x"), personal(teams))


def test_the_connectors_keys_are_read_once_and_again_when_they_rotate(teams: TeamsReplay) -> None:
    bot: TeamsChannel = opened(teams)

    def verify(**changes: Any) -> None:
        body, headers = teams.signed(teams.say("Hello"), **changes)
        bot.verify(Delivered(body=body, headers=headers), datetime.now(UTC))

    for _ in range(5):
        verify()
    assert (teams.count("GET", "openidconfiguration"), teams.count("GET", "keys")) == (1, 1)
    with pytest.raises(Unauthenticated):
        verify(headers={"kid": "of nobody"})
    assert teams.count("GET", "keys") == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"app_id": "my-bot"}, "config.app_id"),
        ({"tenant_id": None}, "config.tenant_id"),
        ({"operators": PERSONAL}, "config.operators"),
        ({"service_url": "https://evil.example/teams/"}, "config.service_url"),
        ({"service_url": "http://169.254.169.254/"}, "config.service_url"),
        ({"microsoft_url": "ftp://127.0.0.1/"}, "base_url"),
        ({"login_url": "https://evil.example"}, "config.login_url"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(
    teams: TeamsReplay, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        opened(teams, **changes)
    assert refused.value.errors[0].location == field


def test_nothing_stands_in_for_microsoft_but_on_a_laptop(teams: TeamsReplay) -> None:
    with pytest.raises(ValidationFailed) as refused:
        opened(teams, allow_private=False)
    assert refused.value.errors[0].location == "config.microsoft_url"
    assert opened(teams, allow_private=False, microsoft_url=None).service_url
