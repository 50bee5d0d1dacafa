"""What the webhooks of Jira, Linear and ConnectWise bring, and what the desks alone do so."""

import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.support import connectwise_replay
from tests.support.desks import (
    MARA,
    Autotask,
    ConnectWise,
    Desk,
    Halo,
    Jira,
    Linear,
    desk_of,
    intercom_signed,
    signed,
    zendesk_signed,
)
from tests.support.halopsa_replay import TENANT
from tests.support.jira_replay import account
from tests.support.linear_replay import TEAM
from tests.support.replaying import Fault

from cairn.adapters.http.help_desks import OpenHelpDesk
from cairn.kernel.errors import Unauthenticated, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.tickets.adapter import Delivered, Events, NeedsAuth, TicketAdapter
from cairn.tickets.desks.halopsa import time_of
from cairn.tickets.desks.jira import jql_time
from cairn.tickets.desks.linear import comment_id
from cairn.tickets.desks.walking import MAX_SEEN, Walk, read_walk

KEY = f"{new_id()}-reply"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def opened(kind: str) -> Iterator[Any]:
    with desk_of(kind) as desk:
        yield desk


@pytest.fixture
def jira() -> Iterator[Jira]:
    yield from opened("jira")


@pytest.fixture
def linear() -> Iterator[Linear]:
    yield from opened("linear")


@pytest.fixture
def halo() -> Iterator[Halo]:
    yield from opened("halopsa")


@pytest.fixture
def autotask() -> Iterator[Autotask]:
    yield from opened("autotask")


@pytest.fixture
def connectwise() -> Iterator[ConnectWise]:
    yield from opened("connectwise")


def taken(adapter: TicketAdapter, delivered: Delivered, now: datetime) -> Events:
    adapter.verify(delivered, now)
    return adapter.read(delivered)


def unsigned_ones(body: bytes, header: str, prefix: str = "") -> list[dict[str, str]]:
    forged = signed(body + b" ", header, prefix).headers[header]
    return [{}, {header: ""}, {header: prefix + "00"}, {header: forged}, {header: "\ud800\u00e9"}]


# --- Jira


def jira_event(desk: Jira, event: str, ticket: str, **more: Any) -> Delivered:
    issue = desk.replay.issues[ticket]
    document = {"timestamp": 1772442000000, "webhookEvent": event, "issue": issue, **more}
    headers = {"x-atlassian-webhook-identifier": "b2f1-1"}
    return signed(document, "x-hub-signature", "sha256=", **headers)


def test_a_signed_request_of_jira_is_a_ticket(jira: Jira) -> None:
    ticket = jira.ask("Door", "It rattles.")
    events = taken(jira.open(), jira_event(jira, "jira:issue_created", ticket), jira.replay.now)
    assert (events.delivery_id, events.messages) == ("b2f1-1", ())
    assert [(item.external_id, item.body) for item in events.tickets] == [(ticket, "It rattles.")]


def test_what_a_customer_comments_is_a_message_and_a_colleague_is_none(jira: Jira) -> None:
    ticket, adapter = jira.ask("Door", "x"), jira.open()
    jira.write(ticket, "The left one.")
    jira.colleague(ticket, "I look into it.")
    theirs, ours = jira.replay.comments[ticket]
    events = adapter.read(jira_event(jira, "comment_created", ticket, comment=theirs))
    (message,) = events.messages
    assert (message.ticket, message.author, message.text) == (ticket, MARA, "The left one.")
    assert adapter.read(jira_event(jira, "comment_created", ticket, comment=ours)).messages == ()
    assert adapter.read(jira_event(jira, "comment_updated", ticket, comment=theirs)).messages == ()


def test_what_a_reporter_notes_internally_is_no_message(jira: Jira) -> None:
    ticket, adapter = jira.ask("Door", "x"), jira.open()
    cursor = adapter.poll(None, 50).cursor
    jira.move(minutes=1)
    jira.replay.comment(ticket, "Between us.", account("mara", MARA), public=False)
    assert adapter.poll(cursor, 50).messages == ()


def test_another_projects_request_brings_nothing(jira: Jira) -> None:
    ticket = jira.ask("Door", "x")
    jira.replay.issues[ticket]["fields"]["project"] = {"key": "OPS"}
    events = jira.open().read(jira_event(jira, "jira:issue_updated", ticket))
    assert (events.tickets, events.messages) == ((), ())


