"""The routes of summaries over the in-memory graph, and the commands over the routes."""

import json
from typing import Any
from uuid import UUID

import pytest
from tests.support.graphs import Planted
from tests.unit.api.fakes import ADMIN_KEY, PUBLIC_KEY, Client, World
from tests.unit.cli.fakes import Shell


def plant(graph: Planted) -> None:
    """An agent's one session of two episodes."""
    told = {"event_count": 2, "provider": "heuristic", "model": "extractive-1", "is_extract": True}
    graph.plant(
        [
            graph.node("one", label="Message", kind="user", text="It failed."),
            graph.node("two", label="Message", kind="user", text="It was mended."),
            graph.node("early", **summary("episode", "s", told), text="It failed."),
            graph.node("late", **summary("episode", "s", told), text="It was mended."),
            graph.node("session", **summary("session", "s", told), text="Failed and mended."),
            graph.node("agent", **summary("agent", "bot", told), text="Mends [things]."),
        ],
        [
            graph.edge("early", "SUMMARIZES", "one"),
            graph.edge("late", "SUMMARIZES", "two"),
            graph.edge("session", "SUMMARIZES", "early"),
            graph.edge("session", "SUMMARIZES", "late"),
            graph.edge("agent", "SUMMARIZES", "session"),
            graph.edge("agent", "DERIVED_FROM", "session"),
        ],
    )


def summary(kind: str, of: str, told: dict[str, Any]) -> dict[str, Any]:
    named = {"source_agent": of} if kind == "agent" else {"session_id": of}
    return {"label": "Summary", "kind": kind, "metadata": {**told, "scope_id": of}, **named}


@pytest.fixture
def world() -> World:
    world = World()
    plant(world.graphs.planted)
    return world


def names(world: World, **asked: Any) -> set[str]:
    found = Client(world).get("/v1/summaries", params=asked).json()["items"]
    texts = {"It failed.": "early", "It was mended.": "late", "Failed and mended.": "session"}
    return {texts.get(item["content"], "agent") for item in found}


def test_summaries_are_listed_by_scope_and_thing(world: World) -> None:
    assert names(world) == {"early", "late", "session", "agent"}
    assert names(world, scope="episode") == {"early", "late"}
    assert names(world, scope="session", scope_id="s") == {"session"}
    assert names(world, scope="agent", scope_id="bot") == {"agent"}
    assert names(world, scope="agent", scope_id="s") == set()
    assert names(world, as_of=0) == set()


def test_a_list_goes_on_with_its_cursor(world: World) -> None:
    client, seen, cursor = Client(world), list[str](), None
    for _ in range(3):
        asked = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = client.get("/v1/summaries", params=asked).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 4
    other = client.get("/v1/summaries", params={"cursor": "abc"})
    assert other.status_code == 422


def test_a_summary_is_shown_down_to_its_sources(world: World) -> None:
    path = f"/v1/summaries/{world.graphs.planted.id('agent')}"
    found = Client(world).get(path).json()
    (session,) = found["children"]
    assert session["content"] == "Failed and mended."
    assert [child["content"] for child in session["children"]] == ["It failed.", "It was mended."]
    leaves = [leaf["text"] for child in session["children"] for leaf in child["children"]]
    assert leaves == ["It failed.", "It was mended."]
    assert found["meta"] == {"as_of_position": None, "truncated": False}
    flat = Client(world).get(path, params={"depth": 1}).json()
    assert flat["children"][0]["children"] == []


def test_a_bound_that_cuts_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cairn.summaries.read.MAX_NODES", 4)
    path = f"/v1/summaries/{world.graphs.planted.id('agent')}"
    found = Client(world).get(path).json()
    assert found["meta"]["truncated"] is True


@pytest.mark.parametrize("query", ["depth=4", "depth=-1", "as_of=yesterday"])
def test_a_bad_request_is_refused(world: World, query: str) -> None:
    path = f"/v1/summaries/{world.graphs.planted.id('agent')}?{query}"
    assert Client(world).get(path).status_code == 422
    assert Client(world).get("/v1/summaries?scope=year").status_code == 422


def test_what_is_no_summary_or_not_to_be_seen_is_not_there(world: World) -> None:
    graph = world.graphs.planted
    for node_id, key in (
        (graph.id("one"), ADMIN_KEY),
        (UUID(int=1), ADMIN_KEY),
        (graph.id("agent"), PUBLIC_KEY),
    ):
        assert Client(world, key=key).get(f"/v1/summaries/{node_id}").status_code == 404
    assert Client(world, key=PUBLIC_KEY).get("/v1/summaries").json()["items"] == []


def test_the_command_draws_the_tree(world: World) -> None:
    shell = Shell(world=world)
    listed = shell.run("summaries", "list", "--scope", "agent")
    assert listed.exit_code == 0, listed.output
    assert "Mends [things]." in listed.stdout
    shown = shell.run("summaries", "show", str(world.graphs.planted.id("agent")))
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[0] == "Mends [things]."
    assert "2 events, by rules" in lines[1]
    depth = [line.index(word) for line, word in zip(lines[2:], WORDS, strict=True)]
    assert depth == sorted(depth[:4]) + depth[2:4]
    asked = ("summaries", "show", str(world.graphs.planted.id("agent")), "--json", "--depth", "0")
    assert json.loads(shell.run(*asked).stdout)["children"] == []


WORDS = ("agent", "session", "episode", "Message", "episode", "Message")
