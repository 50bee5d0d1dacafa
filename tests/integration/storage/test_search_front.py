"""`POST /v1/search` as it is wired, over PostgreSQL: formulas, routes, legs at the outer door."""

from __future__ import annotations

import math
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.plugins.waiting import eventually
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.front import Cloud, Front, environment, mcp, stand_in_for_aws
from tests.support.graphs import NOON, Planted
from tests.support.platform import platform_of
from tests.support.world import open_world

from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.ageing.count_accesses import CountAccesses
from cairn.enrichment.enrich import Enrich
from cairn.graph.node import State
from cairn.kernel.clock import monotonic
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database
    from tests.support.world import World


class Door:
    """A workspace, its graph by name, and the API of its admin."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world, self.folder = world, folder
        self.api = Front(world.key, embedder=HashingEmbedder())
        self.graph = Planted(transactions=StoreTransactions(world.pool), principal=world.admin)

    def search(self, query: str, *, key: str | None = None, **body: Any) -> dict[str, Any]:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        stages = {"cache": False, **body.pop("stages", {})}
        asked = {"query": query, "stages": stages, **body}
        found: dict[str, Any] = self.api.call("POST", "/v1/search", json=asked, headers=headers)
        return found

    def remember(self, *items: dict[str, Any]) -> None:
        told = self.api.call("POST", "/v1/memories", json={"items": list(items)})
        assert all("id" in result for result in told["results"]), told

    def enrich(self) -> None:
        """Do what the embed stage does with what waits."""
        world = self.world
        with world.pool.connection() as connection, connection.transaction():
            connection.execute(
                "SELECT set_config('cairn.workspace_id', %s, true)", [str(world.workspace_id)]
            )
            rows = connection.execute("SELECT id FROM outbox WHERE topic = 'embed'").fetchall()
        Enrich(
            platform=platform_of(
                StoreTransactions(world.pool), keys=FileKeyStore(self.folder / "keys")
            ),
            embedder=HashingEmbedder(),
        ).rows(world.workspace_id, [row for (row,) in rows])

    def settings(self, database: Database, text: str) -> None:
        with database.connect_as_superuser() as connection:
            connection.execute(
                "UPDATE workspace SET settings = %s::jsonb WHERE id = %s",
                [text, self.world.workspace_id],
            )


@pytest.fixture
def door(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)
               ON CONFLICT DO NOTHING""",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    world = open_world(database.owner_url, database.app_url, f"search {new_id()}")
    yield Door(world, tmp_path)
    world.pool.close()


def texts(found: dict[str, Any]) -> set[str]:
    return {result["text"] for result in found["results"]}


def chain(door: Door) -> None:
    """Entities in a chain, each with a memory: STRIPE uses KAFKA, seen with REDIS, uses FAR."""
    graph = door.graph
    graph.grow(
        ("both", "REFERENCES", "STRIPE"),
        ("both", "REFERENCES", "KAFKA"),
        ("second", "REFERENCES", "REDIS"),
        ("third", "REFERENCES", "FAR"),
        ("cold", "REFERENCES", "COLD"),
    )
    graph.plant(
        (),
        [
            graph.edge("STRIPE", "USES", "KAFKA", weight=3),
            graph.edge("KAFKA", "CO_OCCURRENCE", "REDIS", weight=5),
            graph.edge("REDIS", "USES", "FAR", weight=5),
            graph.edge("STRIPE", "CO_OCCURRENCE", "COLD", weight=0.5),
        ],
    )


def test_activation_spreads_two_entities_far_and_fuses_by_reciprocal_ranks(door: Door) -> None:
    chain(door)
    found = door.search("STRIPE", recipe="seed-001")
    assert found["meta"]["retrieval_method"] == "activation"
    scores = {result["text"]: result["scores"] for result in found["results"]}
    kafka = 0.8 * 2.0 * 3 / 5  # decay x boost of a typed relation x strength
    redis = kafka * 0.8 * 5 / 5  # the second hop, seen together; COLD has .08 and is below .1
    assert {text: one["graph"] for text, one in scores.items()} == pytest.approx(
        {"about both": 1.0 + kafka, "about second": redis}
    )
    for rank, text in enumerate(("about both", "about second"), start=1):
        one = scores[text]
        assert one["fused"] == pytest.approx(1 / (60 + rank), abs=1e-6)
        whole = 1 / (60 + rank) * one["decay_factor"] * one["access_boost"]
        assert one["relevance_score"] == pytest.approx(whole, abs=1e-6)
        assert one["decay_factor"] == pytest.approx(one["decay_score"], abs=1e-6)


