"""The adapters of Zoho Desk and GitHub issues, against servers that answer as documented."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from tests.support.github_replay import TOKEN, GitHubReplay, github_replay
from tests.support.replaying import Fault
from tests.support.thinking import Watch
from tests.support.zoho_replay import (
    CLIENT_ID,
    CLIENT_SECRET,
    ORGANISATION,
    REFRESH_TOKEN,
    ZohoReplay,
    zoho_replay,
)

from cairn.adapters.http.desks.zoho import PublishedKeys
from cairn.adapters.http.help_desks import OpenHelpDesk
from cairn.adapters.http.rest import rest_breakers
from cairn.kernel.errors import CairnError, NotFound, Unauthenticated, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.tickets.adapter import Delivered, Message, NeedsAuth, TicketAdapter
from cairn.tickets.ticket import Priority

KEY = f"{new_id()}-reply"
WEBHOOK = "6000000000007"


class Clock:
    """Says what the help desk's own clock says."""

    def __init__(self, replay: ZohoReplay | GitHubReplay) -> None:
        self.replay = replay

    def __call__(self) -> datetime:
        return self.replay.now


@pytest.fixture
def zoho() -> Iterator[ZohoReplay]:
    with zoho_replay() as replay:
        yield replay


@pytest.fixture
def github() -> Iterator[GitHubReplay]:
    with github_replay() as replay:
        yield replay


def zoho_desk(replay: ZohoReplay, **config: Any) -> TicketAdapter:
    given = {
        "organisation_id": ORGANISATION,
        "client_id": CLIENT_ID,
        "desk_url": replay.desk_url,
        "accounts_url": replay.url,
        "webhook_id": WEBHOOK,
    }
    secrets = {"client_secret": CLIENT_SECRET, "refresh_token": REFRESH_TOKEN}
    return OpenHelpDesk(allow_private=True, clock=Clock(replay))(
        "zoho-desk", given | config, secrets
    )


def issues(replay: GitHubReplay, **config: Any) -> TicketAdapter:
    given = {"owner": "harbourlane", "repository": "booking", "api_url": replay.url}
    secrets = {"token": TOKEN, "webhook_secret": "hush"}
    return OpenHelpDesk(allow_private=True, clock=Clock(replay))(
        "github-issues", given | config, secrets
    )


def every_time_anew(replay: GitHubReplay, watch: Watch) -> Callable[[], TicketAdapter]:
    """Return what opens an adapter, as every request does, in one process."""
    opened = OpenHelpDesk(allow_private=True, clock=Clock(replay), breakers=rest_breakers(watch))
    given = {"owner": "harbourlane", "repository": "booking", "api_url": replay.url}
    return lambda: opened("github-issues", given, {"token": TOKEN})


def ask(replay: ZohoReplay, subject: str, **more: Any) -> dict[str, Any]:
    contact = replay.add_contact(
        "mara@northwind.example",
        "Voss",
        firstName="Mara",
        account={"id": "1", "accountName": "Northwind"},
    )
    return replay.add_ticket(subject, contact=contact, **more)


def polled(adapter: TicketAdapter, cursor: str | None = None) -> tuple[list[str], str | None]:
    """Poll until nothing is left; return the tickets' ids and the cursor."""
    found: list[str] = []
    for _ in range(50):
        page = adapter.poll(cursor, 2)
        found += [ticket.external_id for ticket in page.tickets]
        cursor = page.cursor
        if not page.more:
            return found, cursor
    raise AssertionError("polling does not end")


def test_a_zoho_ticket_is_read_whole_and_in_plain_text(zoho: ZohoReplay) -> None:
    made = ask(
        zoho,
        "Door will not lock",
        description="<div>It <b>rattles</b>.</div><script>x()</script><div>Since Monday.</div>",
        priority="High",
        dueDate="2026-03-03T09:00:00.000Z",
    )
    (ticket,) = zoho_desk(zoho).poll(None, 50).tickets
    assert ticket.external_id == made["id"]
    assert ticket.title == "Door will not lock"
    assert ticket.body == "It rattles.\n\nSince Monday."
    assert ticket.customer == "Northwind \u2014 Mara Voss"
    assert ticket.requester_email == "mara@northwind.example"
    assert ticket.priority is Priority.HIGH
    assert ticket.sla_at == datetime(2026, 3, 3, 9, tzinfo=UTC)
    assert ticket.modified_at == zoho.now
    assert ticket.source_metadata["ticket_number"] == made["ticketNumber"]
    assert not ticket.closed


