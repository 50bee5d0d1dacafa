"""`cairn investigations` and `cairn tool-calls`: lists, the timeline live, resuming."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.unit.api.approval_fakes import ApprovalWorld
from tests.unit.api.fakes import World
from tests.unit.api.investigation_fakes import AgentWorld, step, tool_call
from tests.unit.cli.fakes import AppTransport, Shell

from cairn.cli.investigations import RECONNECTS, events
from cairn.investigations.state import State
from cairn.kernel.ids import new_id

LOCKED = "[tool:1] locked <EMAIL_1>"


def ended(*lines: Any) -> tuple[Shell, str]:
    agents = AgentWorld()
    one = agents.add(*lines)
    agents.end(one.id)
    return Shell(world=World(agents=agents)), str(one.id)


def test_investigations_are_listed_with_what_they_spent() -> None:
    agents = AgentWorld()
    agents.add()
    waiting = agents.add(state=State.WAITING_APPROVAL)
    shell = Shell(world=World(agents=agents))
    shown = shell.run("investigations", "list").stdout
    assert "WAITING_APPROVAL" in shown
    assert "1200" in shown
    assert "0.0200" in shown
    listed = shell.run("investigations", "list", "--state", "WAITING_APPROVAL", "--json")
    assert [load["id"] for load in json.loads(listed.stdout)] == [str(waiting.id)]


def test_one_is_shown_with_spending_actions_and_every_step() -> None:
    shell, one = ended(step(1, detail="looked [at] it"), step(2, detail=None))
    shown = shell.run("investigations", "show", one)
    assert shown.exit_code == 0, shown.stderr
    assert "auto_resolved" in shown.stdout
    assert "planner" in shown.stdout
    assert "48800" in shown.stdout
    assert "accounts.unlock" in shown.stdout
    assert "looked [at] it" in shown.stdout
    assert "(forgotten)" in shown.stdout
    assert json.loads(shell.run("investigations", "show", one, "--json").stdout)["left"]


def test_watching_draws_each_step_and_the_end() -> None:
    shell, one = ended(step(1, system="plan", kind="plan"), step(2, detail=LOCKED))
    shown = shell.run("investigations", "watch", one)
    assert shown.exit_code == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert [line for line in lines if "● plan" in line]
    assert [line for line in lines if LOCKED in line and "250 ms" in line]
    assert "DONE  auto_resolved" in shown.stdout
    assert "accounts-unlock 250 ms" in shown.stdout


def test_watching_for_programs_is_a_json_line_an_event() -> None:
    shell, one = ended(step(1))
    shown = shell.run("investigations", "watch", one, "--json")
    told = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [each["event"] for each in told] == [
        *("investigation_start", "graph_start"),
        *("step_start", "tool_activity", "tool_activity", "step_end"),
        *("debug_meta", "graph_end", "investigation_end"),
    ]
    assert told[5]["id"] == 1


def test_who_watches_is_told_which_approval_waits() -> None:
    agents, approving = AgentWorld(), ApprovalWorld()
    one = agents.add(step(1), state=State.WAITING_APPROVAL)
    asked = approving.add(investigation_id=one.id)
    approving.add()
    looks: list[int] = []

    def happens() -> None:
        looks.append(1)
        if len(looks) == 2:
            agents.end(one.id)

    agents.looked = happens
    shell = Shell(world=World(agents=agents, approving=approving))
    shown = shell.run("investigations", "watch", str(one.id)).stdout
    assert f"cairn approvals show {asked.id}" in shown
    assert shown.count("cairn approvals show") == 1


class Gateway(AppTransport):
    """API Gateway before the app: nothing is streamed."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            problem = {"type": "urn:cairn:error:not-streamable", "status": 501, "detail": "Poll."}
            headers = {"content-type": "application/problem+json"}
            return httpx.Response(501, headers=headers, json=problem)
        return super().handle_request(request)


def test_where_nothing_is_streamed_it_polls_and_draws_the_same() -> None:
    agents = AgentWorld()
    one = agents.add(step(1))
    world = World(agents=agents)
    looks: list[int] = []

    def happens() -> None:
        looks.append(1)
        if len(looks) == 2:
            agents.lines[one.id].append(step(2))
        if len(looks) == 3:
            agents.end(one.id)

    agents.looked = happens
    transport = Gateway(world)
    shell = Shell(world=world, transport=transport)
    shown = shell.run("investigations", "watch", str(one.id))
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.index("step 1") < shown.stdout.index("step 2")
    assert "DONE  auto_resolved" in shown.stdout
    assert any(path.endswith("/steps") for path in transport.seen)


class Broken(httpx.SyncByteStream):
    def __init__(self, parts: list[bytes]) -> None:
        self.parts = parts

    def __iter__(self) -> Iterator[bytes]:
        yield from self.parts
        raise httpx.ReadError("gone")