def test_a_weighted_sum_is_made_of_cosines_and_stretched_ranks(
    door: Door,
) -> None:
    door.remember(
        said("harbour harbour ferry", "fact"),
        said("a harbour far from here", "fact"),
        said("the ferry", "fact"),
    )
    door.enrich()
    found = door.search("harbour ferry", recipe="seed-000")["results"]
    ranks = [item["scores"]["keyword"] for item in found if "keyword" in item["scores"]]
    low, high = min(ranks), max(ranks)
    assert len(ranks) == 3
    for item in found:
        scores = item["scores"]
        stretched = (scores["keyword"] - low) / (high - low)
        expected = 0.7 * scores["vector"] + 0.3 * stretched
        assert scores["relevance_score"] == pytest.approx(expected, abs=2e-6)


def test_a_search_names_the_method_and_so_switches_the_graph_leg_on(door: Door) -> None:
    chain(door)
    for method in ("ppr", "intent_weighted", "activation"):
        found = door.search("STRIPE", method=method)
        assert found["meta"]["retrieval_method"] == method
        assert "about both" in texts(found)
    assert door.search("STRIPE")["meta"]["retrieval_method"] is None
    for wrong in ({"method": "walk"}, {"method": "ppr", "stages": {"graph": False}}):
        refused = door.api.answer("POST", "/v1/search", json={"query": "STRIPE", **wrong})
        assert (refused.status_code, refused.json()["errors"][0]["location"][-6:]) == (
            422,
            "method",
        )


def test_seed_recipes_expand_one_hop_unless_told_otherwise(door: Door) -> None:
    chain(door)
    [first, *_] = door.search("STRIPE", recipe="seed-001")["results"]
    assert {item["canonical_name"] for item in first["related"]} == {"STRIPE", "KAFKA"}
    plain = door.search("STRIPE", recipe="seed-001", expand_hops=0)["results"]
    assert all("related" not in item for item in plain)


def said(text: str, type_: str) -> dict[str, Any]:
    return {"text": text, "type": type_, **({"key": text} if type_ == "fact" else {})}


def test_a_question_of_what_happened_finds_events_and_memories_of_events_alone(door: Door) -> None:
    door.remember(said("the ferry sank", "event"), said("the ferry has two decks", "fact"))
    event = {"type": "ferry.sank", "session_id": "s", "payload": {"text": "ferry report"}}
    door.api.call("POST", "/v1/events", json={"items": [event]})
    found = door.search("What happened to the ferry?", recipe="seed-000", stages={"route": True})
    assert {(result["type"], result["kind"]) for result in found["results"]} == {
        ("Memory", "event"),
        ("Event", "ferry.sank"),
    }
    assert found["meta"]["legs"].keys() == {"keyword"}
    facts = door.search("What happened to the ferry?", kinds=["fact"], stages={"route": True})
    assert texts(facts) == {"the ferry has two decks"}


def test_a_routed_thanks_is_not_looked_up_and_no_leg_has_a_weight(door: Door) -> None:
    door.remember(said("thanks to the harbour", "fact"))
    found = door.search("thanks", stages={"route": True})
    assert (found["results"], found["meta"]["legs"]) == ([], {})
    assert found["meta"]["scoring_weights"]["legs"] == {}
    assert texts(door.search("thanks")) == {"thanks to the harbour"}


def test_meta_has_the_weights_of_the_legs_that_ran(door: Door) -> None:
    chain(door)
    for body in ({"recipe": "seed-001"}, {"recipe": "default"}, {"stages": {"vector": False}}):
        meta = door.search("STRIPE", **body)["meta"]
        assert meta["scoring_weights"]["legs"].keys() == meta["legs"].keys()
    unsubscribed = door.search("STRIPE", stages={"subscriptions": True})["meta"]
    assert "subscriptions" in unsubscribed["scoring_weights"]["legs"]


def test_reciprocal_ranks_can_be_chosen_on_any_recipe(door: Door) -> None:
    door.remember(said("the ferry sank", "event"))
    found = door.search("ferry", recipe="seed-000", stages={"rrf": True, "vector": False})
    assert found["meta"]["mode"] == "rrf"
    assert found["results"][0]["scores"]["fused"] == pytest.approx(1 / 61, abs=1e-6)