def test_zoho_is_polled_by_change_and_nothing_is_missed_or_read_twice(zoho: ZohoReplay) -> None:
    adapter = zoho_desk(zoho)
    made = [ask(zoho, f"Same moment {number}")["id"] for number in range(5)]
    zoho.now += timedelta(minutes=1)
    made.append(ask(zoho, "Later")["id"])
    found, cursor = polled(adapter)
    assert found == made
    assert polled(adapter, cursor)[0] == []
    zoho.now += timedelta(minutes=1)
    zoho.tickets[made[0]]["modifiedTime"] = zoho.stamp()
    found, cursor = polled(adapter, cursor)
    assert found == [made[0]]
    zoho.now += timedelta(days=1)
    assert polled(adapter, cursor)[0] == []


def test_a_ticket_that_zoho_lists_late_is_found_in_the_overlap(zoho: ZohoReplay) -> None:
    adapter = zoho_desk(zoho)
    ask(zoho, "Seen")
    _, cursor = polled(adapter)
    late = ask(zoho, "Indexed late", modifiedTime="2026-03-02T08:59:30.000Z")
    assert polled(adapter, cursor)[0] == [late["id"]]


def heard(adapter: TicketAdapter, cursor: str | None) -> tuple[list[Message], str | None]:
    """Poll once; return the messages by their time, and the cursor."""
    page = adapter.poll(cursor, 50)
    return sorted(page.messages, key=lambda message: str(message.written_at)), page.cursor


def test_what_zohos_requester_writes_later_is_a_message_once(zoho: ZohoReplay) -> None:
    adapter = zoho_desk(zoho)
    made = ask(zoho, "Door")
    first = zoho.write(made, "<div>The first text.</div>", isDescriptionThread=True)
    assert heard(adapter, None)[0] == []
    _, cursor = heard(adapter, None)
    zoho.now += timedelta(minutes=10)
    adapter.reply(made["id"], "Which door?", private=False, key=KEY)
    long = f"<div>The <b>left</b> one. {'x' * 400}</div>"
    mail = zoho.write(made, long)
    zoho.now += timedelta(minutes=1)
    comment = zoho.remark(made, "And locked.", kind="END_USER", email=made["email"])
    zoho.remark(made, "I look into it.", kind="AGENT", email="lena@harbourlane.example")
    zoho.write(made, "Not sent yet", direction="out", status="DRAFT")
    found, cursor = heard(adapter, cursor)
    assert [item.id for item in found] == [f"thread:{mail['id']}", f"comment:{comment['id']}"]
    assert found[0].text == f"The left one. {'x' * 400}"
    assert {(item.ticket, item.author) for item in found} == {(made["id"], made["email"])}
    assert found[1].written_at == zoho.now
    assert first["id"] not in repr(found)
    zoho.now += timedelta(minutes=1)
    zoho.tickets[made["id"]]["modifiedTime"] = zoho.stamp()
    within, cursor = heard(adapter, cursor)
    assert {item.id for item in within} <= {item.id for item in found}
    zoho.now += timedelta(minutes=10)
    zoho.tickets[made["id"]]["modifiedTime"] = zoho.stamp()
    _, cursor = heard(adapter, cursor)
    zoho.now += timedelta(minutes=10)
    zoho.tickets[made["id"]]["modifiedTime"] = zoho.stamp()
    assert heard(adapter, cursor)[0] == []


def test_a_zoho_mail_without_an_author_has_its_senders_address(zoho: ZohoReplay) -> None:
    adapter = zoho_desk(zoho)
    made = ask(zoho, "Door")
    _, cursor = heard(adapter, None)
    zoho.now += timedelta(minutes=10)
    zoho.write(made, "Hello", author=None, fromEmailAddress="Boss <boss@northwind.example>")
    (message,) = heard(adapter, cursor)[0]
    assert message.author == "boss@northwind.example"


