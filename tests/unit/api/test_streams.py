"""The event stream of an investigation: what is told, from where, for how long, and to whom."""

import json
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx
import pytest
from tests.unit.api.fakes import ADMIN_KEY, PRINCIPALS, Client, World
from tests.unit.api.investigation_fakes import TRACE, AgentWorld, step

from cairn.api.options import ApiOptions, OpenStreams, Pace
from cairn.kernel.access import Principal
from cairn.kernel.access.allowances import NO_LOAD, Load
from cairn.kernel.errors import BudgetExceeded, Unavailable

QUICK = Pace(look=0.001, heartbeat=100.0, admission=100.0, longest=5.0, patience=0.0)
Message = MutableMapping[str, Any]


@dataclass
class Event:
    name: str
    data: dict[str, Any]
    id: str | None = None


SHARED = {"graph_start", "graph_end", "agent_start", "agent_end"} | {
    *("iteration_start", "tool_activity", "debug_meta")
}
"""Names that every trace has; the others are of investigations alone, and say the same."""


def events(text: str) -> list[Event]:
    return [each for each in all_events(text) if each.name not in SHARED]


def all_events(text: str) -> list[Event]:
    found: list[Event] = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
        if "event" in fields:
            found.append(Event(fields["event"], json.loads(fields["data"]), fields.get("id")))
    return found


def read(
    world: World, path: str, *, pace: Pace = QUICK, headers: dict[str, Any] | None = None
) -> httpx.Response:
    client = Client(world, options=ApiOptions(pace=pace))
    return client.get(path, headers=headers or {})


def path_of(one: Any) -> str:
    return f"/v1/investigations/{one.id}/events"


def ended(*lines: Any) -> tuple[World, Any]:
    agents = AgentWorld()
    one = agents.add(*lines)
    agents.end(one.id)
    return World(agents=agents), one


class Looks:
    """Calls what is due at the n-th look."""

    def __init__(self, due: dict[int, Callable[[], None]]) -> None:
        self.count = 0
        self.due = due

    def __call__(self) -> None:
        self.count += 1
        self.due.get(self.count, lambda: None)()


def test_a_stream_tells_starts_and_ends_with_durations_and_ends_with_its_investigation() -> None:
    world, one = ended(step(1, system="plan", ms=40), step(2))
    answer = read(world, path_of(one))
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.text.startswith("retry: 2000\n\n")
    told = events(answer.text)
    assert [(each.name, each.id) for each in told] == [
        ("investigation_start", None),
        ("step_start", None),
        ("step_end", "1"),
        ("step_start", None),
        ("step_end", "2"),
        ("investigation_end", None),
    ]
    assert told[0].data["trace_id"] == TRACE
    assert told[1].data["name"] == "plan"
    end = told[4].data
    assert (end["name"], end["duration_ms"], end["summary"]) == ("accounts-unlock", 250, "step 2")
    last = told[-1].data
    assert (last["verdict"], last["duration_ms"]) == ("auto_resolved", 10_000)
    assert last["timings"] == [
        {"name": "accounts-unlock", "duration_ms": 250},
        {"name": "plan", "duration_ms": 40},
    ]


def test_a_stream_tells_it_by_the_names_that_all_traces_share_too() -> None:
    world, one = ended(step(1, system="plan", kind="plan", ms=40), step(2), step(3, kind="verdict"))
    told = [each for each in all_events(read(world, path_of(one)).text) if each.name in SHARED]
    assert [each.name for each in told] == [
        "graph_start",
        *("iteration_start", "agent_start", "agent_end"),
        *("tool_activity", "tool_activity"),
        *("agent_start", "agent_end"),
        *("debug_meta", "graph_end"),
    ]
    assert {each.id for each in told} == {None}  # a step is over with its step_end
    assert (told[0].data["name"], told[0].data["trace_id"]) == ("investigation", TRACE)
    assert (told[2].data["name"], told[3].data["duration_ms"]) == ("plan", 40)
    assert [each.data["phase"] for each in told[4:6]] == ["start", "end"]
    assert (told[5].data["tool"], told[5].data["duration_ms"]) == ("accounts.unlock", 250)
    assert {each["name"] for each in told[8].data["timings"]} == {"plan", "accounts-unlock"}
    assert (told[9].data["name"], told[9].data["verdict"]) == ("investigation", "auto_resolved")