class BreaksOff(AppTransport):
    """A line that breaks `times` times after the first step."""

    def __init__(self, world: World, times: int) -> None:
        super().__init__(world)
        self.left = times
        self.last: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            self.last.append(request.headers["last-event-id"])
            if self.left:
                self.left -= 1
                whole = super().handle_request(request).read()
                before, first, after = whole.partition(b"id: 1\n")
                rest = first and after.partition(b"\n\n")[0] + b"\n\n"
                return httpx.Response(200, stream=Broken([before + first + rest if first else b""]))
        return super().handle_request(request)


def test_a_stream_that_breaks_off_is_taken_up_after_its_last_event() -> None:
    shell, one = ended(step(1), step(2))
    transport = BreaksOff(shell.world, 2)
    shell.transport = transport
    shown = shell.run("investigations", "watch", one)
    assert shown.exit_code == 0, shown.stderr
    assert transport.last == ["0", "1", "1"]
    assert (shown.stdout.count("step 1"), shown.stdout.count("step 2")) == (1, 1)


def test_a_stream_that_always_breaks_off_is_given_up() -> None:
    shell, one = ended(step(1))
    shell.transport = BreaksOff(shell.world, RECONNECTS + 1)
    given_up = shell.run("investigations", "watch", one)
    assert given_up.exit_code == 1
    assert "broke off too often" in given_up.stderr


class Nobody(httpx.BaseTransport):
    """Nothing listens there."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")


def test_watching_where_no_api_listens_says_at_once_how_to_start_it() -> None:
    shell = Shell(transport=Nobody())
    refused = shell.run("investigations", "watch", str(new_id()))
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "cannot be reached" in refused.stderr
    assert "cairn up" in refused.stderr
    assert shell.slept == []


class Crowded(BreaksOff):
    """A server that has room for a stream once, and for no other."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events") and not self.left:
            problem = {"type": "urn:cairn:error:unavailable", "status": 503, "detail": "Full."}
            headers = {"content-type": "application/problem+json"}
            return httpx.Response(503, headers=headers, json=problem)
        return super().handle_request(request)


@pytest.mark.parametrize("streams", [0, 1])
def test_where_there_is_no_room_for_a_stream_it_polls_on_from_where_it_was(streams: int) -> None:
    shell, one = ended(step(1), step(2))
    shell.transport = Crowded(shell.world, streams)
    shown = shell.run("investigations", "watch", one)
    assert shown.exit_code == 0, shown.stderr
    assert (shown.stdout.count("step 1"), shown.stdout.count("step 2")) == (1, 1)
    assert shown.stdout.count(f"{one}\n") == 1
    assert "DONE  auto_resolved" in shown.stdout


def test_an_unknown_one_is_one_line_and_exit_status_1() -> None:
    refused = Shell().run("investigations", "watch", str(new_id()))
    assert (refused.exit_code, "There is no such investigation" in refused.stderr) == (1, True)


def test_starting_says_where_it_is_and_may_watch_it() -> None:
    shell = Shell()
    begun = shell.run("investigations", "start", str(new_id()))
    assert (begun.exit_code, "begun" in begun.stdout) == (0, True)
    full = Shell(world=World(agents=AgentWorld(full=True)))
    assert "queued" in full.run("investigations", "start", str(new_id())).stdout


def test_resuming_takes_one_or_all_that_stopped() -> None:
    agents = AgentWorld()
    one, other = agents.add(), agents.add()
    agents.end(other.id)
    shell = Shell(world=World(agents=agents))
    assert "goes on from PLANNING" in shell.run("investigations", "resume", str(one.id)).stdout
    assert str(one.id) in shell.run("investigations", "resume").stdout
    agents.end(one.id)
    assert "every investigation moves" in shell.run("investigations", "resume").stdout


def test_tool_calls_show_state_input_and_output() -> None:
    long = tool_call(output="x" * 5_000, error="tool-timeout", dry_run=True)
    gone = tool_call(input=None, output=None, readable=False, owner="http", tool="http.get")
    shell = Shell(world=World(agents=AgentWorld(calls=[long, gone])))
    shown = shell.run("tool-calls").stdout
    assert "<EMAIL_1>" in shown
    assert "tool-timeout" in shown
    assert "(forgotten)" in shown
    assert "x" * 200 not in shown
    only = json.loads(shell.run("tool-calls", "--connector", "http", "--json").stdout)
    assert [item["tool"] for item in only] == ["http.get"]
    of_one = shell.run("investigations", "tool-calls", str(long.investigation_id), "--json")
    assert [load["id"] for load in json.loads(of_one.stdout)] == [str(long.id)]


def test_what_a_planner_invents_is_printed_as_it_is() -> None:
    agents = AgentWorld(calls=[tool_call(tool="accounts.[/red]")])
    one = agents.add(step(1))
    agents.made[one.id] = replace(agents.made[one.id], error="[/bold]")
    shell = Shell(world=World(agents=agents))
    assert "accounts.[/red]" in shell.run("tool-calls").stdout
    assert "[/bold]" in shell.run("investigations", "show", str(one.id)).stdout


@pytest.mark.parametrize(
    "lines",
    [[], [": comment"], ["retry: 2000", ""], ["event: step_end", "id: 3"], ["data: {}", ""]],
)
def test_what_is_no_whole_event_is_none(lines: list[str]) -> None:
    assert list(events(lines)) == []
