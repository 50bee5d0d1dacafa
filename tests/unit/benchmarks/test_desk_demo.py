"""The demo's three tickets: filed, followed, answered, shown. Over an API that plays along."""

from __future__ import annotations

import io
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pytest
from rich.console import Console

from benchmarks.demo.desk import TICKETS, Desk, can_work, runbooks, show_tickets, went_well
from cairn.cli.client import Failure
from cairn.cli.deps import Deps
from cairn.settings.cli import CliSettings

STATUSES = ("auto_resolved", "needs_tech", "needs_l2")


@dataclass
class Api:
    """Each investigation has one step a look; the first waits for a person in between."""

    posted: list[tuple[str, Any]] = field(default_factory=list["tuple[str, Any]"])
    looks: dict[str, int] = field(default_factory=dict[str, int])
    approved: bool = False
    never_ends: bool = False

    def post(self, path: str, body: Any) -> dict[str, Any]:
        self.posted.append((path, body))
        if path == "/v1/tickets":
            return {"id": f"t{len(self.posted)}", "outcome": "new"}
        self.approved = True
        return {"state": "granted", "investigation_id": "i-t1"}

    def get(self, path: str, **given: Any) -> dict[str, Any]:
        if path == "/v1/investigations":
            return {"items": [{"id": f"i-{given['ticket_id']}"}] if self._late(path) else []}
        if path == "/v1/approvals":
            waits = self.looks.get("/v1/investigations/i-t1/steps", 0) > 1 and not self.approved
            other = {"id": "a9", "investigation_id": "somebody-elses"}
            return {
                "items": [other, *([{"id": "a1", "investigation_id": "i-t1"}] if waits else [])]
            }
        if path == "/v1/approvals/a1":
            return QUESTION
        if path.endswith("/steps"):
            return self._steps(path)
        status = STATUSES[int(path[-1]) - 1]
        reply = {"text": "Hello,\n\nIt is [bold]open[/] again [tool:x]."}
        return {"title": "A [title]", "status": status, "replies": [reply]}

    def _late(self, path: str) -> bool:
        self.looks[path] = self.looks.get(path, 0) + 1
        return self.looks[path] > 3

    def _steps(self, path: str) -> dict[str, Any]:
        count = self.looks[path] = self.looks.get(path, 0) + 1
        ended = not self.never_ends and count > 3 and (self.approved or "t1" not in path)
        step = {
            "at": "2026-11-03T10:00:00Z",
            "kind": "plan" if count % 2 else "state",
            "system": "planner",
            "action": "act",
            "detail": f"step {count} [red]of[/] {path}" if count > 1 else None,
        }
        return {"items": [step], "after": count, "ended": ended}


QUESTION: dict[str, Any] = {
    "id": "a1",
    "binding": "b" * 64,
    "tool": "accounts.unlock_user",
    "arguments": {"user_id": "u-1 [bold]"},
    "why": "It is locked.",
    "rule": "writes-need-approval",
    "detail": "A person approves every write.",
    "rollback": None,
    "evidence": [{"citation": "[doc:kb://a.md]", "text": "x"}],
}


def desk(api: Api, seconds: float = 0.0) -> tuple[Desk, io.StringIO]:
    told = io.StringIO()
    console = Console(file=told, width=120, highlight=False)
    deps = Deps(sleep=lambda _: None, stopwatch=iter(_times(seconds)).__next__)
    for name, value in {"client": api, "out": console, "err": Console(file=io.StringIO())}.items():
        deps.__dict__[name] = value
    connected: Future[None] = Future()
    connected.set_result(None)
    return Desk(deps=deps, connected=connected), told


def _times(step: float) -> Any:
    now = 0.0
    while True:
        yield now
        now += step


def test_tickets_are_filed_followed_answered_and_returned() -> None:
    api = Api()
    it, told = desk(api)
    worked = it.work(draw=True)
    assert [path for path, _ in api.posted] == ["/v1/tickets"] * 3 + ["/v1/approvals/a1/approve"]
    assert api.posted[-1][1]["binding"] == QUESTION["binding"]
    assert [item["status"] for item in worked] == list(STATUSES)
    assert [item["approvals"] for item in worked] == [1, 0, 0]
    assert went_well(worked)
    shown = told.getvalue()
    assert "an approval waits" in shown
    assert "accounts.unlock_user(user_id = u-1 [bold])" in shown
    assert "nothing undoes this" in shown
    assert "step 3 [red]of[/]" in shown
    assert "step 2" not in shown


def test_every_run_files_new_tickets() -> None:
    api = Api()
    desk(api)[0].work(draw=False)
    ids = {body["external_id"] for path, body in api.posted if path == "/v1/tickets"}
    assert len(ids) == 3


def test_tickets_filed_early_are_followed_and_filed_once() -> None:
    api = Api()
    it, _ = desk(api)
    it.file()
    filed = list(it.tickets)
    assert [item["id"] for item in it.work(draw=False)] == filed
    assert [path for path, _ in api.posted].count("/v1/tickets") == 3


def test_nothing_is_drawn_for_json() -> None:
    it, told = desk(Api())
    it.work(draw=False)
    assert told.getvalue() == ""


def test_an_investigation_that_never_ends_is_given_up_on() -> None:
    it, _ = desk(Api(never_ends=True), seconds=100.0)
    with pytest.raises(Failure, match="take too long"):
        it.work(draw=False)


def test_a_connector_that_does_not_start_is_said() -> None:
    it, _ = desk(Api())
    broken: Future[None] = Future()
    broken.set_exception(Failure("The connector accounts does not start: crashed."))
    it.connected = broken
    with pytest.raises(Failure, match="does not start"):
        it.work(draw=False)


def test_replies_are_shown_as_they_are() -> None:
    it, told = desk(Api())
    worked = it.work(draw=False)
    show_tickets(it.deps, worked)
    assert "It is [bold]open[/] again [tool:x]." in told.getvalue()
    assert "A [title]" in told.getvalue()


def test_another_end_than_the_storys_is_not_well() -> None:
    worked = [{"status": status, "replies": ["x"]} for status in STATUSES]
    assert went_well(worked)
    assert not went_well(worked[:2])
    assert not went_well([*worked[:2], {"status": "failed", "replies": ["x"]}])
    assert not went_well([*worked[:2], {"status": "needs_l2", "replies": []}])


def test_without_a_machine_or_a_server_there_is_no_desk() -> None:
    assert not can_work(Deps(read_settings=CliSettings.model_construct))


def test_the_tickets_and_runbooks_are_there() -> None:
    assert len(TICKETS) == 3
    assert all(runbook.is_file() for runbook in runbooks())