def test_only_the_departments_tickets_are_taken(zoho: ZohoReplay) -> None:
    ask(zoho, "Ours")
    ask(zoho, "Theirs", departmentId="6000000000002")
    found = zoho_desk(zoho, department_id="6000000000001").poll(None, 50).tickets
    assert [item.title for item in found] == ["Ours"]


def test_a_public_answer_is_mailed_once(zoho: ZohoReplay) -> None:
    made = ask(zoho, "Help")
    adapter = zoho_desk(zoho, from_address="support@harbourlane.example")
    adapter.poll(None, 1)  # signs in
    zoho.faults.append(Fault(status=500, done=True, only="POST"))
    with pytest.raises(Unavailable):
        adapter.reply(made["id"], "Done.", private=False, key=KEY)
    adapter.reply(made["id"], "Done.", private=False, key=KEY)
    (sent,) = zoho.threads[made["id"]]
    assert sent["to"] == "mara@northwind.example"
    assert sent["content"] == f"Done.\n\n[cairn {KEY}]"


@pytest.mark.parametrize("private", [True, False])
def test_without_a_sender_an_answer_is_a_comment_once(zoho: ZohoReplay, private: bool) -> None:
    made, adapter = ask(zoho, "Help"), zoho_desk(zoho)
    adapter.poll(None, 1)  # signs in
    zoho.faults.append(Fault(status=200, body=b"<html>", done=True, only="POST"))
    with pytest.raises(Unavailable):
        adapter.reply(made["id"], "Done.", private=private, key=KEY)
    adapter.reply(made["id"], "Done.", private=private, key=KEY)
    (comment,) = zoho.comments[made["id"]]
    assert comment["isPublic"] is not private


def test_statuses_are_the_portals_own(zoho: ZohoReplay) -> None:
    made = ask(zoho, "Help")
    assert zoho_desk(zoho).set_status(made["id"], "needs_client") == "On Hold"
    own = zoho_desk(zoho, statuses={"needs_client": "Escalated"})
    assert own.set_status(made["id"], "needs_client") == "Escalated"
    with pytest.raises(ValidationFailed):
        zoho_desk(zoho, statuses={"failed": "Lost"}).set_status(made["id"], "failed")


def test_time_is_booked_once(zoho: ZohoReplay) -> None:
    made, adapter = ask(zoho, "Help"), zoho_desk(zoho)
    for _ in range(2):
        adapter.log_time(made["id"], 75, "Worked on by Cairn", key=KEY)
    (entry,) = zoho.times[made["id"]]
    assert (entry["hoursSpent"], entry["minutesSpent"]) == ("1", "15")


def test_a_sign_in_that_was_taken_back_needs_somebody(zoho: ZohoReplay) -> None:
    zoho.revoke()
    with pytest.raises(NeedsAuth):
        zoho_desk(zoho).poll(None, 50)


def test_a_help_desk_that_is_busy_or_down_is_asked_again_later(zoho: ZohoReplay) -> None:
    adapter = zoho_desk(zoho)
    adapter.poll(None, 50)
    zoho.faults.append(Fault(status=429, headers={"retry-after": "600"}))
    with pytest.raises(Unavailable) as busy:
        adapter.poll(None, 50)
    assert busy.value.retry_after == 600
    zoho.faults.append(Fault(status=429, headers={"retry-after": "9" * 400}))
    with pytest.raises(Unavailable) as endless:
        adapter.poll(None, 50)
    assert endless.value.retry_after == 60


# --- Zoho's webhooks


@pytest.fixture(scope="module")
def signing() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def keys_of(signing: rsa.RSAPrivateKey) -> dict[str, Any]:
    public = json.loads(RSAAlgorithm.to_jwk(signing.public_key()))
    return {"keys": [{**public, "kid": "k1", "use": "sig", "alg": "RS256"}]}


def token(signing: Any, now: datetime, *, kid: str = "k1", **changes: Any) -> str:
    seconds = int(now.timestamp())
    claims = {
        "iss": f"orgId:{ORGANISATION}",
        "aud": f"webhookId:{WEBHOOK}",
        "iat": seconds,
        "exp": seconds + 300,
    }
    return jwt.encode(claims | changes, signing, algorithm="RS256", headers={"kid": kid})