def test_a_public_key_searches_by_subscription_where_its_workspace_allows(
    database: Database, door: Door
) -> None:
    public = {"scope": "public"}
    door.remember(
        {**said("solar panels on the roof", "fact"), **public},
        {**said("solar panels in the cellar", "fact"), "scope": "admin"},
    )
    door.api.call("PUT", "/v1/subscriptions", json={"agent": "bot", "keywords": ["solar"]})
    made = {"name": "page", "role": "public", "agent_slug": "bot"}
    key = door.api.call("POST", "/v1/keys", json=made)["secret"]
    stages = {"subscriptions": True}
    found = door.search("Which solar?", key=key, stages=stages)
    assert (texts(found), "subscriptions" in found["meta"]["legs"]) == (set(), False)
    assert "subscriptions" not in found["meta"]["scoring_weights"]["legs"]
    door.settings(database, '{"recall": {"public_subscriptions": true}}')
    reopened = Door(door.world, door.folder)  # settings are read once a minute
    found = reopened.search("Which solar?", key=key, stages=stages)
    assert texts(found) == {"solar panels on the roof"}


def test_a_node_found_by_its_words_and_a_subscription_has_the_greater_of_the_two(
    door: Door,
) -> None:
    door.remember(said("solar panels", "fact"), said("solar solar", "fact"))
    door.graph.change("nothing", keywords=())
    door.api.call("PUT", "/v1/subscriptions", json={"agent": "bot", "keywords": ["solar"]})
    made = {"name": "agent", "role": "agent", "agent_slug": "bot", "scopes": ["admin"]}
    key = door.api.call("POST", "/v1/keys", json=made)["secret"]
    tagged = {**said("solar lamps of the bot", "fact"), "agents": ["bot"]}
    door.remember(tagged)
    stages = {"subscriptions": True, "vector": False}
    found = door.search("solar", key=key, recipe="seed-000", stages=stages)
    for result in found["results"]:
        scores = result["scores"]
        best = max(scores.get("keyword") is not None, scores["subscriptions"])
        assert scores["fused"] == pytest.approx(0.3 * best, abs=1e-6)
    told = door.api.call("GET", f"/v1/searches/{found['meta']['search_id']}")
    assert told["replayed"] is True
    for result in told["results"]:
        assert sum(result["contributions"].values()) == pytest.approx(result["score"])


def test_answers_have_keywords_and_summaries_and_views_their_entities(door: Door) -> None:
    door.remember({"text": "Kubernetes moved to Example Harbour Ltd", "type": "event"})
    words = " ".join(f"Step {number} of the ferry went well." for number in range(20))
    event = {"type": "ferry.sailed", "session_id": "s", "text": f"The ferry left. {words}"}
    door.api.call("POST", "/v1/events", json={"items": [event]})
    door.enrich()
    [memory] = door.api.call("GET", "/v1/memories")["items"]
    assert memory["consolidated"] is False
    assert {"name": "Kubernetes", "type": "technology"} in memory["entities"]
    assert door.api.call("GET", f"/v1/memories/{memory['id']}")["entities"] == memory["entities"]
    history = door.api.call("GET", f"/v1/memories/{memory['id']}/history")["versions"]
    assert history[-1]["memory"]["entities"] == memory["entities"]
    [shown] = door.api.call("GET", "/v1/events")["items"]
    assert 0 < len(shown["summary"].split()) <= 26  # with an ellipsis
    found = door.search("ferry Kubernetes", stages={"vector": False})["results"]
    by_type = {item["type"]: item["attributes"] for item in found}
    assert by_type["Event"]["summary"] == shown["summary"]
    assert "ferry" in by_type["Event"]["keywords"]
    assert "kubernetes" in by_type["Memory"]["keywords"]
    question = {"query": "What about the ferry?"}
    nodes = door.api.call("POST", "/v1/query/subgraph", json=question)["nodes"]
    assert (
        "ferry" in next(node for node in nodes if node["type"] == "Event")["attributes"]["keywords"]
    )
    traced = door.api.call("GET", f"/v1/nodes/{memory['id']}/lineage")
    assert traced["nodes"][0]["scores"]["relevance_score"] == 1.0
    prov = door.api.call("GET", f"/v1/nodes/{memory['id']}/lineage", params={"format": "prov"})
    assert "Kubernetes" in {item["prov:label"] for item in prov["entity"].values()}