def test_a_reporter_who_hides_the_address_is_still_one_person(jira: Jira) -> None:
    mara = account("557058:mara", "")
    ticket = jira.replay.add("Door", None, mara)["id"]
    adapter = jira.open()
    (incoming,) = adapter.poll(None, 50).tickets
    assert (incoming.requester_email, incoming.body) == ("qm.557058.mara@jira.invalid", "")
    _, cursor = None, adapter.poll(None, 50).cursor
    jira.move(minutes=1)
    jira.replay.comment(ticket, "The left one.", mara)
    (message,) = adapter.poll(cursor, 50).messages
    assert message.author == incoming.requester_email


def test_a_transition_that_the_workflow_does_not_have_is_refused(jira: Jira) -> None:
    with pytest.raises(ValidationFailed) as refused:
        jira.open().set_status(jira.ask("Door", "x"), "needs_l2")
    assert refused.value.reason == "no-such-status"


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/St_Johns", "Mars/Olympus", "UTC"])
def test_changes_are_asked_for_in_the_accounts_own_time_zone(jira: Jira, zone: str) -> None:
    jira.replay.zone = "UTC" if zone == "Mars/Olympus" else zone
    adapter = jira.open(backfill_hours=1)
    ticket = jira.ask("Door", "x")
    page = adapter.poll(None, 50)
    jira.move(minutes=30)
    jira.touch(ticket)
    assert [item.external_id for item in adapter.poll(page.cursor, 50).tickets] == [ticket]


def test_the_hour_that_clocks_show_twice_is_asked_for_whole() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    first, second = (datetime(2026, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1))
    assert jql_time(first, berlin) == "2026-10-25 01:30"
    assert jql_time(second, berlin) <= "2026-10-25 02:30"
    assert jql_time(NOON, berlin) == "2026-03-02 13:00"


# --- Linear


def linear_event(
    desk: Linear, kind: str, data: Any, *, late: float = 0, action: str = "create"
) -> Delivered:
    sent_at = int((desk.replay.now.timestamp() - late) * 1000)
    document = {"action": action, "type": kind, "data": data, "webhookTimestamp": sent_at}
    return signed(document, "linear-signature", **{"linear-delivery": "234d1a4e"})


def test_a_signed_issue_of_linear_is_a_ticket(linear: Linear) -> None:
    issue = linear.replay.add("Door", "It rattles.", {"id": "mara", "email": MARA}, priority=1)
    events = taken(linear.open(), linear_event(linear, "Issue", issue), linear.replay.now)
    assert events.delivery_id == "234d1a4e"
    (ticket,) = events.tickets
    assert (ticket.external_id, ticket.requester_email) == (issue["id"], MARA)
    assert ticket.priority.value == "critical"
    assert ticket.source_metadata["identifier"] == f"{TEAM}-1"


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        ({"team": {"key": "OPS"}}, {}),
        ({"creator": None}, {}),
        ({}, {"action": "remove"}),
        ({}, {"kind": "Project"}),
    ],
    ids=["another team", "nobody opened it", "removed", "no issue"],
)
def test_what_is_no_ticket_of_the_team_brings_none(
    linear: Linear, changes: dict[str, Any], more: dict[str, Any]
) -> None:
    issue = linear.replay.add("Door", "x", {"id": "mara", "email": MARA}, **changes)
    kind = more.pop("kind", "Issue")
    assert linear.open().read(linear_event(linear, kind, issue, **more)).tickets == ()


def test_somebody_from_outside_is_heard_and_a_colleague_is_not(linear: Linear) -> None:
    ticket, adapter = linear.ask("Door", "x"), linear.open()
    issue = {"id": ticket, "identifier": f"{TEAM}-1", "team": {"key": TEAM}}
    pat = {"id": "pat", "email": "pat@northwind.example"}
    outside = linear.replay.comment(ticket, "Same here.", externalUser=pat)
    events = adapter.read(linear_event(linear, "Comment", {**outside, "issue": issue}))
    (message,) = events.messages
    assert (message.ticket, message.author) == (ticket, "pat@northwind.example")
    linear.colleague(ticket, "I look into it.")
    colleague = {**linear.replay.issues[ticket]["comments"][-1], "issue": issue}
    assert adapter.read(linear_event(linear, "Comment", colleague)).messages == ()