def delivered(token: str, *events: dict[str, Any]) -> Delivered:
    return Delivered(body=json.dumps(events).encode(), headers={"x-zdesk-jwt": token})


def test_a_delivery_with_zohos_token_brings_its_tickets(
    zoho: ZohoReplay, signing: rsa.RSAPrivateKey
) -> None:
    adapter = zoho_desk(zoho, jwks=keys_of(signing))
    ticket = ask(zoho, "Door")
    events = [
        {"eventType": "Ticket_Add", "payload": ticket, "orgId": ORGANISATION},
        {"eventType": "Ticket_Comment_Add", "payload": {"id": "1"}},
    ]
    given = delivered(token(signing, zoho.now), *events)
    adapter.verify(given, zoho.now)
    read = adapter.read(given)
    assert [ticket.external_id for ticket in read.tickets] == [ticket["id"]]
    assert adapter.read(given).delivery_id == read.delivery_id


def test_a_delivery_of_a_mail_or_comment_is_a_message(zoho: ZohoReplay) -> None:
    made = ask(zoho, "Door")
    mail = {**zoho.write(made, "<p>The left one.</p>"), "ticketId": made["id"]}
    theirs = zoho.remark(made, "Locked.", kind="END_USER", email=made["email"])
    ours = zoho.remark(made, "I look.", kind="AGENT", email="lena@harbourlane.example")
    events: list[dict[str, Any]] = [
        {"eventType": "Ticket_Thread_Add", "payload": mail},
        {"eventType": "Ticket_Thread_Add", "payload": {**mail, "direction": "out"}},
        {"eventType": "Ticket_Thread_Add", "payload": {**mail, "id": None}},
        {"eventType": "Ticket_Comment_Add", "payload": {**theirs, "ticketId": made["id"]}},
        {"eventType": "Ticket_Comment_Add", "payload": {**ours, "ticketId": made["id"]}},
        {"eventType": "Ticket_Comment_Update", "payload": {**theirs, "ticketId": made["id"]}},
        {"eventType": "Ticket_Thread_Add", "payload": {"direction": ["in"], "author": 7}},
    ]
    read = zoho_desk(zoho).read(delivered("t", *events))
    assert read.tickets == ()
    assert [(message.ticket, message.id, message.text) for message in read.messages] == [
        (made["id"], f"thread:{mail['id']}", "The left one."),
        (made["id"], f"comment:{theirs['id']}", "Locked."),
    ]


def test_a_token_in_milliseconds_holds_too(zoho: ZohoReplay, signing: rsa.RSAPrivateKey) -> None:
    milliseconds = int(zoho.now.timestamp()) * 1000
    given = token(signing, zoho.now, iat=milliseconds, exp=milliseconds + 300_000)
    zoho_desk(zoho, jwks=keys_of(signing)).verify(delivered(given), zoho.now)


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "orgId:1"},
        {"aud": "webhookId:1"},
        {"exp": 1_000_000_000},
        {"iat": 9_000_000_000},
        {"exp": "soon"},
        {"kid": "k2"},
    ],
)
def test_a_token_that_is_anothers_or_of_another_time_is_refused(
    zoho: ZohoReplay, signing: rsa.RSAPrivateKey, changes: dict[str, Any]
) -> None:
    adapter = zoho_desk(zoho, jwks=keys_of(signing))
    with pytest.raises(Unauthenticated):
        adapter.verify(delivered(token(signing, zoho.now, **changes)), zoho.now)


def test_a_token_that_is_forged_missing_or_none_is_refused(
    zoho: ZohoReplay, signing: rsa.RSAPrivateKey
) -> None:
    adapter = zoho_desk(zoho, jwks=keys_of(signing))
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    claims = {"iss": f"orgId:{ORGANISATION}", "aud": f"webhookId:{WEBHOOK}"}
    unsigned = jwt.encode(claims, None, algorithm="none", headers={"kid": "k1"})
    confused = jwt.encode(claims, "k" * 32, algorithm="HS256", headers={"kid": "k1"})
    for given in (token(other, zoho.now), unsigned, confused, "", "a.b.c", "\ud800"):
        with pytest.raises(Unauthenticated):
            adapter.verify(delivered(given), zoho.now)


