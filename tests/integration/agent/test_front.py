"""Routes of investigations, approvals, grants, redaction and costs as wired, over PostgreSQL."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.planting import plant_investigation
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.world import open_world

from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.kernel.text.canonical import format_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database

BINDING = "a" * 64


@pytest.fixture
def cloud(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    cloud = Cloud()
    stand_in_for_aws(monkeypatch, cloud)
    return cloud


@pytest.fixture
def front(cloud: Cloud, database: Database) -> Iterator[tuple[Front, dict[str, str]]]:
    """The API of a workspace with an investigation that was halted, and the ids in it."""
    world = open_world(database.owner_url, database.app_url, f"front {new_id()}")
    planted = plant_investigation(database.owner_url, world.workspace_id, str(new_id()), "canary")
    world.pool.close()
    yield Front(world.key), planted


def test_everything_can_be_read(front: tuple[Front, dict[str, str]]) -> None:
    api, ids = front
    [listed] = api.call("GET", "/v1/investigations")["items"]
    assert (listed["id"], listed["state"]) == (ids["investigation_id"], "HALTED")
    shown = api.call("GET", f"/v1/investigations/{ids['investigation_id']}")
    assert [approval["id"] for approval in shown["approvals"]] == [ids["approval_id"]]
    assert [action["tool"] for action in shown["actions"]] == ["canary.light"]
    assert shown["left"]["iterations"] == 20
    steps = api.call("GET", f"/v1/investigations/{ids['investigation_id']}/steps")
    assert [item["readable"] for item in steps["items"]] == [False]
    assert steps["ended"] is True
    events = api.answer("GET", f"/v1/investigations/{ids['investigation_id']}/events")
    assert "event: investigation_end" in events.text
    [call] = api.call("GET", "/v1/tool-calls")["items"]
    assert (call["owner"], call["state"]) == ("canary", "denied")
    [question] = api.call("GET", "/v1/approvals?state=pending")["items"]
    assert question["id"] == ids["approval_id"]
    assert api.call("GET", "/v1/costs")["total"]["calls"] == 0
    assert api.call("POST", "/v1/investigations/resume") == {"items": []}


def grant(**changes: Any) -> dict[str, Any]:
    until = format_timestamp(utc_now() + timedelta(days=1))
    given = {"tool": "canary.light", "expires_at": until, "max_uses": 1, "reason": "Why not."}
    return given | changes


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "reason"),
    [
        ("POST", "/v1/investigations", {"ticket_id": "ID"}, 404, "not-found"),
        ("POST", "/v1/investigations/ID/resume", None, 404, "not-found"),
        ("POST", "/v1/investigations/{investigation_id}/resume", None, 409, "ended"),
        ("GET", "/v1/approvals/ID", None, 404, "not-found"),
        ("POST", "/v1/approvals/ID/approve", {"binding": BINDING}, 404, "not-found"),
        ("POST", "/v1/approvals/ID/reject", {"reason": "No."}, 404, "not-found"),
        (
            "POST",
            "/v1/approvals/ID/edit",
            {"binding": BINDING, "arguments": {}, "reason": "So."},
            404,
            "not-found",
        ),
        ("POST", "/v1/grants", grant(arguments={"lamp": "one"}), 404, "unknown-tool"),
        ("POST", "/v1/grants", grant(approval_id="ID"), 404, "not-found"),
        ("POST", "/v1/grants", grant(approval_id="{approval_id}"), 422, "grant"),
        ("DELETE", "/v1/grants/ID", None, 404, "not-found"),
    ],
)
def test_what_is_not_there_or_over_is_refused(
    front: tuple[Front, dict[str, str]],
    method: str,
    path: str,
    body: dict[str, Any] | None,
    status: int,
    reason: str,
) -> None:
    api, ids = front

    def filled(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        for name, one in ids.items():
            value = value.replace(f"{{{name}}}", one)
        return value.replace("ID", str(new_id()))

    given = {name: filled(value) for name, value in body.items()} if body is not None else None
    answer = api.answer(method, filled(path), json=given)
    assert (answer.status_code, answer.json()["reason"]) == (status, reason)


def test_of_a_question_nobody_can_open_nothing_is_shown_and_nothing_decided(
    front: tuple[Front, dict[str, str]],
) -> None:
    api, ids = front
    path = f"/v1/approvals/{ids['approval_id']}"
    assert api.answer("GET", path).status_code == 404
    assert api.answer("POST", f"{path}/approve", json={"binding": BINDING}).status_code == 404
    [question] = api.call("GET", "/v1/approvals")["items"]
    assert question["state"] == "pending"


def test_a_grant_that_cannot_be_opened_is_listed_and_revoked(
    front: tuple[Front, dict[str, str]],
) -> None:
    api, ids = front
    [listed] = api.call("GET", "/v1/grants")["items"]
    assert (listed["id"], listed["reason"]) == (ids["grant_id"], "")
    revoked = api.call("DELETE", f"/v1/grants/{ids['grant_id']}")
    assert revoked["revoked_at"] is not None


def test_the_redaction_profile_that_was_chosen_is_shown_and_on_record(
    front: tuple[Front, dict[str, str]],
) -> None:
    api, _ = front
    assert api.call("GET", "/v1/redaction") == {"profile": "pii"}
    assert api.call("PUT", "/v1/redaction", json={"profile": "hipaa"}) == {"profile": "hipaa"}
    assert api.call("GET", "/v1/redaction") == {"profile": "hipaa"}
    [entry] = api.call("GET", "/v1/ledger?type=redaction.changed")["items"]
    assert entry["meta"] == {"before": "pii", "profile": "hipaa"}
    refused = api.answer("PUT", "/v1/redaction", json={"profile": "hippa"})
    assert refused.status_code == 422
    assert api.call("PUT", "/v1/redaction", json={"profile": "pii"}) == {"profile": "pii"}
