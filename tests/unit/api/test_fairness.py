"""Who asks for more than their share waits or is refused; nobody else notices."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cairn.access import ALL_SCOPES, Principal, Role
from cairn.api.fairness import Fairness, Lane, Limits
from cairn.api.gate import Gate
from cairn.api.middleware import RequestContext
from cairn.errors import RateLimited
from cairn.ids import new_id

SOON = 0.05


class Place:
    """Holds slots of a lane and says who has one, in the order they got it."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.got: list[str] = []
        self.refused: list[str] = []
        self.leave: dict[str, anyio.Event] = {}

    async def hold(self, name: str, weight: int = 1) -> None:
        self.leave[name] = anyio.Event()
        try:
            async with self.lane.slot(name[0], weight):
                self.got.append(name)
                await self.leave[name].wait()
        except RateLimited:
            self.refused.append(name)

    def let_go(self, *names: str) -> None:
        for name in names:
            self.leave[name].set()


def held(lane: Lane, act: Callable[[Place, Any], Awaitable[None]]) -> Place:
    """Let `act` hold places; whoever holds one at its end lets go."""
    place = Place(lane)

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            await act(place, tasks)
            await anyio.wait_all_tasks_blocked()
            place.let_go(*place.leave)

    anyio.run(main)
    return place


def test_one_tenant_gets_half_and_another_finds_room_at_once() -> None:
    async def act(place: Place, tasks: Any) -> None:
        for number in range(6):
            tasks.start_soon(place.hold, f"g{number}")
        await anyio.wait_all_tasks_blocked()
        assert place.got == ["g0", "g1"]
        tasks.start_soon(place.hold, "q0")
        await anyio.wait_all_tasks_blocked()
        assert place.got == ["g0", "g1", "q0"]

    assert len(held(Lane(4, 60), act).got) == 7


def test_lines_take_turns() -> None:
    async def act(place: Place, tasks: Any) -> None:
        for name in ("a0", "b0", "a1", "a2", "a3", "b1"):
            tasks.start_soon(place.hold, name)
        await anyio.wait_all_tasks_blocked()
        for name in ("a0", "b0", "a1", "b1"):
            place.let_go(name)
            await anyio.wait_all_tasks_blocked()

    assert held(Lane(2, 60), act).got == ["a0", "b0", "a1", "b1", "a2", "a3"]


def test_heavy_requests_go_one_by_one_and_leave_room_for_light_ones() -> None:
    async def act(place: Place, tasks: Any) -> None:
        for name, weight in (("a0", 1000), ("b0", 1000), ("c0", 1)):
            tasks.start_soon(place.hold, name, weight)
            await anyio.wait_all_tasks_blocked()
        assert place.got == ["a0", "c0"]

    assert held(Lane(32, 60), act).got == ["a0", "c0", "b0"]


def test_who_waited_too_long_is_refused_and_gives_up_the_place_in_line() -> None:
    async def act(place: Place, tasks: Any) -> None:
        for name in ("a0", "a1"):
            tasks.start_soon(place.hold, name)
        with anyio.fail_after(30):
            while not place.refused:
                await anyio.sleep(SOON / 10)
        place.let_go("a0")
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(place.hold, "a2")
        await anyio.wait_all_tasks_blocked()

    place = held(Lane(2, SOON), act)
    assert (place.got, place.refused) == (["a0", "a2"], ["a1"])


def test_a_request_that_is_cancelled_leaves_nothing_behind() -> None:
    async def act(place: Place, tasks: Any) -> None:
        tasks.start_soon(place.hold, "a0")
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(SOON):
            await place.hold("a1")
        place.let_go("a0")
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(place.hold, "a2")
        await anyio.wait_all_tasks_blocked()

    assert held(Lane(2, 60), act).got == ["a0", "a2"]


class Log:
    def info(self, msg: object, /, *, extra: Any) -> None: ...
    def error(self, msg: object, /, *, extra: Any) -> None: ...


def served(limits: Limits, now: list[float]) -> Any:
    """An app behind a gate: `Bearer N...` is a key of workspace N, and bodies are parsed."""
    workspaces = {name: new_id() for name in "ab"}

    async def answer(request: Request) -> JSONResponse:
        name = request.headers["authorization"].removeprefix("Bearer ")[0]
        request.state.principal = Principal(
            workspace_id=workspaces[name],
            principal_id=new_id(),
            role=Role.ADMIN,
            allowed_scopes=ALL_SCOPES,
            name=name,
        )
        if request.method == "POST":
            request.state.json = await request.json()
        return JSONResponse({})

    app = Starlette(routes=[Route("/v1/{path:path}", answer, methods=["GET", "POST"])])
    gate = Gate(app, fairness=Fairness(limits, lambda: now[0]))
    return RequestContext(gate, log=Log(), new_id=new_id, stopwatch=lambda: now[0])


def statuses(app: Any, *asked: tuple[str, str, Any]) -> list[httpx.Response]:
    """Send requests one after the other: (key, path, body)."""

    async def main() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gate") as client:
            return [
                await client.post(path, json=body, headers={"authorization": f"Bearer {key}"})
                for key, path, body in asked
            ]

    return anyio.run(main)


@pytest.mark.parametrize(
    ("limits", "path", "body", "reason"),
    [
        (Limits(items_a_minute=3), "/v1/memories", {"items": [1, 2, 3, 4]}, "workspace-items"),
        (Limits(queries_a_minute=1), "/v1/search", {"query": "x"}, "workspace-queries"),
        (Limits(bytes_a_minute=9), "/v1/search", {"query": "xx"}, "workspace-bytes"),
    ],
    ids=["items", "queries", "bytes"],
)
def test_a_workspace_that_used_up_its_minute_is_told_when_to_come_back(
    limits: Limits, path: str, body: Any, reason: str
) -> None:
    now = [0.0]
    app = served(limits, now)
    first, second, other, stranger = statuses(
        app, ("a1", path, body), ("a1", path, body), ("a2", path, body), ("b1", path, body)
    )
    assert (first.status_code, stranger.status_code) == (200, 200)
    assert second.status_code == 429
    assert second.json()["reason"] == reason
    assert 0 < int(second.headers["retry-after"]) <= 120
    assert other.status_code == 200  # whose its key is was not known before this request
    assert statuses(app, ("a2", path, body))[0].status_code == 429
    now[0] += 300
    assert statuses(app, ("a2", path, body))[0].status_code == 200