def test_published_keys_are_read_once_and_again_for_a_key_nobody_knows(
    zoho: ZohoReplay, signing: rsa.RSAPrivateKey
) -> None:
    asked: list[str] = []
    now = [0.0]

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200, json=keys_of(signing))

    published = PublishedKeys(transport=httpx.MockTransport(answer), stopwatch=lambda: now[0])
    find = published.of("https://desk.zoho.eu/api/v1")
    assert find("k1") is not None
    assert find("k1") is not None
    assert asked == ["https://desk.zoho.eu/.well-known/jwks.json"]
    assert find("k2") is None
    now[0] = 61.0
    assert find("k2") is None
    assert len(asked) == 2


@pytest.mark.parametrize("body", [b"", b"{", b'"text"', b"[1, null]", b"[" * 100_000])
def test_a_zoho_delivery_that_cannot_be_read_brings_nothing(zoho: ZohoReplay, body: bytes) -> None:
    try:
        events = zoho_desk(zoho).read(Delivered(body=body, headers={}))
    except ValidationFailed:
        return
    assert events.tickets == ()


# --- GitHub


def test_an_issue_is_a_ticket(github: GitHubReplay) -> None:
    github.add_issue("Crash on start", "Trace\x00 below", labels=[{"name": "priority: high"}])
    github.add_issue("A change", pull_request={"url": "x"})
    (ticket,) = issues(github, customer="Harbour Lane").poll(None, 50).tickets
    assert (ticket.external_id, ticket.title) == ("1", "Crash on start")
    assert ticket.customer == "Harbour Lane"
    assert ticket.requester_email == "ines@users.noreply.github.com"
    assert ticket.priority is Priority.HIGH
    assert ticket.source_metadata["repository"] == "harbourlane/booking"


def test_github_is_polled_by_change_and_nothing_is_missed_or_read_twice(
    github: GitHubReplay,
) -> None:
    adapter = issues(github)
    for number in range(5):
        github.add_issue(f"Same moment {number}")
    github.now += timedelta(minutes=1)
    github.add_issue("Later")
    found, cursor = polled(adapter)
    assert found == ["1", "2", "3", "4", "5", "6"]
    assert polled(adapter, cursor)[0] == []
    github.now += timedelta(minutes=10)
    github.issues[2]["updated_at"] = github.stamp()
    assert polled(adapter, cursor)[0] == ["2"]


def test_what_an_issues_opener_writes_below_it_is_a_message_once(github: GitHubReplay) -> None:
    adapter = issues(github)
    github.add_issue("Crash")
    _, cursor = heard(adapter, None)
    github.now += timedelta(minutes=10)
    adapter.reply("1", "Which version?", private=False, key=KEY)
    github.write(1, f"As the opener.\n\n<!-- cairn:{KEY} -->", by="ines")
    github.write(1, "Me too.", by="somebody")
    github.now += timedelta(minutes=1)
    comment = github.write(1, f"> Which version?\n> <!-- cairn:{KEY} -->\n\n4.2", by="ines")
    (message,), cursor = heard(adapter, cursor)
    assert (message.ticket, message.id) == ("1", f"comment:{comment['id']}")
    assert message.author == "ines@users.noreply.github.com"
    assert message.written_at == github.now
    for _ in range(2):
        github.now += timedelta(minutes=10)
        github.issues[1]["updated_at"] = github.stamp()
        found, cursor = heard(adapter, cursor)
    assert found == []


def test_an_issue_without_comments_is_not_asked_for_them(github: GitHubReplay) -> None:
    github.add_issue("Crash")
    issues(github).poll(None, 50)
    assert not [item for item in github.asked if item.path.endswith("/comments")]


def test_a_comment_is_posted_once_and_readers_do_not_see_its_mark(github: GitHubReplay) -> None:
    github.add_issue("Help")
    adapter = issues(github)
    github.faults.append(Fault(status=502, done=True, only="POST"))
    with pytest.raises(Unavailable):
        adapter.reply("1", "Done.", private=False, key=KEY)
    adapter.reply("1", "Done.", private=False, key=KEY)
    (comment,) = github.comments[1]
    assert comment["body"] == f"Done.\n\n<!-- cairn:{KEY} -->"