def test_a_signal_of_no_use_is_counted_muted_and_brought_back(
    database: Database, door: Door
) -> None:
    graph = door.graph
    graph.plant(
        [graph.node("STRIPE"), graph.node("matters", importance=9)],
        [graph.edge("matters", "REFERENCES", "STRIPE")],
    )
    stages = {"graph": True, "proactive": True, "keyword": False}

    def shown(at: Door) -> list[dict[str, Any]]:
        found = at.search("STRIPE", stages=stages, labels=["Document"])
        rows = [result for result in found["results"] if result["retrieval_reason"] == "proactive"]
        return [{**row, "search_id": found["meta"]["search_id"]} for row in rows]

    for _ in range(10):
        [one] = shown(door)
        said = {
            "node_id": one["node_id"],
            "useful": False,
            "retrieval_reason": "proactive",
            "proactive_signal": one["proactive_signal"],
        }
        path = f"/v1/searches/{one['search_id']}/feedback"
        assert door.api.call("POST", path, json=said)["signal"] == "entity_context"
    wrong = door.api.answer("POST", path, json={**said, "retrieval_reason": "direct"})
    assert wrong.status_code == 422
    assert shown(door) == []
    stats = door.api.call("GET", "/v1/stats")
    assert stats["feedback"] == [
        {
            "recipe": "default",
            "retrieval_reason": "proactive",
            "signal": "entity_context",
            "judged": 10,
            "useful": 0,
            "share": 0.0,
        }
    ]
    assert stats["muted_signals"] == ["entity_context"]
    subgraph = door.api.call("POST", "/v1/query/subgraph", json={"query": "STRIPE", "max_depth": 1})
    assert subgraph["meta"]["proactive_nodes_count"] == 0
    door.settings(database, '{"recall": {"proactive_signals": {"entity_context": true}}}')
    again = Door(door.world, door.folder)
    assert [item["proactive_signal"] for item in shown(again)] == ["entity_context"]
    assert again.api.call("GET", "/v1/stats")["muted_signals"] == []


# No junk


def test_bookkeeping_is_found_only_when_its_label_is_asked_for(door: Door) -> None:
    graph = door.graph
    graph.plant(
        [
            graph.node("fact", text="the peanut allergy of the guest"),
            *(
                graph.node(label, label=label, kind=None, text=f"peanut {label}")
                for label in ("User", "Ticket", "Investigation", "Task", "Conversation")
            ),
            graph.node("bare", label="Customer", kind=None, text="customer:peanut"),
            graph.node("named", label="Customer", kind=None, text="Peanut Imports Ltd"),
        ]
    )
    found = door.search("peanut", limit=20)
    assert texts(found) == {"the peanut allergy of the guest", "Peanut Imports Ltd"}
    asked = {"query": "peanut", "labels": ["Ticket", "Task"], "format": "compact"}
    answered = mcp(door.api, door.world.key, "tools/call", name="memory_recall", arguments=asked)
    assert texts(answered["result"]["structuredContent"]) == {"peanut Ticket", "peanut Task"}
    [bare] = [
        result
        for result in door.search("peanut", labels=["Customer"])["results"]
        if result["text"][0] == "c"
    ]
    assert bare["type"] == "Customer"


def document(door: Door, name: str, *chunks: str, section: str = "Mooring") -> None:
    """A document of one section with the chunks, every text found by its words."""
    graph = door.graph
    whole = graph.id(name)
    common: dict[str, Any] = {"kind": None, "document_id": whole, "source_uri": f"file:///{name}"}
    graph.plant(
        [
            graph.node(name, label="Document", text=f"{section} handbook", **common),
            graph.node(
                f"{name} section",
                label="Section",
                text=f"{section} of a ferry: {section}",
                parent_id=whole,
                headings=(section,),
                **common,
            ),
            *(
                graph.node(
                    f"{name} {number}",
                    label="Chunk",
                    text=text,
                    parent_id=graph.id(f"{name} section"),
                    ordinal=number,
                    headings=(section,),
                    **common,
                )
                for number, text in enumerate(chunks)
            ),
        ]
    )


def test_a_document_its_section_and_its_chunk_are_one_hit_with_the_path(door: Door) -> None:
    passage = "Mooring a ferry takes two lines"
    document(door, "one", passage)
    found = door.search("mooring of a ferry")
    [hit] = found["results"]
    assert (hit["type"], hit["text"]) == ("Chunk", passage)
    assert [(each["type"], each["node_id"]) for each in hit["path"]] == [
        ("Document", str(door.graph.id("one"))),
        ("Section", str(door.graph.id("one section"))),
    ]
    assert set(hit["merged"]) == {each["node_id"] for each in hit["path"]}
    explained = door.api.call("GET", f"/v1/searches/{found['meta']['search_id']}")
    assert explained["replayed"]
    assert "grain" in explained["results"][0]["contributions"]
    apart = door.search("mooring of a ferry", stages={"one_text": False})["results"]
    assert len(apart) == 3


