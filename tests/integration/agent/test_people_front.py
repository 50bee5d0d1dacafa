"""Routes of people around investigations as they are wired, over PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.planting import plant_investigation
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.world import open_world

from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from pathlib import Path

    from tests.plugins.postgres import Database

REMEMBER = "/v1/investigations/{investigation_id}/steps/1/remember"


@pytest.fixture
def front(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Front, dict[str, str]]:
    """The API of a workspace with an investigation that was halted, and the ids in it."""
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"people front {new_id()}")
    planted = plant_investigation(database.owner_url, world.workspace_id, str(new_id()), "canary")
    world.pool.close()
    return Front(world.key), planted


def test_everything_can_be_read_and_said(front: tuple[Front, dict[str, str]]) -> None:
    api, ids = front
    [listed] = api.call("GET", "/v1/escalations?state=failed")["items"]
    assert (listed["id"], listed["why"]) == (ids["escalation_id"], None)
    shown = api.call("GET", f"/v1/escalations/{ids['escalation_id']}")
    assert [call["tool"] for call in shown["tool_calls"]] == ["canary.light"]
    assert [line["seq"] for line in shown["transcript"]] == [1]
    again = api.call("POST", f"/v1/escalations/{ids['escalation_id']}/retry")
    assert again["state"] == "queued"
    investigation = f"/v1/investigations/{ids['investigation_id']}"
    assert api.call("POST", f"{investigation}/rating", json={"rating": 2})["rating"] == 2
    disputed = api.call("POST", f"{investigation}/dispute", json={"reason": "Why?"})
    assert disputed["kind"] == "dispute"
    assert len(api.call("GET", f"{investigation}/opinions")["items"]) == 1
    [one] = api.call("GET", "/v1/candidates")["items"]
    assert one["id"] == ids["candidate_id"]
    assert api.call("GET", f"/v1/candidates/{ids['candidate_id']}")["text"] is None
    assert api.call("GET", "/v1/proposals") == {"items": [], "next_cursor": None}
    url = "https://hooks.slack.com/services/T0/B0/secret"
    api.call("POST", "/v1/escalation-channels", json={"name": "ops", "url": url})
    channels = api.call("GET", "/v1/escalation-channels")["items"]
    assert {channel["name"] for channel in channels} == {"canary", "ops"}
    assert api.call("DELETE", "/v1/escalation-channels/ops") == {"name": "ops"}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "reason"),
    [
        ("GET", "/v1/escalations/ID", None, 404, "not-found"),
        ("POST", "/v1/escalations/ID/retry", None, 404, "not-found"),
        ("DELETE", "/v1/escalation-channels/none", None, 404, "not-found"),
        ("POST", "/v1/escalation-channels", {"name": "a", "url": "http://a.b"}, 422, None),
        ("POST", "/v1/escalation-channels", {"name": "a", "url": "https://10.0.0.1"}, 422, None),
        ("POST", "/v1/investigations/ID/rating", {"rating": 5}, 404, "not-found"),
        ("POST", "/v1/investigations/ID/dispute", {"reason": "No."}, 404, "not-found"),
        ("GET", "/v1/investigations/ID/opinions", None, 404, "not-found"),
        ("POST", "/v1/investigations/ID/steps/1/remember", {}, 404, "not-found"),
        ("POST", REMEMBER, {}, 404, "forgotten"),
        ("GET", "/v1/candidates/ID", None, 404, "not-found"),
        ("POST", "/v1/candidates/ID/accept", {}, 404, "not-found"),
        ("POST", "/v1/candidates/ID/edit", {"text": "x"}, 404, "not-found"),
        ("POST", "/v1/candidates/ID/reject", {"reason": "No."}, 404, "not-found"),
        ("POST", "/v1/candidates/{candidate_id}/accept", {}, 404, "forgotten"),
        ("POST", "/v1/proposals/ID/accept", None, 404, "not-found"),
        ("POST", "/v1/proposals/ID/reject", None, 404, "not-found"),
    ],
)
def test_what_cannot_be_is_refused(
    front: tuple[Front, dict[str, str]],
    method: str,
    path: str,
    body: dict[str, Any] | None,
    status: int,
    reason: str | None,
) -> None:
    api, ids = front
    answer = api.answer(method, path.replace("ID", str(new_id())).format(**ids), json=body)
    assert answer.status_code == status, answer.text
    assert reason is None or answer.json()["reason"] == reason
