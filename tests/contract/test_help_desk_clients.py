"""The clients of Zoho Desk and GitHub, against servers that answer as the originals document."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import pytest
from tests.support.github_replay import TOKEN, GitHubReplay, github_replay
from tests.support.replaying import Fault
from tests.support.zoho_replay import (
    CLIENT_ID,
    CLIENT_SECRET,
    ORGANISATION,
    REFRESH_TOKEN,
    ZohoReplay,
    zoho_replay,
)

from cairn.adapters.http.github import GitHubIssues, GitHubRepository
from cairn.adapters.http.rest import MAX_ANSWER_BYTES, checked_base_url
from cairn.adapters.http.zoho import ZohoAccount, ZohoDesk
from cairn.adapters.once import not_before
from cairn.connectors.port import ConnectorUnauthorised, OutcomeUnknown
from cairn.kernel.errors import NotFound, RateLimited, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator


class Desk:
    """A client of Zoho Desk that does not wait, and the server it speaks to."""

    def __init__(self, replay: ZohoReplay) -> None:
        self.replay = replay
        self.waited: list[float] = []
        self.seconds = 0.0
        self.account = ZohoAccount(
            organisation_id=ORGANISATION,
            client_id=CLIENT_ID,
            client_secret=CLIENT_SECRET,
            refresh_token=REFRESH_TOKEN,
            desk_url=replay.desk_url,
            accounts_url=replay.url,
            allow_private=True,
        )
        self.zoho = self.client(self.account)
        self.ticket = replay.add_ticket(
            "The invoice is wrong", contact=replay.add_contact("ana@pier.example", "Ana")
        )["id"]

    def client(self, account: ZohoAccount) -> ZohoDesk:
        return ZohoDesk(account, pause=self.waited.append, stopwatch=lambda: self.seconds)


class Issues:
    """A client of GitHub that does not wait, and the server it speaks to."""

    def __init__(self, replay: GitHubReplay) -> None:
        self.replay = replay
        self.waited: list[float] = []
        self.repository = GitHubRepository(
            owner="harbourlane", name="booking", token=TOKEN, api_url=replay.url, allow_private=True
        )
        self.github = GitHubIssues(
            self.repository, pause=self.waited.append, clock=lambda: replay.now
        )


@pytest.fixture
def desk() -> Iterator[Desk]:
    with zoho_replay() as replay:
        yield Desk(replay)


@pytest.fixture
def issues() -> Iterator[Issues]:
    with github_replay() as replay:
        yield Issues(replay)


REPLY = {"to": "ana@pier.example", "from_address": "support@harbourlane.example"}


def test_a_ticket_is_read_with_its_contact(desk: Desk) -> None:
    found = desk.zoho.ticket(desk.ticket)
    assert found["subject"] == "The invoice is wrong"
    assert found["contact"]["email"] == "ana@pier.example"


def test_one_access_token_serves_many_requests_until_its_end(desk: Desk) -> None:
    for _ in range(3):
        desk.zoho.ticket(desk.ticket)
    assert desk.replay.issued == 1
    desk.seconds = 3541.0
    desk.zoho.ticket(desk.ticket)
    assert desk.replay.issued == 2


def test_a_token_that_ended_early_is_made_anew_once(desk: Desk) -> None:
    desk.zoho.ticket(desk.ticket)
    desk.replay.expire_tokens()
    desk.zoho.comment(desk.ticket, content="still here")
    assert desk.replay.issued == 2
    assert len(desk.replay.comments[desk.ticket]) == 1


def test_a_revoked_sign_in_is_said_to_be(desk: Desk) -> None:
    desk.zoho.ticket(desk.ticket)
    desk.replay.revoke()
    with pytest.raises(ConnectorUnauthorised) as refused:
        desk.zoho.ticket(desk.ticket)
    assert "invalid_code" in refused.value.detail


@pytest.mark.parametrize(
    ("account", "said"),
    [({"client_secret": "wrong"}, "invalid_client"), ({"refresh_token": "x"}, "invalid_code")],
)
def test_wrong_credentials_are_said_to_be_and_not_shown(
    desk: Desk, account: dict[str, str], said: str
) -> None:
    with pytest.raises(ConnectorUnauthorised) as refused:
        desk.client(replace(desk.account, **account)).ticket(desk.ticket)
    assert said in refused.value.detail
    assert "client-secret" not in repr(desk.account)


def test_another_organisation_is_refused(desk: Desk) -> None:
    with pytest.raises(ConnectorUnauthorised):
        desk.client(replace(desk.account, organisation_id="1")).ticket(desk.ticket)


def test_lists_come_in_pages_and_an_empty_one_is_empty(desk: Desk) -> None:
    contact = desk.replay.add_contact("bo@pier.example", "Bo")
    for number in range(5):
        desk.replay.now += timedelta(minutes=1)
        desk.replay.add_ticket(f"ticket {number}", contact=contact)
    assert [ticket["subject"] for ticket in desk.zoho.tickets(limit=2)] == ["ticket 4", "ticket 3"]
    assert len(desk.zoho.tickets(start=4, limit=10)) == 2
    assert desk.zoho.tickets(start=100) == []
    assert desk.zoho.tickets(status=["Closed"]) == []
    assert desk.zoho.threads(desk.ticket) == []


def test_tickets_are_found_by_words_contact_and_change(desk: Desk) -> None:
    hour = timedelta(hours=1)
    now = desk.replay.now
    assert len(desk.zoho.search(text="invoice")) == 1
    assert len(desk.zoho.search(email="ana@pier.example")) == 1
    assert len(desk.zoho.search(modified=(now - hour, now + hour))) == 1
    assert desk.zoho.search(modified=(now + hour, now + 2 * hour)) == []
    assert [contact["lastName"] for contact in desk.zoho.contacts(email="ana@pier.example")] == [
        "Ana"
    ]


def test_a_status_the_portal_has_not_is_refused_with_its_words(desk: Desk) -> None:
    assert desk.zoho.set_status(desk.ticket, "Closed")["statusType"] == "Closed"
    with pytest.raises(ValidationFailed) as refused:
        desk.zoho.set_status(desk.ticket, "Gone fishing")
    assert "INVALID_DATA" in refused.value.detail


def test_what_is_not_there_is_not_found(desk: Desk) -> None:
    with pytest.raises(NotFound):
        desk.zoho.ticket("999")
    with pytest.raises(NotFound):
        desk.zoho.comment("999", content="hello")


@pytest.mark.parametrize("number", ["", "12 34", "../contacts", "1?x=y", "1" * 30, "abc", "1\n"])
def test_ids_are_numbers(desk: Desk, number: str) -> None:
    with pytest.raises(ValidationFailed):
        desk.zoho.ticket(number)
    assert desk.replay.asked == []


def test_reads_are_repeated_when_zoho_is_busy(desk: Desk) -> None:
    desk.replay.faults.extend([Fault(status=503, only="GET"), Fault(cut=True, only="GET")])
    assert desk.zoho.ticket(desk.ticket)["id"] == desk.ticket
    assert desk.replay.count("GET") == 3
    desk.replay.faults.extend([Fault(status=500, only="GET")] * 3)
    with pytest.raises(Unavailable):
        desk.zoho.ticket(desk.ticket)


def test_a_short_limit_is_waited_for_and_a_long_one_is_told(desk: Desk) -> None:
    limit = {"errorCode": "TOO_MANY_REQUESTS", "message": "slow down"}
    desk.replay.faults.append(
        Fault(status=429, body=limit, headers={"Retry-After": "1"}, only="GET")
    )
    assert desk.zoho.ticket(desk.ticket)
    spent = Fault(status=429, body=limit, headers={"Retry-After": "3600"}, only="GET")
    desk.replay.faults.append(spent)
    with pytest.raises(RateLimited) as limited:
        desk.zoho.ticket(desk.ticket)
    assert limited.value.retry_after == 3600


@pytest.mark.parametrize("fault", [Fault(status=502, done=True), Fault(cut=True, done=True)])
def test_a_write_without_an_answer_is_not_repeated(desk: Desk, fault: Fault) -> None:
    desk.zoho.ticket(desk.ticket)
    desk.replay.faults.append(replace(fault, only="POST"))
    with pytest.raises(OutcomeUnknown):
        desk.zoho.comment(desk.ticket, content="once")
    assert desk.replay.count("POST", "/comments") == 1
    assert len(desk.replay.comments[desk.ticket]) == 1


@pytest.mark.parametrize("key", [new_id(), uuid4()])
@pytest.mark.parametrize("kind", ["reply", "comment", "time"])
def test_a_repeat_after_a_lost_answer_finds_what_was_written(
    desk: Desk, kind: str, key: UUID
) -> None:
    desk.replay.now = datetime.now(UTC)

    def write() -> bool:
        if kind == "reply":
            return desk.zoho.reply_once(desk.ticket, key=str(key), content="Hello", **REPLY)[1]
        if kind == "comment":
            return desk.zoho.comment_once(desk.ticket, key=str(key), content="Hello")[1]
        return desk.zoho.add_time_entry_once(
            desk.ticket, key=str(key), minutes=75, note="Looked", executed_at=desk.replay.now
        )[1]

    desk.zoho.ticket(desk.ticket)
    desk.replay.faults.append(Fault(cut=True, done=True, only="POST"))
    with pytest.raises(OutcomeUnknown):
        write()
    assert write() is True
    kept = (desk.replay.threads, desk.replay.comments, desk.replay.times)
    assert sum(len(rows.get(desk.ticket, [])) for rows in kept) == 1


def test_a_comment_is_found_among_hundreds(desk: Desk) -> None:
    key = str(new_id())
    desk.zoho.comment_once(desk.ticket, key=key, content="first")
    for number in range(250):
        desk.zoho.comment(desk.ticket, content=f"later {number}")
    assert desk.zoho.comment_once(desk.ticket, key=key, content="first")[1] is True


def test_another_key_writes_again(desk: Desk) -> None:
    for _ in range(2):
        desk.zoho.comment_once(desk.ticket, key=str(new_id()), content="same words")
    assert len(desk.replay.comments[desk.ticket]) == 2


def test_minutes_become_hours_and_minutes(desk: Desk) -> None:
    desk.zoho.add_time_entry(desk.ticket, minutes=135, note="n", executed_at=desk.replay.now)
    kept = desk.replay.times[desk.ticket][0]
    assert (kept["hoursSpent"], kept["minutesSpent"]) == ("2", "15")
    assert kept["executedTime"] == "2026-03-02T09:00:00.000Z"


def test_a_private_comment_is_private(desk: Desk) -> None:
    assert desk.zoho.comment(desk.ticket, content="for agents")["isPublic"] is False


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=200, body=b"<html>maintenance</html>"),
        Fault(status=200, body=b"{"),
        Fault(status=200, body=[1, 2]),
    ],
)
def test_an_answer_of_another_form_is_unavailable(desk: Desk, fault: Fault) -> None:
    desk.replay.faults.extend([replace(fault, only="GET")] * 3)
    with pytest.raises(Unavailable):
        desk.zoho.ticket(desk.ticket)


def test_a_huge_answer_is_not_taken_in(desk: Desk) -> None:
    desk.replay.faults.append(Fault(status=200, body=b" " * (MAX_ANSWER_BYTES + 1), only="GET"))
    with pytest.raises(ValidationFailed) as refused:
        desk.zoho.ticket(desk.ticket)
    assert refused.value.reason == "answer-too-large"


def test_redirects_are_not_followed(desk: Desk) -> None:
    elsewhere = {"Location": desk.replay.url + "/api/v1/tickets/1"}
    desk.replay.faults.append(Fault(status=302, headers=elsewhere, only="GET"))
    with pytest.raises(ValidationFailed):
        desk.zoho.ticket(desk.ticket)
    assert desk.replay.count("GET") == 1


def test_issues_are_listed_without_pull_requests_and_in_pages(issues: Issues) -> None:
    for number in range(4):
        issues.replay.now += timedelta(minutes=1)
        issues.replay.add_issue(f"issue {number}")
    issues.replay.add_issue("a change", pull_request={"url": "https://example.test"})
    first = issues.github.issues(per_page=3)
    assert [record["number"] for record in first.records] == [1, 2, 3]
    assert first.next_page == 2
    second = issues.github.issues(per_page=3, page=2)
    assert [record["number"] for record in second.records] == [4]
    assert second.next_page is None
    changed = issues.github.issues(since=issues.replay.now)
    assert [record["number"] for record in changed.records] == [4]


def test_labels_and_states_are_set(issues: Issues) -> None:
    issues.replay.add_issue("broken")
    assert issues.github.add_labels(1, ["needs info", "bug/ui"])
    assert [item["name"] for item in issues.github.remove_label(1, "bug/ui")] == ["needs info"]
    assert issues.github.issues(labels=["needs info"]).records
    closed = issues.github.set_state(1, "closed", reason="completed")
    assert (closed["state"], closed["state_reason"]) == ("closed", "completed")
    with pytest.raises(NotFound):
        issues.github.remove_label(1, "bug/ui")
    with pytest.raises(ValidationFailed):
        issues.github.set_state(1, "merged")


def test_a_repeated_comment_is_found_by_its_mark(issues: Issues) -> None:
    issues.replay.add_issue("broken")
    issues.replay.now = datetime.now(UTC)
    key = str(new_id())
    issues.replay.faults.append(Fault(status=502, done=True, only="POST"))
    with pytest.raises(OutcomeUnknown):
        issues.github.comment_once(1, "We are on it.", key=key)
    found, repeated = issues.github.comment_once(1, "We are on it.", key=key)
    assert repeated
    assert found["body"] == f"We are on it.\n\n<!-- cairn:{key} -->"
    assert len(issues.replay.comments[1]) == 1


def test_a_comment_is_found_on_a_later_page(issues: Issues) -> None:
    issues.replay.add_issue("long")
    key = str(uuid4())
    for number in range(120):
        issues.github.comment(1, f"comment {number}")
    issues.github.comment_once(1, "mine", key=key)
    assert issues.github.comment_once(1, "mine", key=key)[1] is True


def test_a_wrong_token_is_said_to_be_and_never_shown(issues: Issues) -> None:
    wrong = replace(issues.repository, token="ghp_wrong")
    with pytest.raises(ConnectorUnauthorised) as refused:
        GitHubIssues(wrong).repository()
    assert "Bad credentials" in refused.value.detail
    assert "ghp_wrong" not in repr(wrong) + str(refused.value)


def test_a_403_with_a_spent_limit_is_a_limit(issues: Issues) -> None:
    ends = str(int(issues.replay.now.timestamp()) + 900)
    spent = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": ends}
    issues.replay.faults.append(Fault(status=403, headers=spent))
    with pytest.raises(RateLimited) as limited:
        issues.github.repository()
    assert limited.value.retry_after == 900
    issues.replay.faults.append(Fault(status=403, body={"message": "Resource not accessible"}))
    with pytest.raises(ConnectorUnauthorised):
        issues.github.repository()


def test_a_secondary_limit_is_waited_for_when_it_is_short(issues: Issues) -> None:
    issues.replay.faults.append(Fault(status=429, headers={"retry-after": "2"}))
    assert issues.github.repository()["full_name"] == "harbourlane/booking"
    (waited,) = issues.waited
    assert 2 <= waited <= 2.5


@pytest.mark.parametrize("name", ["", "..", "a/b", "a b", "a?b", "x" * 101, "a\n", "%2e%2e", "a#b"])
def test_names_of_repositories_are_names(issues: Issues, name: str) -> None:
    for wrong in ({"owner": name}, {"name": name}):
        with pytest.raises(ValidationFailed):
            GitHubIssues(replace(issues.repository, **wrong))


@pytest.mark.parametrize(
    "url",
    [
        "http://api.github.com",
        "ftp://api.github.com",
        "https://user@api.github.com",
        "https://api.github.com?x=y",
        "https://",
        "api.github.com",
        "http://localhost.example.test",
        "https://[::1",
        "https://api.github.com:99999",
        "https://api.github.com:0",
        "https://api.github .com",
        "https://api.git\nhub.com",
    ],
)
def test_base_addresses_are_https_or_this_machine(url: str) -> None:
    with pytest.raises(ValidationFailed):
        checked_base_url(url)


def test_a_server_that_is_not_there_is_unavailable() -> None:
    nowhere = GitHubRepository(
        owner="a", name="b", token="t", api_url="http://127.0.0.1:9", allow_private=True
    )
    with pytest.raises(Unavailable) as refused:
        GitHubIssues(nowhere, pause=lambda seconds: None).comment(1, "hello")
    assert refused.value.reason == "unreachable"


def test_a_key_of_version_7_says_when_it_was_made() -> None:
    made = not_before(str(new_id()))
    assert made is not None
    assert timedelta(hours=23) < datetime.now(UTC) - made < timedelta(hours=25)
    assert not_before(str(uuid4())) is None
    assert not_before("anything") is None
    assert not_before("ffffffff-ffff-7fff-bfff-ffffffffffff") is None


def test_addresses_inside_this_network_are_refused_unless_allowed(
    desk: Desk, issues: Issues
) -> None:
    for url in (desk.replay.url, "http://localhost:1"):
        with pytest.raises(ValidationFailed):
            GitHubIssues(replace(issues.repository, api_url=url, allow_private=False))
    for url in ("https://127.0.0.1:1", "https://localhost:1", "https://169.254.169.254"):
        hidden = replace(issues.repository, api_url=url, allow_private=False)
        with pytest.raises(ValidationFailed) as refused:
            GitHubIssues(hidden).repository()
        assert "private network" in refused.value.detail
    inside = replace(desk.account, accounts_url="https://10.0.0.1", allow_private=False)
    with pytest.raises(ValidationFailed):
        desk.client(replace(inside, desk_url="https://10.0.0.1/api/v1")).ticket(desk.ticket)
