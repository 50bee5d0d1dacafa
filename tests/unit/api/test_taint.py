"""`/v1/taint`: who may, what is refused, and what is passed on."""

from typing import Any
from uuid import UUID

import pytest
from tests.unit.api.fakes import AGENT_KEY, Client, World
from tests.unit.api.taint_fakes import TAINT

from cairn.graph.projection import TaintKind


@pytest.mark.parametrize(
    ("target", "kind", "value", "node"),
    [
        ({"agent": "scout"}, TaintKind.AGENT, "scout", None),
        ({"session": "s-1"}, TaintKind.SESSION, "s-1", None),
        ({"source": "https://x.example/a"}, TaintKind.SOURCE, "https://x.example/a", None),
        ({"node": str(UUID(int=5))}, TaintKind.NODE, None, UUID(int=5)),
    ],
)
def test_a_taint_names_one_target(
    target: dict[str, str], kind: TaintKind, value: str | None, node: UUID | None
) -> None:
    world = World()
    answered = Client(world).post("/v1/taint", {**target, "reason": "forged", "causes": True})
    assert (answered.status_code, answered.json()["held"]) == (200, 3)
    [(new, dry_run)] = world.tainting.asked
    assert (new.kind, new.value, new.node_id, new.causes, dry_run) == (
        kind,
        value,
        node,
        True,
        False,
    )


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"agent": "scout"},
        {"reason": "why"},
        {"agent": "scout", "reason": ""},
        {"agent": "", "reason": "why"},
        {"agent": "scout", "session": "s", "reason": "why"},
        {"node": "no id", "reason": "why"},
        {"agent": 7, "reason": "why"},
        {"agent": "scout", "reason": "why", "dry_run": "yes"},
        {"agent": "scout", "reason": "why", "more": 1},
        {"agent": "a\u0000b", "reason": "why"},
        {"agent": "scout", "reason": "x" * 1001},
    ],
)
def test_a_body_that_does_not_say_what_and_why_is_refused(body: dict[str, Any]) -> None:
    world = World()
    assert Client(world).post("/v1/taint", body).status_code == 422
    assert world.tainting.asked == []


def test_taints_are_listed_read_and_lifted() -> None:
    client = Client(World())
    [listed] = client.get("/v1/taints").json()["items"]
    assert (listed["id"], listed["kind"], listed["value"]) == (str(TAINT), "agent", "scout")
    assert client.get(f"/v1/taints/{TAINT}").json()["taint"] == listed
    assert client.post(f"/v1/taints/{TAINT}/lift", {}).json()["restored"] == 3


def test_an_unknown_taint_is_not_found() -> None:
    client = Client(World())
    assert client.get(f"/v1/taints/{UUID(int=1)}").status_code == 404
    assert client.post(f"/v1/taints/{UUID(int=1)}/lift", {}).status_code == 404
    assert client.get("/v1/taints/none").status_code == 422


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/taint"), ("GET", "/v1/taints"), ("GET", f"/v1/taints/{TAINT}")],
)
def test_agents_may_not(method: str, path: str) -> None:
    client = Client(World(), key=AGENT_KEY)
    asked = (
        client.get(path) if method == "GET" else client.post(path, {"agent": "a", "reason": "b"})
    )
    assert asked.status_code == 403
