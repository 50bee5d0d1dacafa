"""Who asks for more than their share waits or is refused; nobody else notices."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cairn.api.fairness import Fairness, Lane, Limits
from cairn.api.gate import Gate
from cairn.api.middleware import RequestContext
from cairn.kernel.access import ALL_SCOPES, Principal, Role
from cairn.kernel.errors import RateLimited
from cairn.kernel.ids import new_id

SOON = 0.05
WORKSPACE = new_id()


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


def served(refusals: list[RateLimited | None], now: list[float], asked: list[str]) -> Any:
    """An app behind a gate: `Bearer N...` is a key of workspace N, which gets these refusals."""
    workspaces = {name: new_id() for name in "ab"}

    async def answer(request: Request) -> JSONResponse:
        name = request.headers["authorization"].removeprefix("Bearer ")[0]
        asked.append(name)
        request.state.principal = Principal(
            workspace_id=workspaces[name],
            principal_id=new_id(),
            role=Role.ADMIN,
            allowed_scopes=ALL_SCOPES,
            name=name,
        )
        refusal = refusals.pop(0) if name == "a" else None
        if refusal is not None:
            request.state.refused = refusal
        return JSONResponse({}, status_code=429 if refusal else 200)

    app = Starlette(routes=[Route("/v1/{path:path}", answer, methods=["GET", "POST"])])
    gate = Gate(app, fairness=Fairness(Limits(), lambda: now[0]))
    return RequestContext(gate, log=Log(), new_id=new_id, stopwatch=lambda: now[0])


def statuses(app: Any, *asked: tuple[str, str]) -> list[httpx.Response]:
    """Send requests one after the other: (key, path)."""

    async def main() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gate") as client:
            return [
                await client.post(path, json={}, headers={"authorization": f"Bearer {key}"})
                for key, path in asked
            ]

    return anyio.run(main)


def test_a_workspace_that_used_up_its_minute_is_told_so_again_without_being_let_in() -> None:
    now, asked = [0.0], list[str]()
    spent = RateLimited("Too many items.", retry_after=20.0, reason="workspace-items")
    app = served([spent, None, None], now, asked)
    write, search = "/v1/memories", "/v1/search"
    first, again, reading, stranger = statuses(
        app, ("a1", write), ("a1", write), ("a1", search), ("b1", write)
    )
    assert [item.status_code for item in (first, again, reading, stranger)] == [429, 429, 200, 200]
    assert asked == ["a", "a", "b"]  # the second never came in
    assert again.json()["reason"] == "workspace-items"
    assert again.headers["retry-after"] == "20"
    now[0] += 21
    assert statuses(app, ("a1", write))[0].status_code == 200


def test_strangers_at_a_widget_wait_in_its_line_and_never_in_the_workspaces() -> None:
    limits = Limits(writes_at_once=2, longest_wait=0.01)
    door, held = f"/v1/widget/{new_id()}", anyio.Event()

    async def main() -> list[int]:
        inside = anyio.Event()

        async def answer(request: Request) -> JSONResponse:
            request.state.principal = Principal(
                workspace_id=WORKSPACE,
                principal_id=new_id(),
                role=Role.PUBLIC,
                allowed_scopes=ALL_SCOPES,
                name="x",
            )
            if request.url.path.endswith("/wait"):
                inside.set()
                await held.wait()
            return JSONResponse({})

        gate = Gate(
            Starlette(routes=[Route("/v1/{path:path}", answer, methods=["POST"])]),
            fairness=Fairness(limits, lambda: 0.0),
        )
        app = RequestContext(gate, log=Log(), new_id=new_id, stopwatch=lambda: 0.0)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gate") as client:

            async def send(path: str, token: str) -> int:
                headers = {"authorization": f"Bearer {token}"}
                return (await client.post(path, json={}, headers=headers)).status_code

            known = [await send(f"{door}/resolve", "s1"), await send("/v1/memories", "key")]
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(send, f"{door}/wait", "s1")
                await inside.wait()
                known += [await send(f"{door}/resolve", "s2"), await send("/v1/memories", "key")]
                held.set()
            return known

    assert anyio.run(main) == [200, 200, 429, 200]