def test_two_passages_of_a_document_stay_two_hits(door: Door) -> None:
    document(door, "two", "Mooring a ferry takes two lines", "Mooring a ferry needs a ferry crew")
    hits = door.search("mooring a ferry")["results"]
    assert [each["type"] for each in hits] == ["Chunk", "Chunk"]


def test_a_document_whose_passages_hardly_match_is_the_hit_itself(door: Door) -> None:
    document(door, "far", "the weather", "a ferry", section="Mooring quay harbour handbook")
    [hit] = door.search("mooring quay harbour handbook ferry")["results"]
    assert (hit["type"], len(hit["merged"])) == ("Section", 2)
    assert [each["type"] for each in hit["path"]] == ["Document"]


def test_what_holds_no_more_is_marked_and_comes_last_unless_a_time_is_asked_for(door: Door) -> None:
    graph = door.graph
    graph.plant(
        [
            graph.node("old", text="we host on Heroku, host, host", state=State.SUPERSEDED),
            graph.node("ended", text="host, we host on Fly", valid_to=NOON + timedelta(days=1)),
            graph.node("now", text="there is somebody who may host Render too"),
        ]
    )
    found = door.search("we host", include_superseded=True)
    rows = [(each["text"].split()[-1], each["validity"]) for each in found["results"]]
    assert rows[0] == ("too", "current")
    assert dict(rows) == {"too": "current", "host": "superseded", "Fly": "ended"}
    explained = door.api.call("GET", f"/v1/searches/{found['meta']['search_id']}")
    assert explained["replayed"]
    day_before = (NOON - timedelta(days=1)).isoformat()
    for then in ({"valid_at": NOON.isoformat()}, {"occurred_from": day_before}):
        again = door.search("we host", include_superseded=True, **then)["results"]
        assert again[-1]["validity"] == "current", then
    past = door.search("where did we host in May 2026?", include_superseded=True)["results"]
    assert past[-1]["validity"] == "current"
    block = door.api.call(
        "POST", "/v1/context", json={"query": "we host", "include_superseded": True}
    )
    assert 'validity="superseded"' in block["context"]


def test_constants_that_a_workspace_sets_for_its_embedder_hold_from_then_on(door: Door) -> None:
    """Until then relevance is estimated; what it leaves out is not counted as used."""
    ferry = {"text": "The ferry leaves the harbour at nine.", "type": "fact", "key": "ferry"}
    door.remember(ferry)
    door.enrich()
    estimated = door.search("Who painted the harbour?")
    assert (estimated["meta"]["answerable"], len(estimated["results"])) == (None, 1)
    told = estimated["meta"]["relevance"]
    assert (told["estimated"], told["unjudged"], told["calibration"]) == (
        True,
        "estimated",
        HASHING.name,
    )
    assert 0 < estimated["results"][0]["relevance"] < 1

    constants = {"intercept": -10.0, "cosine": 6.0, "words": 10.0, "size": -0.2}
    bounds = {"answerable": 0.05, "least": 0.01}
    calibration = {"model": HASHING.name, **constants, **bounds}
    door.api.call("PATCH", "/v1/settings", json={"recall": {"calibration": calibration}})
    fitted = Door(door.world, door.folder)
    nothing = fitted.search("Who painted the harbour?")
    assert (nothing["results"], nothing["meta"]["answerable"]) == ([], False)
    told = nothing["meta"]["relevance"]
    assert (told["estimated"], told["unjudged"], told["left_out"]) == (False, None, 1)
    found = fitted.search("When does the ferry leave the harbour?")
    assert (texts(found), found["meta"]["answerable"]) == ({ferry["text"]}, True)
    count = CountAccesses(
        platform=platform_of(StoreTransactions(door.world.pool), stopwatch=monotonic),
        workspaces=lambda: [door.world.workspace_id],
    )
    counted = Counter[str]()

    def all_three() -> bool:  # no answer waits for what is kept of its search
        counted.update(count(seconds=60))
        return counted["searches"] == 3

    eventually(all_three, what="the counting")
    again = fitted.search("When does the ferry leave the harbour?")["results"][0]
    assert again["scores"]["access_boost"] == pytest.approx(1 + 0.1 * 0.3 * math.log2(3), abs=1e-4)