def test_a_status_is_a_label_and_what_is_resolved_is_closed(github: GitHubReplay) -> None:
    github.add_issue("Help", labels=[{"name": "bug"}])
    adapter = issues(github)
    adapter.set_status("1", "needs_tech")
    adapter.set_status("1", "auto_resolved")
    issue = github.issues[1]
    assert {label["name"] for label in issue["labels"]} == {"bug", "cairn:auto_resolved"}
    assert (issue["state"], issue["state_reason"]) == ("closed", "completed")


def test_an_issue_that_is_none_is_not_found(github: GitHubReplay) -> None:
    for number in ("9", "x", "-1"):
        with pytest.raises(NotFound):
            issues(github).reply(number, "Hello", private=False, key=KEY)


def hook(body: bytes, *, secret: str = "hush", **headers: str) -> Delivered:
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    given = {
        "x-hub-signature-256": f"sha256={signature}",
        "x-github-event": "issues",
        "x-github-delivery": "72d3162e",
    }
    return Delivered(body=body, headers=given | headers)


def told(github: GitHubReplay, **changes: Any) -> bytes:
    issue = github.add_issue("Crash")
    repository = {"full_name": "HarbourLane/booking"}
    return json.dumps(
        {"action": "opened", "issue": issue, "repository": repository} | changes
    ).encode()


def test_githubs_own_example_of_a_signature_holds() -> None:
    adapter = OpenHelpDesk()(
        "github-issues",
        {"owner": "o", "repository": "r"},
        {"token": "t", "webhook_secret": "It's a Secret to Everybody"},
    )
    signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    given = Delivered(body=b"Hello, World!", headers={"x-hub-signature-256": signature})
    adapter.verify(given, datetime.now(UTC))


def test_a_signed_issue_is_a_ticket(github: GitHubReplay) -> None:
    given, adapter = hook(told(github)), issues(github)
    adapter.verify(given, github.now)
    read = adapter.read(given)
    assert (read.delivery_id, [ticket.external_id for ticket in read.tickets]) == (
        "72d3162e",
        ["1"],
    )


def commented(github: GitHubReplay, *, by: str, action: str = "created") -> Delivered:
    github.add_issue("Crash")
    comment = github.write(1, "4.2", by=by)
    told = {
        "action": action,
        "issue": github.issues[1],
        "comment": comment,
        "repository": {"full_name": "HarbourLane/booking"},
    }
    return hook(json.dumps(told).encode(), **{"x-github-event": "issue_comment"})


def test_a_comment_of_the_opener_is_a_message_with_its_ticket(github: GitHubReplay) -> None:
    read = issues(github).read(commented(github, by="ines"))
    assert [ticket.external_id for ticket in read.tickets] == ["1"]
    assert [(message.ticket, message.text) for message in read.messages] == [("1", "4.2")]


@pytest.mark.parametrize(("by", "action"), [("lena", "created"), ("ines", "deleted")])
def test_a_comment_of_somebody_else_or_taken_back_is_no_message(
    github: GitHubReplay, by: str, action: str
) -> None:
    assert issues(github).read(commented(github, by=by, action=action)).messages == ()


@pytest.mark.parametrize(
    "headers",
    [
        {"x-hub-signature-256": ""},
        {"x-hub-signature-256": "sha256=00"},
        {"x-hub-signature-256": "sha256=\u00e9"},
    ],
)
def test_a_delivery_unsigned_or_forged_is_refused(
    github: GitHubReplay, headers: dict[str, str]
) -> None:
    with pytest.raises(Unauthenticated):
        issues(github).verify(hook(told(github), **headers), github.now)
    with pytest.raises(Unauthenticated):
        issues(github).verify(hook(told(github), secret="other"), github.now)


@pytest.mark.parametrize(
    ("changes", "headers"),
    [
        ({"issue": None}, {}),
        ({"issue": {"pull_request": {}}}, {}),
        ({"repository": {"full_name": "somebody/else"}}, {}),
        ({}, {"x-github-event": "ping"}),
        ({}, {"x-github-event": "issue_comment"}),
    ],
)
def test_what_is_no_ticket_of_the_repository_brings_none(
    github: GitHubReplay, changes: dict[str, Any], headers: dict[str, str]
) -> None:
    assert issues(github).read(hook(told(github, **changes), **headers)).tickets == ()