def test_a_delivery_of_another_minute_is_refused(linear: Linear) -> None:
    adapter, now = linear.open(), linear.replay.now
    adapter.verify(linear_event(linear, "Issue", {}, late=59), now)
    for late in (61, -61, 86_400):
        with pytest.raises(Unauthenticated) as refused:
            adapter.verify(linear_event(linear, "Issue", {}, late=late), now)
        assert refused.value.reason == "stale"
    for odd in ({}, {"webhookTimestamp": "9" * 400}, {"webhookTimestamp": None}, [], 7):
        with pytest.raises(Unauthenticated):
            adapter.verify(signed(odd, "linear-signature"), now)


def test_a_comments_id_follows_from_its_key() -> None:
    assert comment_id(KEY) == comment_id(KEY) != comment_id(KEY + "x")


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (400, "AUTHENTICATION_ERROR", NeedsAuth),
        (400, "RATELIMITED", Unavailable),
        (200, "RATELIMITED", Unavailable),
        (200, "INVALID_INPUT", ValidationFailed),
        (400, "GRAPHQL_VALIDATION_FAILED", ValidationFailed),
    ],
)
def test_what_graphql_refuses_is_told_apart(
    linear: Linear, status: int, code: str, error: type[Exception]
) -> None:
    body = {"errors": [{"message": "No.", "extensions": {"code": code}}], "data": None}
    linear.replay.faults.append(Fault(status=status, body=body))
    with pytest.raises(error):
        linear.open().poll(None, 50)


# --- HaloPSA


def test_a_token_that_ended_is_made_anew_once(halo: Halo) -> None:
    adapter = halo.open()
    adapter.poll(None, 50)
    halo.replay.tokens.clear()
    adapter.reply(halo.ask("Help", "x"), "Done.", private=False, key=KEY)
    assert halo.replay.count("POST", "/auth/token") == 2


def test_a_client_that_was_taken_back_needs_somebody(halo: Halo) -> None:
    halo.replay.revoked = True
    with pytest.raises(NeedsAuth):
        halo.open().poll(None, 50)


def test_a_tenant_is_named_where_tokens_are_made(halo: Halo) -> None:
    halo.open(tenant=TENANT).poll(None, 50)
    assert halo.replay.asked[0].query == {"tenant": TENANT}


def test_another_users_action_has_an_address_that_names_them(halo: Halo) -> None:
    ticket, adapter = halo.ask("Help", "<p>It <b>rattles</b>.</p>"), halo.open()
    page = adapter.poll(None, 50)
    assert page.tickets[0].body == "It rattles."
    halo.move(minutes=1)
    halo.replay.act(int(ticket), "Same here.", who="Pat \u00d8 Lee")
    halo.replay.act(int(ticket), "By mail.", who="Jo", emailfrom="jo@northwind.example")
    halo.replay.act(int(ticket), "Between us.", who="Jo", hiddenfromuser=True)
    messages = adapter.poll(page.cursor, 50).messages
    assert {item.author for item in messages} == {
        "Pat.Lee@halopsa.invalid",
        "jo@northwind.example",
    }


def test_a_time_that_stands_for_none_is_none() -> None:
    for text in ("0001-01-01T00:00:00", "1900-01-01T00:00:00", "", "soon"):
        assert time_of({"at": text}, "at") is None
    assert time_of({"at": "2026-03-02T12:00:00.0000001Z"}, "at") == NOON


# --- Autotask


def test_the_zone_is_looked_up_once_and_its_keys_are_not_sent_there(autotask: Autotask) -> None:
    adapter = autotask.open()
    adapter.poll(None, 50)
    adapter.poll(None, 50)
    zones = [item for item in autotask.replay.asked if item.path.endswith("/zoneInformation")]
    assert len(zones) == 1
    assert "secret" not in zones[0].headers
    config = {**autotask.config, "api_url": autotask.config["zones_url"]}
    OpenHelpDesk(allow_private=True)("autotask", config, autotask.secrets).poll(None, 50)
    assert autotask.replay.count("GET", "/zoneInformation") == 1


@pytest.mark.parametrize("url", ["https://evil.example/", "https://evilautotask.net/", "", "x"])
def test_a_zone_that_is_nobodys_is_not_given_the_keys(autotask: Autotask, url: str) -> None:
    autotask.replay.zone_url = url or "https://"
    with pytest.raises(Unavailable):
        autotask.open().poll(None, 50)


def test_time_is_not_booked_without_a_resource_and_a_role(autotask: Autotask) -> None:
    config = {name: autotask.config[name] for name in ("username", "zones_url", "resource_id")}
    adapter = OpenHelpDesk(allow_private=True)("autotask", config, autotask.secrets)
    assert not adapter.capabilities().time_entries


