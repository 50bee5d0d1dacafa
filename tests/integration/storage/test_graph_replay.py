"""Searches that walked a graph made by the embed stage: kept, replayed and explained alike."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.observing import Observing, event
from tests.support.platform import platform_of
from tests.support.remembering import Remembering, fact
from tests.support.world import World, open_world, recorded_at_once

from cairn.adapters.postgres.memory.search_runs import PostgresSearchRuns
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.bootstrap.recall import recall
from cairn.enrichment.enrich import Enrich
from cairn.kernel.ids import new_id
from cairn.recall.query import SearchRequest
from cairn.recall.recall import Recall
from cairn.recall.records import SearchRun
from cairn.recall.results import RecallResult
from cairn.recall.searches.explain import explain, replay

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

QUESTIONS = (
    "Why did Redis fail?",
    "When was PostgreSQL restarted?",
    "What is related to Redis and PostgreSQL?",
    "Who looks after Kafka?",
)


@pytest.fixture(scope="module")
def world(database: "Database") -> Iterator[World]:
    """Memories and events that name technologies, enriched as the embed stage does it."""
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)
               ON CONFLICT DO NOTHING""",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    world = open_world(database.owner_url, database.app_url, f"replay-{new_id()}")
    transactions = StoreTransactions(world.pool)
    system = Remembering(transactions=transactions, principal=world.admin)
    system.tell(
        fact("Redis lost its memory in the night.", client_id="acme", source_agent="scout"),
        fact("The cache runs on Redis.", source_agent="scout"),
        fact("PostgreSQL feeds Redis every hour.", source_agent="scout"),
        fact("PostgreSQL was moved to the new machines.", client_id="acme"),
        fact("Kafka carries the orders to PostgreSQL."),
        fact("Ana looks after the orders."),
    )
    Observing(system).see(
        *(
            event(at=at, payload={"text": text})
            for at, text in enumerate(
                ("Redis is out of memory", "PostgreSQL restarted", "Kafka waits for PostgreSQL")
            )
        )
    )
    enrich = Enrich(
        platform=platform_of(transactions, keys=system.keys), embedder=HashingEmbedder()
    )
    enrich.rows(world.workspace_id, [row.id for row in system.sent.rows])
    yield world
    world.pool.close()


@pytest.fixture(scope="module")
def search(world: World) -> Recall:
    return recall(world.pool, HashingEmbedder(), runs=recorded_at_once(world.pool))


def kept(world: World, found: RecallResult) -> SearchRun:
    run = PostgresSearchRuns(world.pool).find(world.admin, found.meta.search.id)
    assert run is not None
    return run


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("limit", [3, 10])
def test_a_search_that_walked_the_graph_replays_to_the_same_ids_in_the_same_order(
    world: World, search: Recall, question: str, limit: int
) -> None:
    found = search(world.admin, SearchRequest(query=question, recipe="seed-001", limit=limit))
    run = kept(world, found)
    assert run.seeds
    assert run.edges
    assert run.candidates["graph"]
    assert run.degraded == ()
    assert replay(run) == run.returned == tuple(each.node.id for each in found.results)
    for told, result in zip(explain(run).results, found.results, strict=True):
        assert told.score == pytest.approx(result.scores["relevance_score"], abs=1e-12)


def test_a_result_the_walk_reached_is_explained_by_it(world: World, search: Recall) -> None:
    found = search(world.admin, SearchRequest(query=QUESTIONS[0], recipe="seed-001"))
    run = kept(world, found)
    [first, *_] = explain(run).results
    assert first.legs["graph"].rank >= 1
    assert first.contributions["graph"] > 0