def test_an_issue_without_the_wanted_labels_is_left_alone(github: GitHubReplay) -> None:
    given = hook(told(github))
    assert issues(github, labels=["support"]).read(given).tickets == ()


def test_a_form_encoded_delivery_is_refused(github: GitHubReplay) -> None:
    with pytest.raises(ValidationFailed):
        issues(github).read(hook(b"payload=%7B%7D"))


# --- settings


@pytest.mark.parametrize(
    ("kind", "config", "secrets", "field"),
    [
        ("github-issues", {"owner": "o"}, {"token": "t"}, "config.repository"),
        ("github-issues", {"owner": "o", "repository": "r"}, {}, "secrets.token"),
        (
            "github-issues",
            {"owner": "o", "repository": "r", "colour": "red"},
            {"token": "t"},
            "config.colour",
        ),
        (
            "github-issues",
            {"owner": "o", "repository": "r", "labels": "bug"},
            {"token": "t"},
            "config.labels",
        ),
        ("github-issues", {"owner": "../x", "repository": "r"}, {"token": "t"}, "owner"),
        (
            "github-issues",
            {"owner": "o", "repository": "r", "api_url": "http://10.0.0.1"},
            {"token": "t"},
            "base_url",
        ),
        (
            "zoho-desk",
            {"organisation_id": "x", "client_id": "c"},
            {"client_secret": "s", "refresh_token": "r"},
            "organisation_id",
        ),
        (
            "zoho-desk",
            {"organisation_id": "1", "client_id": "c", "statuses": {"won": "x"}},
            {"client_secret": "s", "refresh_token": "r"},
            "statuses",
        ),
        (
            "zoho-desk",
            {"organisation_id": "1", "client_id": "c", "backfill_hours": -1},
            {"client_secret": "s", "refresh_token": "r"},
            "config.backfill_hours",
        ),
    ],
)
def test_settings_that_cannot_work_are_refused_by_their_field(
    kind: str, config: dict[str, Any], secrets: dict[str, str], field: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        OpenHelpDesk()(kind, config, secrets)
    assert refused.value.errors[0].location == field


def test_one_that_keeps_failing_is_left_alone_by_the_whole_process_until_it_is_well(
    github: GitHubReplay,
) -> None:
    watch = Watch()
    adapter = every_time_anew(github, watch)
    github.add_issue("The tide table is empty")
    ill = Fault(status=503, headers={"retry-after": "9"})
    github.faults.extend([ill] * 5)
    for _ in range(5):
        with pytest.raises(Unavailable) as failing:
            adapter().poll(None, 50)
        assert (failing.value.reason, failing.value.retry_after) == ("server-error", 9)

    watch.pause(10)
    for ask_it in (
        lambda: adapter().poll(None, 50),
        lambda: adapter().reply("1", "Done.", private=False, key=KEY),
    ):
        with pytest.raises(Unavailable) as left_alone:
            ask_it()
        assert (left_alone.value.reason, left_alone.value.retry_after) == ("circuit-open", 20)
    assert len(github.asked) == 5

    watch.pause(20)
    github.faults.append(ill)
    with pytest.raises(Unavailable):
        adapter().poll(None, 50)
    assert len(github.asked) == 6

    watch.pause(30)
    assert len(adapter().poll(None, 50).tickets) == 1
    assert adapter().reply("1", "Done.", private=False, key=KEY)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=401),
        Fault(status=404),
        Fault(status=422),
        Fault(status=429, headers={"retry-after": "60"}),
    ],
    ids=["refused sign-in", "not there", "refused request", "rate limit"],
)
def test_what_says_nothing_about_its_health_leaves_it_no_less_asked(
    github: GitHubReplay, fault: Fault
) -> None:
    adapter = every_time_anew(github, Watch())
    github.faults.extend([fault] * 8)
    for _ in range(8):
        with pytest.raises(CairnError):
            adapter().poll(None, 50)
    adapter().poll(None, 50)
    assert len(github.asked) == 9