def test_a_stream_follows_what_happens_meanwhile() -> None:
    agents = AgentWorld()
    one = agents.add(step(1))
    agents.looked = Looks(
        {3: lambda: agents.lines[one.id].append(step(2)), 5: lambda: agents.end(one.id)}
    )
    told = events(read(World(agents=agents), path_of(one)).text)
    assert [each.name for each in told] == [
        "investigation_start",
        "step_start",
        "step_end",
        "state_start",
        "step_start",
        "step_end",
        "state_end",
        "investigation_end",
    ]
    assert told[6].data == {"state": "PLANNING", "duration_ms": 9_000}


def test_a_reader_that_comes_back_gets_what_came_after_its_last_event() -> None:
    world, one = ended(step(1), step(2), step(3))
    answer = read(world, path_of(one), headers={"last-event-id": "2"})
    assert [(each.name, each.id) for each in events(answer.text)] == [
        ("step_start", None),
        ("step_end", "3"),
        ("investigation_end", None),
    ]
    by_query = read(world, f"{path_of(one)}?after=3")
    assert [each.name for each in events(by_query.text)] == ["investigation_end"]


@pytest.mark.parametrize(
    "last", ["9", "-1", "1.0", "one", "1e3", "99999999999", b"\xb2", "x" * 10_000, "1 OR 1=1"]
)
def test_a_last_event_that_never_was_is_refused(last: Any) -> None:
    world, one = ended(step(1))
    answer = read(world, path_of(one), headers={"last-event-id": last})
    assert (answer.status_code, answer.json()["reason"]) == (422, "last-event-id")


def test_an_empty_last_event_is_a_beginning() -> None:
    world, one = ended(step(1))
    answer = read(world, path_of(one), headers={"last-event-id": ""})
    assert events(answer.text)[0].name == "investigation_start"


def test_more_steps_than_one_look_gives_are_all_told() -> None:
    world, one = ended(*(step(seq) for seq in range(1, 451)))
    ids = [each.id for each in events(read(world, path_of(one)).text) if each.id]
    assert ids == [str(seq) for seq in range(1, 451)]


def test_while_nothing_happens_a_comment_keeps_the_line_open() -> None:
    agents = AgentWorld()
    one = agents.add()
    agents.looked = Looks({6: lambda: agents.end(one.id)})
    pace = Pace(look=0.001, heartbeat=0.0, admission=100.0, longest=5.0)
    assert read(World(agents=agents), path_of(one), pace=pace).text.count(": still here\n\n") >= 3


def test_a_stream_ends_in_time_and_without_an_end() -> None:
    agents = AgentWorld()
    one = agents.add(step(1))
    pace = Pace(look=0.001, longest=0.01)
    told = events(read(World(agents=agents), path_of(one), pace=pace).text)
    assert told[-1].name == "state_start"


def test_a_key_that_is_revoked_meanwhile_is_told_so_and_no_more() -> None:
    agents = AgentWorld()
    one = agents.add(step(1))

    class Revoking(World):
        admitted: int = 0

        def admit(self, key: str, load: Load = NO_LOAD, /) -> Any:
            self.admitted += 1
            return super().admit("cairn_revoked.secret" if self.admitted > 2 else key, load)

    pace = Pace(look=0.001, admission=0.0, longest=5.0)
    told = events(read(Revoking(agents=agents), path_of(one), pace=pace).text)
    assert (told[-1].name, told[-1].data["status"]) == ("problem", 401)


def test_a_database_that_is_away_for_a_moment_is_waited_for() -> None:
    agents = AgentWorld()
    one = agents.add(step(1))

    def away() -> None:
        agents.trouble = Unavailable("The database does not answer.")

    def back() -> None:
        agents.trouble = None

    agents.looked = Looks({2: away, 3: back, 4: lambda: agents.end(one.id)})
    pace = Pace(look=0.001, patience=5.0)
    told = events(read(World(agents=agents), path_of(one), pace=pace).text)
    assert told[-1].name == "investigation_end"


def test_a_database_that_is_away_when_the_key_is_asked_about_is_waited_for_too() -> None:
    agents = AgentWorld()
    one = agents.add(step(1))
    agents.looked = Looks({3: lambda: agents.end(one.id)})

    class Away(World):
        admitted: int = 0

        def admit(self, key: str, load: Load = NO_LOAD, /) -> Any:
            self.admitted += 1
            if self.admitted == 2:
                raise Unavailable("The database does not answer.")
            return super().admit(key, load)

    pace = Pace(look=0.001, admission=0.0, patience=5.0)
    told = events(read(Away(agents=agents), path_of(one), pace=pace).text)
    assert told[-1].name == "investigation_end"