def test_only_the_queues_tickets_are_taken(autotask: Autotask) -> None:
    autotask.ask("Ours", "x")
    (ticket,) = autotask.open(queue_id="5").poll(None, 50).tickets
    assert ticket.title == "Ours"
    assert autotask.open(queue_id="6").poll(None, 50).tickets == ()


def test_another_contacts_note_has_their_address(autotask: Autotask) -> None:
    ticket, adapter = autotask.ask("Help", "x"), autotask.open()
    cursor = adapter.poll(None, 50).cursor
    autotask.move(minutes=1)
    pat = autotask.replay.put("Contacts", emailAddress="pat@northwind.example", companyID=1)
    autotask.replay.note(int(ticket), "Same here.", createdByContactID=pat["id"])
    (message,) = adapter.poll(cursor, 50).messages
    assert message.author == "pat@northwind.example"


def test_a_ticket_without_contact_and_company_is_one(autotask: Autotask) -> None:
    autotask.replay.add("Alert", "Disk full", {"id": None, "companyID": None})
    (ticket,) = autotask.open().poll(None, 50).tickets
    assert (ticket.requester_email, ticket.customer) == (None, "")


# --- ConnectWise


def callback(desk: ConnectWise, ticket: str, action: str = "updated") -> Delivered:
    body = desk.replay.callback(int(ticket), action)
    return Delivered(body=body, headers=connectwise_replay.signed(body))


def test_a_signed_callback_brings_its_ticket_as_the_desk_has_it(connectwise: ConnectWise) -> None:
    ticket = connectwise.ask("Door", "It rattles.")
    connectwise.write(ticket, "The left one.")
    now = connectwise.replay.now
    events = taken(connectwise.open(), callback(connectwise, ticket), now)
    assert [(item.external_id, item.body) for item in events.tickets] == [(ticket, "It rattles.")]
    assert [(item.text, item.author) for item in events.messages] == [("The left one.", MARA)]
    deleted = callback(connectwise, ticket, "deleted")
    assert connectwise.open().read(deleted).tickets == ()
    assert connectwise.open(board="Projects").read(callback(connectwise, ticket)).tickets == ()


def test_only_the_boards_tickets_are_taken(connectwise: ConnectWise) -> None:
    connectwise.ask("Ours", "x")
    assert len(connectwise.open(board="help desk").poll(None, 50).tickets) == 1
    assert connectwise.open(board="Projects").poll(None, 50).tickets == ()
    with pytest.raises(ValidationFailed):
        connectwise.open(board='x" or id>0 or summary="')


def test_notes_between_members_and_of_others_are_told_apart(connectwise: ConnectWise) -> None:
    ticket, adapter = connectwise.ask("Door", "x"), connectwise.open()
    cursor = adapter.poll(None, 50).cursor
    connectwise.move(minutes=1)
    pat = {"id": 78, "name": "Pat"}
    connectwise.replay.note(int(ticket), "Between us.", contact=pat, internalAnalysisFlag=True)
    connectwise.replay.note(int(ticket), "Same here.", contact=pat)
    (message,) = adapter.poll(cursor, 50).messages
    assert (message.text, message.author) == ("Same here.", "contact-78@connectwise.invalid")


def test_time_is_booked_for_a_member(connectwise: ConnectWise) -> None:
    connectwise.open(member="cairn").log_time(connectwise.ask("x", "y"), 30, "n", key=KEY)
    (entry,) = connectwise.replay.times
    assert entry["member"] == {"identifier": "cairn"}
    assert (entry["timeStart"], entry["timeEnd"]) == (
        "2026-03-02T08:30:00Z",
        "2026-03-02T09:00:00Z",
    )


# --- all that sign


@pytest.mark.parametrize(
    ("kind", "header", "prefix"),
    [
        ("jira", "x-hub-signature", "sha256="),
        ("linear", "linear-signature", ""),
        ("connectwise", "x-content-signature", ""),
    ],
)
def test_a_delivery_unsigned_or_forged_is_refused(kind: str, header: str, prefix: str) -> None:
    body = b'{"webhookTimestamp": 1}'
    with desk_of(kind) as desk:
        adapter = desk.open()
        for headers in unsigned_ones(body, header, prefix):
            with pytest.raises(Unauthenticated):
                adapter.verify(Delivered(body=body, headers=headers), desk.replay.now)
        secrets = {key: text for key, text in desk.secrets.items() if key != "webhook_secret"}
        without = OpenHelpDesk(allow_private=True)(desk.kind, desk.config, secrets)
        assert not without.capabilities().webhooks
        empty_key = signed_with_nothing(desk, body, header, prefix)
        with pytest.raises(Unauthenticated):
            without.verify(empty_key, desk.replay.now)


