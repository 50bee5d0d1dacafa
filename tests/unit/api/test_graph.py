"""The graph's routes: subgraph, lineage and feedback over the in-memory graph."""

from typing import Any
from uuid import UUID

import pytest
from tests.unit.api.fakes import AGENT_KEY, PRINCIPALS, PUBLIC_KEY, WORKSPACE, Client, World

SEARCH = UUID(int=900)


@pytest.fixture
def world() -> World:
    return World()


def failures(world: World) -> None:
    world.graphs.planted.grow(
        ("failed", "CAUSED_BY", "cause"),
        ("failed", "FOLLOWS", "before"),
        ("failed", "REFERENCES", "STRIPE"),
    )


def test_a_question_brings_the_graph_around_what_it_names(world: World) -> None:
    failures(world)
    response = Client(world).post("/v1/query/subgraph", {"query": "Why did Stripe fail?"})
    assert response.status_code == 200
    found = response.json()
    assert {node["text"] for node in found["nodes"]} == {
        "about STRIPE",
        "about failed",
        "about cause",
        "about before",
    }
    assert {edge["relation"] for edge in found["edges"]} == {"CAUSED_BY", "FOLLOWS", "REFERENCES"}
    first = found["nodes"][0]
    assert first["retrieval_reason"] == "direct"
    assert set(first["scores"]) == {"relevance_score", "decay_score", "importance_score", "why"}
    assert first["provenance"]["source"] == "ledger"
    meta = found["meta"]
    assert meta["inferred_intents"] == {"why": 0.7}
    assert meta["intent_override"] is None
    assert meta["seed_nodes"] == ["entity:STRIPE"]
    assert meta["capacity"]["max_nodes"] == 100


def test_an_intent_given_overrides_the_inference(world: World) -> None:
    failures(world)
    body = {"query": "Why did Stripe fail?", "intent": "when", "retrieval_method": "ppr"}
    meta = Client(world).post("/v1/query/subgraph", body).json()["meta"]
    assert (meta["inferred_intents"], meta["intent_override"]) == ({}, "when")
    assert meta["retrieval_method"] == "ppr"


def test_labels_and_relations_narrow_and_unknown_ones_are_warned_of(world: World) -> None:
    failures(world)
    start = [str(world.graphs.planted.id("failed"))]
    body = {"node_ids": start, "labels": ["Entity"], "relations": ["REFERENCES", "LIKES"]}
    found = Client(world).post("/v1/query/subgraph", body).json()
    assert [node["type"] for node in found["nodes"]] == ["Entity"]
    assert found["meta"]["warnings"] == ["LIKES is not a relation of this graph."]


def test_ids_nobody_knows_lead_nowhere_and_are_warned_of(world: World) -> None:
    found = Client(world).post("/v1/query/subgraph", {"node_ids": [str(UUID(int=5))]}).json()
    assert (found["nodes"], found["edges"]) == ([], [])
    assert found["meta"]["warnings"] == ["1 of node_ids are unknown or not to be seen."]


@pytest.mark.parametrize(
    ("body", "location"),
    [
        ({}, ""),
        ({"query": ""}, "query"),
        ({"query": "  "}, "query"),
        ({"query": "q", "max_depth": 11}, "max_depth"),
        ({"query": "q", "max_depth": 0}, "max_depth"),
        ({"query": "q", "max_nodes": 501}, "max_nodes"),
        ({"query": "q", "timeout_ms": 30_001}, "timeout_ms"),
        ({"query": "q", "intent": "wherefore"}, "intent"),
        ({"query": "q", "retrieval_method": "magic"}, "retrieval_method"),
        ({"query": "q", "relations": ["drop table"]}, "relations.0"),
        ({"query": "q", "labels": ["lower"]}, "labels.0"),
        ({"query": "q", "as_of": -1}, "as_of"),
        ({"query": "q", "as_of": "2026-01-01T00:00:00"}, "as_of"),
        ({"node_ids": ["x"]}, "node_ids.0"),
        ({"node_ids": [str(UUID(int=n)) for n in range(51)]}, "node_ids"),
        ({"query": "q", "proprety": 1}, "proprety"),
    ],
)
def test_a_bad_query_is_refused_by_its_place(
    world: World, body: dict[str, Any], location: str
) -> None:
    response = Client(world).post("/v1/query/subgraph", body)
    assert response.status_code == 422
    assert any(location in error["location"] for error in response.json()["errors"])