@pytest.mark.parametrize(
    ("trouble", "status"),
    [(Unavailable("The database does not answer."), 503), (BudgetExceeded("Nothing left."), 402)],
)
def test_what_stays_wrong_is_the_last_event(trouble: Any, status: int) -> None:
    agents = AgentWorld()
    one = agents.add(step(1))
    agents.looked = Looks({2: lambda: setattr(agents, "trouble", trouble)})
    told = events(read(World(agents=agents), path_of(one)).text)
    assert (told[-1].name, told[-1].data["status"]) == ("problem", status)


def test_there_is_room_for_so_many_streams_only() -> None:
    world, one = ended(step(1))
    room = OpenStreams(most=1, now=1)
    client = Client(world, options=ApiOptions(pace=QUICK, open_streams=room))
    answer = client.get(path_of(one))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    room.now = 0
    assert client.get(path_of(one)).status_code == 200
    assert room.now == 0


@dataclass
class Reader:
    """An ASGI client that leaves once it has seen enough."""

    enough: Callable[[bytes], bool]
    body: bytes = b""
    asked: bool = False
    leaves: anyio.Event = field(default_factory=anyio.Event)

    async def receive(self) -> Message:
        if not self.asked:
            self.asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.body += message.get("body", b"")
        if self.enough(self.body):
            self.leaves.set()


def test_a_reader_that_leaves_frees_its_place() -> None:
    agents = AgentWorld()
    one = agents.add(step(1))
    room = OpenStreams()
    pace = Pace(look=0.001, longest=60.0)
    app = Client(World(agents=agents), options=ApiOptions(pace=pace, open_streams=room)).app
    taken: list[int] = []

    def enough(body: bytes) -> bool:
        taken.append(room.now)
        return b"state_start" in body

    async def follow() -> None:
        reader = Reader(enough)
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "path": path_of(one),
            "raw_path": path_of(one).encode(),
            "query_string": b"",
            "headers": [(b"authorization", f"Bearer {ADMIN_KEY}".encode())],
        }
        with anyio.fail_after(5):
            await app(scope, reader.receive, reader.send)

    anyio.run(follow)
    assert max(taken) == 1
    assert room.now == 0


def test_behind_api_gateway_it_says_so_and_names_polling() -> None:
    world, one = ended(step(1))
    app = Client(world).app

    async def through_lambda(scope: Any, receive: Any, send: Any) -> None:
        scope["aws.event"] = {"version": "2.0"}
        await app(scope, receive, send)

    async def call() -> httpx.Response:
        transport = httpx.ASGITransport(app=through_lambda)
        async with httpx.AsyncClient(transport=transport, base_url="http://cairn") as client:
            return await client.get(path_of(one), headers={"authorization": f"Bearer {ADMIN_KEY}"})

    answer = anyio.run(call)
    assert (answer.status_code, answer.json()["reason"]) == (501, "poll-steps")
    assert f"GET /v1/investigations/{one.id}/steps" in answer.json()["detail"]


def test_the_stream_reads_as_the_one_who_asked() -> None:
    agents = AgentWorld()
    one = agents.add(step(1))
    agents.end(one.id)
    asked: list[Principal] = []

    look = agents.look

    def noted(principal: Principal, *given: Any, **named: Any) -> Any:
        asked.append(principal)
        return look(principal, *given, **named)

    agents.look = noted  # type: ignore[method-assign]
    read(World(agents=agents), path_of(one))
    assert set(asked) == {PRINCIPALS[ADMIN_KEY]}


def test_a_run_of_the_consolidation_is_told_by_the_same_names_until_it_ends() -> None:
    world = World()
    client = Client(world, options=ApiOptions(pace=QUICK))
    run_id = client.post("/v1/consolidations", {}).json()["id"]
    world.runs.states = ["waiting", "running", "finished"]
    path, sse = f"/v1/consolidations/{run_id}", {"accept": "text/event-stream"}
    told = all_events(client.get(path, headers=sse).text)
    assert [each.name for each in told] == [
        *("graph_start", "agent_start", "tool_activity"),
        *("agent_end", "debug_meta", "graph_end"),
    ]
    assert told[2].data["counts"]["superseded"] == 2
    assert {each["name"] for each in told[4].data["timings"]} == {"waiting", "consolidation"}
    assert (told[5].data["state"], told[5].data["run_id"]) == ("finished", run_id)
    assert client.get(path).json()["state"] == "finished"
