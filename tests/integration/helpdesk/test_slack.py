"""Tickets from Slack threads and answers in them, against a server that answers as documented."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.fakes.stores import InMemoryTransactions
from tests.support.helpdesk import Clock, Helpdesk
from tests.support.remembering import admin_of
from tests.support.replaying import Fault
from tests.support.slack_replay import (
    BOT_TOKEN,
    CHANNEL,
    SIGNING_SECRET,
    TEAM,
    SlackReplay,
    signed,
    slack_replay,
)

from cairn.adapters.http.help_desks import OpenHelpDesk
from cairn.kernel.errors import (
    CairnError,
    NotFound,
    RateLimited,
    Unauthenticated,
    Unavailable,
    ValidationFailed,
)
from cairn.kernel.ids import new_id
from cairn.tickets.adapter import Delivered, NeedsAuth, TicketAdapter
from cairn.tickets.polling import EventsTaken, RateLimiter
from cairn.tickets.sources import NewSource
from cairn.tickets.ticket import SourceKind, TicketStatus

SECRETS = {"bot_token": BOT_TOKEN, "signing_secret": SIGNING_SECRET}


@pytest.fixture
def slack() -> Iterator[SlackReplay]:
    with slack_replay() as replay:
        yield replay


def adapter_of(slack: SlackReplay, **more: Any) -> TicketAdapter:
    config = {"team_id": TEAM, "api_url": slack.url, **more}
    return OpenHelpDesk(allow_private=True)("slack", config, SECRETS)


@dataclass
class Office:
    """A workspace whose help desk is the Slack team."""

    slack: SlackReplay
    desk: Helpdesk
    source_id: UUID

    def deliver(self, document: Any, **more: Any) -> EventsTaken:
        body, headers = signed(document, self.desk.clock(), **more)
        return self.desk.receive(self.source_id, Delivered(body=body, headers=headers))

    def answer(self, text: str) -> UUID:
        """Investigate the ticket that waits, ask in its thread; return its id."""
        self.desk.sweep()
        investigation_id = new_id()
        with self.desk.transactions.writing(self.desk.principal) as stores:
            ticket_id = stores.tickets.claim(investigation_id, self.desk.clock()).id
        self.desk.desk.write_back(
            self.desk.workspace_id,
            ticket_id,
            investigation_id=investigation_id,
            verdict="needs_client",
            summary=text,
            minutes=1,
            private=False,
            data_subjects=(),
        )
        workspace = self.desk.workspace_id
        self.desk.desk.ended(workspace, ticket_id, investigation_id, "needs_client")
        return ticket_id


@pytest.fixture
def office(slack: SlackReplay) -> Office:
    transactions, principal = InMemoryTransactions(), admin_of(new_id())
    transactions.create_workspace(principal.workspace_id)
    desk = Helpdesk(transactions, principal, clock=Clock(now=slack.now))
    desk.sources = replace(desk.sources, open_adapter=OpenHelpDesk(allow_private=True))
    desk.receive = replace(desk.receive, adapter=desk.sources.adapter)
    desk.desk = replace(desk.desk, adapter_of=desk.sources.adapter_of)
    config = {"team_id": TEAM, "api_url": slack.url}
    new = NewSource(name="slack", kind=SourceKind.SLACK, config=config, secrets=SECRETS)
    return Office(slack=slack, desk=desk, source_id=desk.sources.create(principal, new).id)


def test_a_mention_is_a_ticket_answered_in_its_thread_and_taken_up_again(
    office: Office, slack: SlackReplay
) -> None:
    asked = slack.say("My password does not work &amp; <https://x.example|this> neither")
    assert office.deliver(asked).new == 1
    stamp = asked["event"]["ts"]
    ticket_id = office.answer("Which <one>? <!channel>")
    posted = slack.threads[CHANNEL, stamp][-1]
    assert posted["thread_ts"] == stamp
    assert posted["text"] == "Which &lt;one&gt;? &lt;!channel&gt;"
    office.desk.clock.move(minutes=10)
    slack.now += timedelta(minutes=10)
    reply = slack.say("The left one.", thread=stamp, type="message", channel_type="channel")
    assert office.deliver(reply).messages == 1
    assert office.desk.row(ticket_id).status is TicketStatus.NEW
    words = office.desk.desk.ticket(office.desk.workspace_id, ticket_id).words
    assert words.startswith("The left one.\n")
    assert "My password does not work & this (https://x.example) neither" in words


def test_a_storm_of_retries_is_one_ticket(office: Office, slack: SlackReplay) -> None:
    asked = slack.say("Help")
    taken = [office.deliver(asked) for _ in range(50)]
    assert [item.new for item in taken] == [1] + [0] * 49
    assert [item.duplicate for item in taken] == [False] + [True] * 49
    assert len(office.desk.entries("ticket.received")) == 1


def test_more_deliveries_than_a_minute_takes_are_refused_before_they_are_looked_at(
    office: Office, slack: SlackReplay
) -> None:
    office.desk.receive = replace(office.desk.receive, limiter=RateLimiter(2))
    for _ in range(2):
        office.deliver(slack.say("Help"))
    with pytest.raises(RateLimited) as refused:
        office.deliver(b"not even JSON", secret="wrong")
    assert refused.value.reason == "too-many-deliveries"


def test_the_address_is_verified_by_its_challenge_when_that_is_signed(office: Office) -> None:
    document = {"type": "url_verification", "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkv"}
    assert office.deliver(document).challenge == document["challenge"]
    with pytest.raises(Unauthenticated):
        office.deliver(document, secret="somebody else's")


def test_what_is_not_signed_now_by_this_team_is_refused(office: Office, slack: SlackReplay) -> None:
    adapter, now = adapter_of(slack), slack.now
    body, headers = signed(slack.say("Help"), now)
    adapter.verify(Delivered(body=body, headers=headers), now)
    stamp, signature = "x-slack-request-timestamp", "x-slack-signature"
    refused = [
        (body, {}, now, "unsigned"),
        (body, {signature: headers[signature]}, now, "unsigned"),
        (body, {**headers, stamp: "now"}, now, "unsigned"),
        (body, {**headers, stamp: "\u0661\u0662"}, now, "unsigned"),
        (body, {**headers, signature: "v0=\u00e9\ud800"}, now, "bad-signature"),
        (body, {**headers, stamp: str(int(headers[stamp]) + 1)}, now, "bad-signature"),
        (body + b" ", headers, now, "bad-signature"),
        (body, headers, now + timedelta(minutes=6), "stale"),
        (body, headers, now - timedelta(minutes=6), "stale"),
    ]
    for sent, given, at, reason in refused:
        with pytest.raises(Unauthenticated) as caught:
            adapter.verify(Delivered(body=sent, headers=given), at)
        assert caught.value.reason == reason


@pytest.mark.parametrize(
    "more",
    [
        {"bot_id": "B01"},
        {"subtype": "message_changed"},
        {"subtype": "channel_join"},
        {"subtype": "bot_message", "user": None},
        {"type": "reaction_added"},
        {"type": "message", "channel_type": "channel"},
        {"ts": "../../etc"},
        {"ts": 7},
        {"user": "<!here>"},
        {"channel": "C1:2"},
        {"channel": None},
    ],
)
def test_what_no_person_said_to_us_is_no_ticket(
    office: Office, slack: SlackReplay, more: dict[str, Any]
) -> None:
    taken = office.deliver(slack.say("Help") | {"event": slack.say("Help")["event"] | more})
    assert (taken.new, taken.messages) == (0, 0)


def test_another_teams_event_is_nobodys_here(office: Office, slack: SlackReplay) -> None:
    assert office.deliver({**slack.say("Help"), "team_id": "T999"}).new == 0


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b'"\\ud800'])
def test_a_body_that_cannot_be_read_is_refused(office: Office, body: bytes) -> None:
    with pytest.raises(ValidationFailed) as refused:
        office.deliver(body)
    assert refused.value.reason == "not-json"


@pytest.mark.parametrize("body", [b"[]", b"7", b"null", b"{}", b'{"event": 7, "event_id": {}}'])
def test_json_that_is_no_event_tells_nothing(office: Office, body: bytes) -> None:
    assert office.deliver(body).new == 0


@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "x" * 100_000, "\n\n"])
def test_any_text_can_be_kept(office: Office, slack: SlackReplay, text: str) -> None:
    assert office.deliver(slack.say(text)).new == 1


def test_a_direct_message_and_a_channel_that_is_taken_whole_need_no_mention(
    slack: SlackReplay,
) -> None:
    def begun(adapter: TicketAdapter, **more: Any) -> int:
        body, headers = signed(slack.say("Help", type="message", **more), slack.now)
        return len(adapter.read(Delivered(body=body, headers=headers)).tickets)

    assert begun(adapter_of(slack), channel="D024BE91L", channel_type="im") == 1
    assert begun(adapter_of(slack), channel_type="channel") == 0
    assert begun(adapter_of(slack, channels=[CHANNEL]), channel_type="channel") == 1


def test_a_thread_that_mentions_us_later_is_a_ticket_whose_first_words_count_once(
    office: Office, slack: SlackReplay
) -> None:
    root = slack.say("Among ourselves", type="message", channel_type="channel")
    asked = slack.say("@cairn help", thread=root["event"]["ts"])
    taken = office.deliver(asked)
    assert (taken.new, taken.messages) == (1, 0)
    assert office.deliver(asked).messages == 0


def test_an_answer_whose_confirmation_was_lost_is_posted_once(slack: SlackReplay) -> None:
    stamp, key = slack.say("Help")["event"]["ts"], f"{new_id()}-reply"
    slack.faults.append(Fault(cut=True, done=True, only="POST"))
    with pytest.raises(Unavailable):
        adapter_of(slack).reply(f"{CHANNEL}:{stamp}", "Done.", private=False, key=key)
    for _ in range(2):
        adapter_of(slack).reply(f"{CHANNEL}:{stamp}", "Done.", private=False, key=key)
    assert len(slack.threads[CHANNEL, stamp]) == 2


def test_a_busy_slack_is_asked_again_when_it_says(slack: SlackReplay) -> None:
    stamp = slack.say("Help")["event"]["ts"]
    slack.faults.append(Fault(status=429, headers={"Retry-After": "30"}, only="POST"))
    with pytest.raises(Unavailable) as busy:
        adapter_of(slack).reply(f"{CHANNEL}:{stamp}", "Done.", private=False, key="k")
    assert (busy.value.reason, busy.value.retry_after) == ("help-desk-busy", 30)


def test_a_revoked_token_needs_somebody_and_never_shows(slack: SlackReplay) -> None:
    slack.token = "another"
    with pytest.raises(NeedsAuth) as refused:
        adapter_of(slack).poll(None, 50)
    assert BOT_TOKEN not in repr((refused.value, refused.value.__cause__))


def test_a_token_of_another_team_is_refused_at_the_first_poll(slack: SlackReplay) -> None:
    with pytest.raises(ValidationFailed, match="another team"):
        adapter_of(slack, team_id="T0000").poll(None, 50)


@pytest.mark.parametrize("external_id", ["", "C1", "C1:x", "../x:1.1", f"{CHANNEL}:1.000001"])
def test_a_thread_that_is_not_there_is_not_answered(slack: SlackReplay, external_id: str) -> None:
    with pytest.raises(NotFound):
        adapter_of(slack).reply(external_id, "Done.", private=False, key="k")


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"team_id": "t1"}, "config.team_id"),
        ({"channels": "C1"}, "config.channels"),
        ({"channels": ["#general"]}, "config.channels"),
        ({"api_url": "ftp://x.example"}, "base_url"),
        ({"workspace": "x"}, "config.workspace"),
    ],
)
def test_settings_that_cannot_be_are_named(
    slack: SlackReplay, config: dict[str, Any], field: str
) -> None:
    with pytest.raises(CairnError) as refused:
        adapter_of(slack, **config)
    assert [error.location for error in refused.value.errors] == [field]
    assert SIGNING_SECRET not in json.dumps(str(refused.value))