def test_a_query_of_100_kb_is_too_large(world: World) -> None:
    response = Client(world).post("/v1/query/subgraph", {"query": "why " * 25_000})
    assert response.status_code == 413


@pytest.mark.parametrize("key", [AGENT_KEY, PUBLIC_KEY])
def test_other_keys_see_their_scopes_only(world: World, key: str) -> None:
    graph = world.graphs.planted
    graph.plant(
        [graph.node("a", scope="public"), graph.node("b")], [graph.edge("a", "CAUSED_BY", "b")]
    )
    body = {"node_ids": [str(graph.id("a")), str(graph.id("b"))]}
    found = Client(world, key=key).post("/v1/query/subgraph", body).json()
    texts = {node["text"] for node in found["nodes"]}
    assert texts == ({"about a"} if key == PUBLIC_KEY else {"about a", "about b"})


def test_a_lineage_is_ancestors_unless_asked_otherwise(world: World) -> None:
    graph = world.graphs.planted
    graph.grow(("b", "CAUSED_BY", "a"), ("c", "CAUSED_BY", "b"))

    def texts(**asked: str) -> list[str]:
        path = f"/v1/nodes/{graph.id('b')}/lineage"
        return [node["text"] for node in Client(world).get(path, params=asked).json()["nodes"]]

    assert texts() == ["about b", "about a"]
    assert texts(direction="descendants") == ["about b", "about c"]
    assert set(texts(direction="both")) == {"about a", "about b", "about c"}
    before = Client(world).get(f"/v1/nodes/{graph.id('b')}/lineage", params={"as_of": "0"})
    assert before.status_code == 404


def test_a_lineage_as_prov_is_a_prov_document(world: World) -> None:
    graph = world.graphs.planted
    graph.grow(("b", "CAUSED_BY", "a"))
    path = f"/v1/nodes/{graph.id('b')}/lineage?format=prov"
    assert set(Client(world).get(path).json()) == {"prefix", "entity", "wasDerivedFrom"}


@pytest.mark.parametrize(
    "query",
    ["direction=up", "max_depth=11", "max_depth=0", "intent=no", "format=xml", "as_of=yesterday"],
)
def test_a_bad_lineage_request_is_refused(world: World, query: str) -> None:
    response = Client(world).get(f"/v1/nodes/{UUID(int=1)}/lineage?{query}")
    assert response.status_code == 422


def test_a_node_nobody_sees_has_no_lineage(world: World) -> None:
    graph = world.graphs.planted
    graph.grow(("b", "CAUSED_BY", "a"))
    for node_id, key in ((UUID(int=1), AGENT_KEY), (graph.id("b"), PUBLIC_KEY)):
        response = Client(world, key=key).get(f"/v1/nodes/{node_id}/lineage")
        assert response.status_code == 404


def test_feedback_on_a_result_is_kept_and_replaced(world: World) -> None:
    node = UUID(int=5)
    admin = next(iter(PRINCIPALS.values()))
    world.graphs.feedback.searches[(admin.principal_id, SEARCH)] = {node}
    client, path = Client(world), f"/v1/searches/{SEARCH}/feedback"
    for useful in (True, False):
        response = client.post(path, {"node_id": str(node), "useful": useful})
        assert response.status_code == 200
        assert response.json()["useful"] is useful
    (kept,) = world.graphs.feedback.kept.values()
    assert not kept.useful


def test_feedback_on_what_was_not_returned_finds_nothing(world: World) -> None:
    admin = next(iter(PRINCIPALS.values()))
    world.graphs.feedback.searches[(admin.principal_id, SEARCH)] = set()
    path = f"/v1/searches/{SEARCH}/feedback"
    body: dict[str, Any] = {"node_id": str(UUID(int=5)), "useful": True}
    assert Client(world).post(path, body).status_code == 404
    proactive = body | {"retrieval_reason": "proactive"}
    assert Client(world).post(path, proactive).status_code == 200
    assert Client(world, key=AGENT_KEY).post(path, proactive).status_code == 404
    assert Client(world).post(path, body | {"useful": "yes"}).status_code == 422
    assert admin.workspace_id == WORKSPACE
