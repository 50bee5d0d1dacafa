"""The connectors `github-issues` and `zoho-desk`, as MCP servers, over servers that keep state."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.connecting import call, listed
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

from cairn.bundled.github_issues import server as github_issues
from cairn.bundled.zoho_desk import server as zoho_desk
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def github() -> Iterator[GitHubReplay]:
    with github_replay() as replay:
        replay.now = datetime.now(UTC)
        replay.add_issue("Search is slow", "Since Monday.", labels=[{"name": "bug"}])
        yield replay


@pytest.fixture
def issues(github: GitHubReplay):
    config = {
        "owner": "harbourlane",
        "repository": "booking",
        "api_url": github.url,
        "allow_private": True,
    }
    return github_issues(config, {"token": TOKEN})


@pytest.fixture
def zoho() -> Iterator[ZohoReplay]:
    with zoho_replay() as replay:
        replay.now = datetime.now(UTC)
        replay.add_ticket("Locked out", contact=replay.add_contact("ana@pier.example", "Ana"))
        yield replay


@pytest.fixture
def desk(zoho: ZohoReplay):
    return zoho_desk(settings(zoho), SECRETS)


SECRETS = {"client_secret": CLIENT_SECRET, "refresh_token": REFRESH_TOKEN}


def settings(zoho: ZohoReplay) -> dict[str, Any]:
    return {
        "organisation_id": ORGANISATION,
        "client_id": CLIENT_ID,
        "from_address": "support@harbourlane.example",
        "desk_url": zoho.desk_url,
        "accounts_url": zoho.url,
        "allow_private": True,
    }


def ticket(zoho: ZohoReplay) -> str:
    return next(iter(zoho.tickets))


def key() -> str:
    return str(new_id())


def test_issues_are_listed_and_read(issues) -> None:
    found = call(issues, "list_issues", labels=["bug"]).value["issues"]
    assert [(item["number"], item["title"]) for item in found] == [(1, "Search is slow")]
    read = call(issues, "get_issue", number=1).value
    assert (read["body"], read["comments"]) == ("Since Monday.", [])
    assert call(issues, "get_issue", number=99).code == "not-found"


def test_an_issue_is_commented_labelled_closed_and_opened_again(
    issues, github: GitHubReplay
) -> None:
    used = key()
    for repeated in (False, True):
        said = call(issues, "comment", number=1, body="We look into it.", idempotency_key=used)
        assert said.value["repeated"] is repeated
    assert len(github.comments[1]) == 1
    call(issues, "add_label", number=1, label="needs info", idempotency_key=key())
    assert call(issues, "remove_label", number=1, label="bug", idempotency_key=key()).value == {
        "labels": ["needs info"]
    }
    again = call(issues, "remove_label", number=1, label="bug", idempotency_key=key()).value
    assert again["note"] == "It had no such label."
    assert call(issues, "close", number=1, idempotency_key=key()).value["state"] == "closed"
    assert call(issues, "reopen", number=1, idempotency_key=key()).value["state"] == "open"


def test_dry_runs_of_issues_write_nothing(issues, github: GitHubReplay) -> None:
    for tool, more in (
        ("comment", {"body": "x"}),
        ("add_label", {"label": "x"}),
        ("remove_label", {"label": "bug"}),
        ("close", {}),
        ("reopen", {}),
    ):
        said = call(issues, tool, number=1, dry_run=True, **more).value
        assert said["dry_run"]
        assert said["issue"]["number"] == 1
    assert {item.method for item in github.asked} == {"GET"}


def test_a_lost_answer_is_unknown_and_found_at_the_next_try(issues, github: GitHubReplay) -> None:
    used = key()
    github.faults.append(Fault(cut=True, done=True, only="POST"))
    lost = call(issues, "comment", number=1, body="once", idempotency_key=used)
    assert lost.code == "outcome-unknown"
    assert call(issues, "comment", number=1, body="once", idempotency_key=used).value["repeated"]


def test_a_token_that_is_no_longer_good_asks_for_a_new_one(issues, github: GitHubReplay) -> None:
    github.token = "another"
    said = call(issues, "healthcheck")
    assert said.code == "unauthorized"
    assert TOKEN not in said.text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_issue", {"number": 0}),
        ("get_issue", {"number": "1/../2"}),
        ("list_issues", {"state": "merged"}),
        ("list_issues", {"labels": ["a,b"]}),
        ("list_issues", {"since": "yesterday"}),
        ("list_issues", {"since": "2026-01-01T00:00:00"}),
        ("comment", {"number": 1, "body": "x" * 30_001, "dry_run": True}),
        ("comment", {"number": 1, "body": "bell \x07", "dry_run": True}),
        ("comment", {"number": 1, "body": "no key"}),
        ("add_label", {"number": 1, "label": "a\nb", "dry_run": True}),
    ],
)
def test_bad_arguments_reach_nobody(
    issues, github: GitHubReplay, tool: str, arguments: dict[str, Any]
) -> None:
    assert call(issues, tool, **arguments).code == "validation-failed"
    assert github.asked == []


def test_tickets_are_listed_searched_and_read(desk, zoho: ZohoReplay) -> None:
    assert call(desk, "list_tickets").value["tickets"][0]["subject"] == "Locked out"
    found = call(desk, "search_tickets", email="ana@pier.example").value["tickets"]
    assert [item["id"] for item in found] == [ticket(zoho)]
    read = call(desk, "get_ticket", ticket_id=ticket(zoho)).value
    assert read["contact"]["email"] == "ana@pier.example"
    assert (read["threads"], read["comments"]) == ([], [])
    assert call(desk, "find_contacts", email="ANA@pier.example").value["contacts"]


def test_each_write_to_a_ticket_happens_once_under_its_key(desk, zoho: ZohoReplay) -> None:
    on = {"ticket_id": ticket(zoho)}
    for tool, more in (
        ("reply", {"content": "You can sign in again."}),
        ("private_comment", {"content": "Unlocked u-1001."}),
        ("time_entry", {"minutes": 12, "note": "Lockout"}),
    ):
        used = key()
        said = [call(desk, tool, **on, **more, idempotency_key=used).value for _ in range(2)]
        assert [item["repeated"] for item in said] == [False, True]
    kept = (zoho.threads, zoho.comments, zoho.times)
    assert [len(rows[ticket(zoho)]) for rows in kept] == [1, 1, 1]
    assert zoho.threads[ticket(zoho)][0]["to"] == "ana@pier.example"
    assert zoho.comments[ticket(zoho)][0]["isPublic"] is False
    closed = call(desk, "update_status", **on, status="Closed", idempotency_key=key()).value
    assert closed["status"] == "Closed"


def test_dry_runs_of_tickets_write_nothing(desk, zoho: ZohoReplay) -> None:
    on = {"ticket_id": ticket(zoho), "dry_run": True}
    for tool, more in (
        ("reply", {"content": "x"}),
        ("private_comment", {"content": "x"}),
        ("update_status", {"status": "Closed"}),
        ("time_entry", {"minutes": 1, "note": "x"}),
    ):
        assert call(desk, tool, **on, **more).value["dry_run"]
    assert {item.path for item in zoho.asked if item.method != "GET"} == {"/oauth/v2/token"}


def test_a_reply_needs_an_address_on_both_sides(zoho: ZohoReplay) -> None:
    silent = zoho_desk({**settings(zoho), "from_address": None}, SECRETS)
    said = call(silent, "reply", ticket_id=ticket(zoho), content="x", idempotency_key=key())
    assert said.code == "conflict"
    nobody = zoho.add_ticket("no mail", contact=zoho.add_contact("", "Nobody"))["id"]
    desk = zoho_desk(settings(zoho), SECRETS)
    said = call(desk, "reply", ticket_id=nobody, content="x", idempotency_key=key())
    assert said.code == "validation-failed"


def test_a_sign_in_taken_back_asks_for_a_new_one(desk, zoho: ZohoReplay) -> None:
    assert call(desk, "healthcheck").value["organisation"] == "Harbour Lane"
    zoho.revoke()
    said = call(desk, "get_ticket", ticket_id=ticket(zoho))
    assert said.code == "unauthorized"
    assert REFRESH_TOKEN not in said.text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_ticket", {"ticket_id": "1/../2"}),
        ("get_ticket", {"ticket_id": 5}),
        ("search_tickets", {}),
        ("search_tickets", {"text": "ab"}),
        ("search_tickets", {"changed_from": "2026-01-01T00:00:00Z"}),
        ("list_tickets", {"limit": 1_000}),
        ("time_entry", {"ticket_id": "1", "minutes": 0, "note": "x", "dry_run": True}),
        ("update_status", {"ticket_id": "1", "status": "a,b", "dry_run": True}),
        ("reply", {"ticket_id": "1", "content": "x", "to": "evil@x.test", "dry_run": True}),
    ],
)
def test_bad_arguments_reach_no_help_desk(
    desk, zoho: ZohoReplay, tool: str, arguments: dict[str, Any]
) -> None:
    assert call(desk, tool, **arguments).code == "validation-failed"
    assert zoho.asked == []


def test_settings_that_cannot_work_are_named(zoho: ZohoReplay) -> None:
    for config, secrets, where in (
        ({}, SECRETS, "organisation_id"),
        ({**settings(zoho), "organisation_id": "x"}, SECRETS, "organisation_id"),
        ({**settings(zoho), "desk_url": "ftp://desk.example.test"}, SECRETS, "base_url"),
        (settings(zoho), {"client_secret": "x"}, "refresh_token"),
    ):
        with pytest.raises(ValidationFailed) as refused:
            zoho_desk(config, secrets)
        assert any(where in error.location for error in refused.value.errors)
    with pytest.raises(ValidationFailed):
        github_issues({"owner": "a/b", "repository": "c"}, {"token": "t"})


def test_what_cannot_be_taken_back_says_so(issues, desk) -> None:
    declared = {
        tool.name: (tool.meta or {})["cairn/tool"] for tool in [*listed(issues), *listed(desk)]
    }
    assert declared["close"]["rollback"] == "reopen"
    assert declared["reply"]["requires_approval_above_autonomy"] == "propose"
    assert "rollback" not in declared["reply"]
