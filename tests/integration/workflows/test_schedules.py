"""Workflows that run by themselves, and the daily briefing, over PostgreSQL."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from tests.support.front import Front, function
from tests.support.workflows import Machine, shown

from cairn.workflows import runs as workflow_runs

if TYPE_CHECKING:
    import pytest
    from tests.plugins.postgres import Database
    from tests.support.front import Cloud

LATEST = {"keyword": "daily-briefing"}
DIGEST = {"name": "sum", "kind": "digest"}


def due(database: Database, front: Front) -> None:
    """Let everything of the workspace that has a schedule be due."""
    workspace = front.call("GET", "/v1/whoami")["workspace_id"]
    with database.connect_as_superuser() as root:
        root.execute(
            "UPDATE workflow SET due_at = now() - interval '1 minute'"
            " WHERE due_at IS NOT NULL AND workspace_id = %s",
            [workspace],
        )


def tick() -> None:
    function("audit").handler({"step": "start_workflows"}, None)


def runs(front: Front) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = front.call("GET", "/v1/workflow-runs")["items"]
    return items


def test_what_is_due_runs_once_and_is_due_again_the_next_day(
    front: Front, machine: Machine, cloud: Cloud, database: Database
) -> None:
    schedule = {"at": "07:30", "timezone": "America/St_Johns"}
    body = {"name": "flow", "steps": [DIGEST], "schedule": schedule}
    made = front.call("POST", "/v1/workflows", json=body)
    clock = datetime.fromisoformat(made["due_at"]).astimezone(ZoneInfo("America/St_Johns"))
    assert (clock.hour, clock.minute) == (7, 30)
    due(database, front)
    tick()
    tick()
    [run] = runs(front)
    assert run["trigger"] == "schedule"
    assert machine.work() == ["done"]
    assert shown(front, run["id"])["state"] == "done"
    assert front.call("GET", "/v1/workflows/flow")["due_at"] == made["due_at"]
    front.call("DELETE", "/v1/workflows/flow")
    tick()
    assert len(runs(front)) == 1


def test_a_workflow_that_cannot_begin_stays_due_and_the_others_begin(
    front: Front, machine: Machine, cloud: Cloud, database: Database
) -> None:
    for name in ("broken", "whole"):
        body = {"name": name, "steps": [DIGEST], "schedule": {"at": "07:30"}}
        front.call("POST", "/v1/workflows", json=body)
    with database.connect_as_superuser() as root:
        root.execute(
            "UPDATE workflow SET body = jsonb_set(body, '{schedule,timezone}', '\"Europe/Gone\"')"
            " WHERE name = 'broken'"
        )
    due(database, front)
    tick()
    assert [run["workflow"] for run in runs(front)] == ["whole"]
    assert machine.work() == ["done"]
    with database.connect_as_superuser() as root:
        root.execute("UPDATE workflow SET body = jsonb_set(body, '{schedule,timezone}', '\"UTC\"')")
    tick()
    assert [run["workflow"] for run in runs(front)] == ["broken", "whole"]


def test_at_most_open_runs_a_due_one_waits_until_there_is_room(
    front: Front, machine: Machine, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"name": "daily", "steps": [DIGEST], "schedule": {"at": "07:30"}}
    front.call("POST", "/v1/workflows", json=body)
    open_run = front.call("POST", "/v1/workflows/daily/runs", json={})["id"]
    monkeypatch.setattr(workflow_runs, "MOST_OPEN", 1)
    due(database, front)
    tick()
    assert [run["id"] for run in runs(front)] == [open_run]
    front.call("POST", f"/v1/workflow-runs/{open_run}/cancel")
    tick()
    assert [run["trigger"] for run in runs(front)] == ["schedule", "request"]


def test_a_schedule_that_gives_nothing_to_an_input_or_has_no_such_zone_is_refused(
    front: Front,
) -> None:
    asks = {"name": "ask", "kind": "notify", "message": "{{ input.x }}"}
    for steps, schedule, reason in (
        ([asks], {"at": "07:00"}, "schedule-input"),
        ([DIGEST], {"at": "25:00"}, "schedule"),
        ([DIGEST], {"at": "07:00", "timezone": "Europe/Atlantis"}, "unknown-zone"),
        ([DIGEST], {"at": "07:00", "days": ["someday"]}, "schedule"),
    ):
        body = {"name": "flow", "steps": steps, "schedule": schedule}
        refused = front.answer("POST", "/v1/workflows", json=body)
        assert (refused.status_code, refused.json()["reason"]) == (422, reason)


def test_the_daily_briefing_is_a_report_that_the_setting_switches(
    front: Front, machine: Machine, cloud: Cloud, database: Database
) -> None:
    text = "The boiler is serviced each May."
    front.call("POST", "/v1/memories", json={"type": "fact", "text": text})
    setting = {"workflows": {"briefing": {"at": "07:00", "timezone": "Pacific/Auckland"}}}
    front.call("PATCH", "/v1/settings", json=setting)
    tick()
    due(database, front)
    tick()
    [run] = runs(front)
    assert machine.work() == ["done"]
    began = datetime.fromisoformat(run["created_at"]).astimezone(ZoneInfo("Pacific/Auckland"))
    day = began.date().isoformat()
    [report] = front.call("GET", "/v1/reports/latest", params={"keyword": "daily-briefing"})[
        "items"
    ]
    assert report["title"] == f"Daily briefing {day}"
    assert (report["keywords"], report["source_workflow"]) == (
        ["daily-briefing", day],
        "daily-briefing",
    )
    assert text in report["body"]
    body = {"steps": [DIGEST]}
    refused = front.answer("PUT", "/v1/workflows/daily-briefing", json=body)
    assert (refused.status_code, refused.json()["reason"]) == (409, "ships")
    front.call("PATCH", "/v1/settings", json={"workflows": {"briefing": None}})
    tick()
    assert front.call("GET", "/v1/workflows")["items"] == []