def signed_with_nothing(desk: Desk, body: bytes, header: str, prefix: str) -> Delivered:
    """A delivery signed with the empty key, which everybody has."""
    if desk.kind == "connectwise":
        return Delivered(body=body, headers=connectwise_replay.signed(body, ""))
    return Delivered(
        body=body, headers={header: prefix + hmac.digest(b"", body, hashlib.sha256).hex()}
    )


@pytest.mark.parametrize("kind", ["jira", "linear", "connectwise"])
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'"text"', b"[1, null]", b"[" * 100_000, b'{"data": 7, "issue": [], "ID": "../1"}'],
)
def test_a_delivery_that_cannot_be_read_brings_nothing(kind: str, body: bytes) -> None:
    with desk_of(kind) as desk:
        try:
            events = desk.open().read(Delivered(body=body, headers={}))
        except ValidationFailed:
            return
        assert (events.tickets, events.messages) == ((), ())


# --- settings, and how far a list is walked


@pytest.mark.parametrize(
    ("kind", "config", "field"),
    [
        ("jira", {"project": 'SUP" OR project = "OPS'}, "config.project"),
        ("jira", {"site_url": "http://10.0.0.1"}, "base_url"),
        ("linear", {"team": ""}, "config.team"),
        ("halopsa", {"client_id": 7}, "config.client_id"),
        ("halopsa", {"auth_url": "ftp://x"}, "base_url"),
        ("autotask", {"resource_id": "me"}, "config.resource_id"),
        ("autotask", {"api_url": "http://127.0.0.1"}, "base_url"),
        ("autotask", {"username": "\u00e9"}, "config.username"),
        ("connectwise", {"client_id": "\u00e9"}, "config.client_id"),
        ("connectwise", {"api_url": "https://u:p@x.example"}, "base_url"),
    ],
)
def test_settings_that_cannot_work_are_refused_by_their_field(
    kind: str, config: dict[str, Any], field: str
) -> None:
    with desk_of(kind) as desk, pytest.raises(ValidationFailed) as refused:
        good = {
            name: "https://desk.example" if name.endswith("_url") else value
            for name, value in desk.config.items()
        }
        OpenHelpDesk()(kind, good | config, desk.secrets)
    assert refused.value.errors[0].location == field


@pytest.mark.parametrize("kind", ["jira", "linear", "halopsa", "autotask", "connectwise"])
def test_each_secret_that_is_needed_is_asked_for(kind: str) -> None:
    with desk_of(kind) as desk:
        for name in desk.secrets.keys() - {"webhook_secret"}:
            others = {key: text for key, text in desk.secrets.items() if key != name}
            with pytest.raises(ValidationFailed) as refused:
                OpenHelpDesk(allow_private=True)(kind, desk.config, others)
            assert refused.value.errors[0].location == f"secrets.{name}"


def test_a_walk_is_read_as_it_was_kept() -> None:
    walk = Walk(since=NOON, began=NOON, newest=NOON, page="p2", seen=frozenset([("1", "x")]))
    assert read_walk(str(walk), NOON + timedelta(hours=1), timedelta(0)) == walk
    assert json.loads(str(walk))[3] == "p2"


def test_a_walk_of_many_changes_keeps_the_newest_and_a_bounded_number() -> None:
    walk = Walk(since=NOON, began=NOON + timedelta(days=1), newest=NOON)
    changes = [(str(number), NOON + timedelta(seconds=number)) for number in range(5_000)]
    after = walk.after(changes, "next")
    assert len(after.seen) == MAX_SEEN
    assert after.has_seen("4999", changes[-1][1])
    assert not after.has_seen("4999", changes[-1][1] + timedelta(seconds=1))
    assert after.has_seen("0", NOON - timedelta(seconds=1))
    assert after.after([], "").since == changes[-1][1] - timedelta(minutes=2)


def test_a_desk_whose_clock_is_behind_loses_nothing() -> None:
    behind = NOON - timedelta(minutes=30)
    walk = Walk(since=NOON - timedelta(days=1), began=NOON, newest=NOON - timedelta(days=1))
    assert walk.after([("1", behind)], "").since < behind
    ahead = NOON + timedelta(minutes=30)
    assert walk.after([("1", ahead)], "").since < NOON


def read_at_the_desk(desk: Any, adapter: TicketAdapter, delivered: Delivered) -> None:
    """Hold what a delivery that names a ticket must bring."""
    events = taken(adapter, delivered, desk.replay.now)
    (ticket,) = events.tickets
    assert (ticket.title, [each.text for each in events.messages]) == ("Door", ["The left one."])
    assert adapter.read(delivered).delivery_id == events.delivery_id


def test_zendesk_signs_the_time_with_the_body_and_names_a_ticket_that_is_read_at_the_desk() -> None:
    with desk_of("zendesk") as desk:
        number = desk.ask("Door", "It rattles.")
        desk.move(minutes=1)
        desk.write(number, "The left one.")

        adapter, now = desk.open(), desk.replay.now
        event = {"type": "zen:event-type:ticket.comment_added", "detail": {"id": number}}
        read_at_the_desk(desk, adapter, zendesk_signed(event, now))
        read_at_the_desk(desk, adapter, zendesk_signed({"ticket_id": number}, now))
        assert taken(adapter, zendesk_signed({"detail": {}}, now), now).tickets == ()
        good = zendesk_signed(event, now)
        for headers in (
            {},
            {**good.headers, "x-zendesk-webhook-signature": "AAAA"},
            {**good.headers, "x-zendesk-webhook-signature-timestamp": "2026-03-02T09:01:01Z"},
            {**good.headers, "x-zendesk-webhook-signature-timestamp": "\ud800"},
            zendesk_signed(event, now, "another").headers,
            zendesk_signed(event, now - timedelta(minutes=6)).headers,
            zendesk_signed(event, now + timedelta(minutes=6)).headers,
        ):
            with pytest.raises(Unauthenticated):
                adapter.verify(Delivered(body=good.body, headers=headers), now)


def test_freshdesk_sends_a_secret_and_names_a_ticket_that_is_read_at_the_desk() -> None:
    with desk_of("freshdesk") as desk:
        number = desk.ask("Door", "It rattles.")
        desk.move(minutes=1)
        desk.write(number, "The left one.")
        adapter, now = desk.open(), desk.replay.now
        body = json.dumps({"ticket_id": number}).encode()
        good = Delivered(body=body, headers={"x-cairn-secret": "hush"})
        read_at_the_desk(desk, adapter, good)
        hook = json.dumps({"freshdesk_webhook": {"ticket_id": int(number)}}).encode()
        read_at_the_desk(desk, adapter, Delivered(body=hook, headers=good.headers))
        for headers in ({}, {"x-cairn-secret": ""}, {"x-cairn-secret": "hus"}):
            with pytest.raises(Unauthenticated):
                adapter.verify(Delivered(body=body, headers=headers), now)
        api_key = {"api_key": desk.secrets["api_key"]}
        unset = OpenHelpDesk(allow_private=True)("freshdesk", desk.config, api_key)
        with pytest.raises(Unauthenticated):
            unset.verify(Delivered(body=body, headers={"x-cairn-secret": ""}), now)


def test_intercom_signs_its_notifications_and_the_conversation_is_read_at_the_desk() -> None:
    with desk_of("intercom") as desk:
        number = desk.ask("Door", "It rattles.")
        desk.move(minutes=1)
        desk.write(number, "The left one.")
        adapter, now = desk.open(), desk.replay.now

        read_at_the_desk(desk, adapter, intercom_signed("conversation.user.replied", number))
        assert taken(adapter, intercom_signed("ping", number), now).tickets == ()
        for wrong in (
            intercom_signed("ping", number, "another").headers,
            {},
            {"x-hub-signature": "sha1="},
        ):
            with pytest.raises(Unauthenticated):
                adapter.verify(
                    Delivered(body=intercom_signed("ping", number).body, headers=wrong), now
                )


def test_zendesk_accounts_without_statuses_of_their_own_have_the_systems() -> None:
    with desk_of("zendesk") as desk:
        ticket = desk.ask("Door", "It rattles.")
        where = {"where": lambda asked: "custom_statuses" in asked.path}
        desk.replay.faults.append(Fault(status=200, body={"custom_statuses": []}, **where))
        assert desk.open().set_status(ticket, "auto_resolved") == "Solved"
        sent = [asked.body for asked in desk.replay.asked if asked.method == "PUT"]
        assert sent == [{"ticket": {"status": "solved"}}]
