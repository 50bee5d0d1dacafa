"""The whole walk over PostgreSQL: what is found, who finds it, what is kept of it, and then."""

# ruff: noqa: RUF001 - letters of other alphabets are meant

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from tests.support.platform import platform_of
from tests.support.world import MORNING, World, memory, open_world, recorded_at_once

from cairn.adapters.postgres.memory.graph_reader import PostgresFeedback
from cairn.adapters.postgres.memory.recall import PostgresKeywordLeg, PostgresVectorLeg
from cairn.adapters.postgres.memory.search_runs import DropSearchRuns, PostgresSearchRuns
from cairn.adapters.postgres.memory.subscriptions import (
    PostgresSubscribedKeywords,
    PostgresSubscriptionLeg,
)
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.adapters.postgres.workspaces import PostgresReindex, PostgresWorkspaceSettings
from cairn.ageing.count_accesses import CountAccesses
from cairn.embedding.port import EmbeddingModel
from cairn.kernel.access import Role, Scope
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.memories.delete import DeleteMemory
from cairn.memories.kinds import MemoryKind
from cairn.operations.sweep import KeepForDays
from cairn.recall.legs import Legs
from cairn.recall.query import SearchRequest
from cairn.recall.recall import Recall
from cairn.recall.result_cache import ResultCache
from cairn.recall.results import RecallResult
from cairn.recall.searches.explain import explain, replay
from cairn.recall.searches.searches import Feedback, GiveFeedback, ReadSearches
from cairn.recall.walks.graph_walks import WalkingGraphLeg

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

Connection = psycopg.Connection[Any]
QUESTION = "When does the harbour open?"
LANGUAGES = [
    "Wann öffnet der Hafen?", "Quand ouvre le port ?", "¿Cuándo abre el puerto?",
    "港口什么时候开放", "港はいつ開きますか", "항구는 언제 열리나요?", "Когда открывается порт?",
    "متى يفتح الميناء؟", "मरबत कब खुलता है?", "Πότε ανοίγει το λιμάνι;", "מתי נפתח הנמל?",
    "Kdy se otevírá přístav?", "Milloin satama aukeaa?", "Liman ne zaman açılıyor?",
    "Khi nào cảng mở cửa?", "ท่าเรือเปิดเมื่อไหร่", "Wanneer gaat de haven open?",
    "Quando abre o porto?", "Quando apre il porto?", "Når åbner havnen?", "När öppnar hamnen?",
    "Kiedy otwiera się port?", "Mikor nyit a kikötő?", "Când se deschide portul?",
    "Коли відкривається порт?", "Kada se otvara luka?", "Kapan pelabuhan buka?",
    "Bandari inafunguliwa lini?", "بندر کی باز می‌شود؟", "কখন বন্দর খোলে?", "துறைமுகம் எப்போது?",
]  # fmt: skip
ODD = [
    "the of and", "a & b | !c <-> d:*", '+harbour -port "exact phrase" field:value~2 (x OR y)',
    "'; DROP TABLE node; --", "🚢⚓️🌊", "?" * 200, "harbour " * 400, "\u202eharbour",
    "C++ / C# .NET", *LANGUAGES,
]  # fmt: skip


class WordVectors:
    """An embedder whose vectors are sums of one axis a word: likeness is words in common."""

    model = EmbeddingModel(id=1, name="words", dimensions=384, max_tokens=256)

    def embed(self, texts: Sequence[str]) -> Any:
        vectors = np.zeros((len(texts), 384), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, sum(map(ord, word.strip("?.,"))) % 384] += 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def load(self) -> None:
        """Nothing is to be read."""


@pytest.fixture(scope="module")
def root(database: "Database") -> Iterator[Connection]:
    with database.connect_as_superuser() as connection:
        connection.autocommit = True
        yield connection


@pytest.fixture(scope="module")
def world(database: "Database", root: Connection) -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, "walk")
    world.tell(
        memory("the harbour opens at six", key="harbour"),
        memory("the harbour opens at seven", key="harbour", occurred_at=MORNING + timedelta(1)),
        memory("the harbour bar for bots", agents=("bot",), scope=Scope.PUBLIC),
        memory("the harbour of the other bot", agents=("other",), scope=Scope.PUBLIC),
        *(
            memory(text, type=MemoryKind.EVENT, session_id="s", sequence=at * 10)
            for at, text in enumerate(["ahoy harbour", "which ship", "harbour at noon", "bye"])
        ),
    )
    embed(root, world)
    yield world
    world.pool.close()


@pytest.fixture(scope="module")
def stranger(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, "stranger")
    yield world
    world.pool.close()


def embed(root: Connection, world: World) -> None:
    """Give every node that lacks one its vector."""
    rows = root.execute(
        """SELECT n.id, n.text FROM node n WHERE n.workspace_id = %s AND NOT EXISTS
             (SELECT FROM embedding e WHERE e.node_id = n.id)""",
        [world.workspace_id],
    ).fetchall()
    for node_id, text in rows:
        root.execute(
            """INSERT INTO embedding (workspace_id, node_id, model_id, v, position, label, kind,
                 scope, agents, client_id, state, occurred_at, valid_from, valid_to)
               SELECT workspace_id, id, 1, %s::real[]::vector::halfvec, position, label, kind,
                 scope, agents, client_id, state, occurred_at, valid_from, valid_to
                 FROM node WHERE workspace_id = %s AND id = %s""",
            [WordVectors().embed([text])[0].tolist(), world.workspace_id, node_id],
        )


@pytest.fixture(scope="module")
def recall(world: World) -> Iterator[Recall]:
    with ThreadPoolExecutor(8) as pool:
        yield recall_over(world, pool)


def recall_over(world: World, pool: ThreadPoolExecutor, **changes: Any) -> Recall:
    parts: dict[str, Any] = {
        "legs": Legs(
            embedder=WordVectors(),  # type: ignore[arg-type]
            vector=PostgresVectorLeg(world.pool),
            keyword=PostgresKeywordLeg(world.pool),
            pool=pool,
            stopwatch=monotonic,
            graph=WalkingGraphLeg(transactions=StoreTransactions(world.pool), stopwatch=monotonic),
            subscriptions=PostgresSubscriptionLeg(world.pool),
            subscribed=PostgresSubscribedKeywords(world.pool),
        ),
        "transactions": StoreTransactions(world.pool),
        "search_runs": recorded_at_once(world.pool),
        "clock": utc_now,
        "stopwatch": monotonic,
        "new_id": new_id,
    }
    return Recall(**(parts | changes))


def texts(found: RecallResult) -> list[str]:
    return [each.node.text for each in found.results]


def ask(recall: Recall, world: World, who: Any = None, **asked: Any) -> RecallResult:
    return recall(who or world.admin, SearchRequest(**({"query": QUESTION} | asked)))


@pytest.mark.parametrize("recipe", ["default", "seed-000", "seed-001", "knowledge", "memory"])
@pytest.mark.parametrize("limit", [2, 10])
def test_a_kept_search_replays_to_the_same_ids_in_the_same_order(
    world: World, recall: Recall, recipe: str, limit: int
) -> None:
    found = ask(
        recall,
        world,
        recipe=recipe,
        limit=limit,
        include_superseded=True,
        stages={"backlinks": True, "compiled_truth": True, "graph": True},
    )
    run = PostgresSearchRuns(world.pool).find(world.admin, found.meta.search.id)
    assert run is not None
    assert replay(run) == run.returned == tuple(each.node.id for each in found.results)
    for told, result in zip(explain(run).results, found.results, strict=True):
        assert told.score == pytest.approx(result.scores["relevance_score"], abs=1e-12)
        assert {leg: place.rank for leg, place in told.legs.items()} == {
            leg: rank
            for leg, candidates in run.candidates.items()
            for rank, (node_id, _) in enumerate(candidates, start=1)
            if node_id == result.node.id
        }


def test_a_reranked_search_replays_too(world: World) -> None:
    class Backwards:
        name = "backwards"

        def __call__(self, query: str, texts: Sequence[str], *, calls: Any) -> list[float]:
            return [number / 100 for number in range(len(texts))]

    with ThreadPoolExecutor(4) as pool:
        recall = recall_over(world, pool, reranker=Backwards())
        plain = ask(recall, world)
        turned = ask(recall, world, stages={"rerank": True})
    assert texts(turned) == texts(plain)[::-1]
    run = PostgresSearchRuns(world.pool).find(world.admin, turned.meta.search.id)
    assert run is not None
    assert replay(run) == run.returned


def test_a_search_is_explained_to_whoever_asked_it_and_to_admins(
    world: World, recall: Recall
) -> None:
    bot = world.as_other(agent_slug="bot", allowed_scopes=frozenset({Scope.PUBLIC}))
    mine = ask(recall, world, who=bot)
    theirs = ask(recall, world)
    read = ReadSearches(
        runs=PostgresSearchRuns(world.pool), transactions=StoreTransactions(world.pool)
    )
    shown = read(bot, mine.meta.search.id)
    assert shown["replayed"]
    assert [each["text"] for each in shown["results"]] == ["the harbour bar for bots"]
    assert read(world.admin, mine.meta.search.id)["search_id"] == shown["search_id"]
    for stranger, search in (
        (bot, theirs),
        (replace(world.admin, workspace_id=new_id()), theirs),
    ):
        with pytest.raises(NotFound):
            read(stranger, search.meta.search.id)


@pytest.mark.parametrize("recipe", ["default", "seed-000", "seed-001", "memory"])
@pytest.mark.parametrize(
    "stages",
    [{}, {"graph": True, "subscriptions": True, "expand_hops": True, "proactive": True}],
    ids=["plain", "everything"],
)
def test_no_recipe_and_no_stage_shows_an_agent_what_is_not_its_own(
    world: World, stranger: World, recall: Recall, recipe: str, stages: dict[str, bool]
) -> None:
    for slug, found in (("bot", ["the harbour bar for bots"]), ("nobody", [])):
        who = world.as_other(
            agent_slug=slug, role=Role.PUBLIC, allowed_scopes=frozenset({Scope.PUBLIC})
        )
        assert texts(ask(recall, world, who=who, recipe=recipe, stages=stages, limit=50)) == found
    assert texts(ask(recall, world, who=stranger.admin, recipe=recipe, stages=stages)) == []


@pytest.mark.parametrize("query", ODD, ids=range(len(ODD)))
def test_odd_questions_are_answered(world: World, recall: Recall, query: str) -> None:
    found = ask(recall, world, query=query[:4000])
    assert found.meta.degraded in ((), ("vector: empty",))


def test_filters_that_match_nothing_find_nothing(world: World, recall: Recall) -> None:
    assert texts(ask(recall, world, client_id="nobody")) == []
    assert texts(ask(recall, world, labels=("Nothing",))) == []


def counting(world: World) -> CountAccesses:
    return CountAccesses(
        platform=platform_of(StoreTransactions(world.pool), stopwatch=monotonic),
        workspaces=lambda: [world.workspace_id],
    )


def test_an_answer_is_given_again_until_something_to_be_found_changes(
    world: World, root: Connection
) -> None:
    with ThreadPoolExecutor(4) as pool:
        recall = recall_over(world, pool, cache=ResultCache(monotonic))
        asked = [ask(recall, world) for _ in range(3)]
        assert [bool(each.meta.cached) for each in asked] == [False, False, True]
        head = head_of(root, world)
        counting(world)(seconds=60)
        assert head_of(root, world) > head
        assert ask(recall, world).meta.cached is not None
        assert texts(asked[2]) == texts(asked[0])
        other = ask(recall, world, who=world.as_other())
        assert other.meta.cached is None
        world.tell(memory("the harbour has a crane"))
        fresh = ask(recall, world)
    assert fresh.meta.cached is None
    assert "the harbour has a crane" in texts(fresh)
    run = PostgresSearchRuns(world.pool).find(world.admin, asked[2].meta.search.id)
    assert run is not None
    assert run.cached_from == asked[1].meta.search.id


def head_of(root: Connection, world: World) -> int:
    row = root.execute(
        "SELECT position FROM ledger_head WHERE workspace_id = %s", [world.workspace_id]
    ).fetchone()
    assert row is not None
    return row[0]


def test_the_past_is_answered_as_it_was_and_the_future_not_at_all(
    world: World, root: Connection, recall: Recall
) -> None:
    told = world.tell(memory("the harbour master is Ana"))
    [outcome] = told.outcomes
    embed(root, world)
    before = head_of(root, world)
    then = ask(recall, world, query="Who is the harbour master?")
    assert outcome.id is not None
    DeleteMemory(
        platform_of(StoreTransactions(world.pool), dispatcher=world.remember.platform.dispatcher)
    )(world.admin, outcome.id)
    now = ask(recall, world, query="Who is the harbour master?")
    back = ask(recall, world, query="Who is the harbour master?", as_of=before)
    assert "the harbour master is Ana" not in texts(now)
    assert texts(back) == texts(then)
    assert texts(ask(recall, world, as_of=0)) == []
    assert texts(ask(recall, world, as_of=MORNING - timedelta(days=9000))) == []
    for ahead in (head_of(root, world) + 1, utc_now() + timedelta(hours=1)):
        with pytest.raises(ValidationFailed, match="as_of"):
            ask(recall, world, as_of=ahead)


def test_a_search_for_several_clients_finds_theirs_however_much_others_have(
    database: "Database", root: Connection
) -> None:
    world = open_world(database.owner_url, database.app_url, "clients")
    others = [memory(f"the harbour master number {n}", client_id="other") for n in range(300)]
    world.tell(*others, memory("on acme and its harbour master", client_id="acme"))
    world.tell(memory("a harbour for everybody, and its master"))
    embed(root, world)
    with ThreadPoolExecutor(4) as pool:
        recall = recall_over(world, pool)
        asked = {"query": "the harbour master", "limit": 5}
        assert {result.node.client_id for result in ask(recall, world, **asked).results} == {
            "other"
        }
        for recipe in ("default", "seed-001"):
            mine = ask(recall, world, **asked, recipe=recipe, clients=("global", "acme"))
            assert {result.node.client_id for result in mine.results} == {"global", "acme"}
            assert len(mine.results) == 2
    world.pool.close()


def counts(root: Connection, world: World) -> dict[UUID, int]:
    rows = root.execute(
        "SELECT id, access_count FROM node WHERE workspace_id = %s", [world.workspace_id]
    )
    return dict(rows.fetchall())


def test_searches_become_one_entry_of_accesses_and_the_past_counts_nothing(
    database: "Database", world: World, root: Connection, recall: Recall
) -> None:
    count = counting(world)
    count(seconds=60)
    before, head = counts(root, world), head_of(root, world)
    first, second = ask(recall, world), ask(recall, world, limit=1)
    ask(recall, world, as_of=head)

    assert count(seconds=60) == {"searches": 2, "nodes": len(first.results)}

    assert head_of(root, world) == head + 1
    after = counts(root, world)
    top = second.results[0].node.id
    assert {item: after[item] - before[item] for item in after if after[item] != before[item]} == {
        each.node.id: 2 if each.node.id == top else 1 for each in first.results
    }
    assert count(seconds=60) == {"searches": 0, "nodes": 0}
    assert head_of(root, world) == head + 1
    then = ask(recall, world, as_of=head)
    assert then.results[0].node.access_count == before[then.results[0].node.id]


def test_what_nobody_found_useful_is_not_counted_as_used(
    world: World, root: Connection, recall: Recall
) -> None:
    count, say = counting(world), GiveFeedback(store=PostgresFeedback(world.pool), clock=utc_now)
    count(seconds=60)
    found = ask(recall, world)
    junk, disputed, *_ = [each.node.id for each in found.results]
    search = found.meta.search.id
    say(world.admin, Feedback(search_id=search, node_id=junk, useful=False))
    say(world.admin, Feedback(search_id=search, node_id=disputed, useful=False))
    again = ask(recall, world).meta.search.id
    say(world.admin, Feedback(search_id=again, node_id=disputed, useful=True))
    before = counts(root, world)

    assert count(seconds=60) == {"searches": 2, "nodes": len(found.results) - 1}

    after = counts(root, world)
    assert (after[junk] - before[junk], after[disputed] - before[disputed]) == (0, 2)
    say(world.admin, Feedback(search_id=again, node_id=junk, useful=True))


def kept(root: Connection, *worlds: World) -> set[UUID]:
    rows = root.execute(
        "SELECT id FROM search_run WHERE workspace_id = ANY (%s)",
        [[world.workspace_id for world in worlds]],
    )
    return {one for (one,) in rows}


def age(root: Connection, found: RecallResult, *, days: float, counted: bool = True) -> UUID:
    """Move a search into the past, counted by some entry or not."""
    run_id = found.meta.search.id
    root.execute(
        "UPDATE search_run SET recorded_at = now() - %s, counted_position = %s WHERE id = %s",
        [timedelta(days=days), 1 if counted else None, run_id],
    )
    return run_id


def test_old_searches_of_every_workspace_are_forgotten_once_they_are_counted(
    database: "Database", root: Connection
) -> None:
    worlds = [open_world(database.owner_url, database.app_url, f"old {name}") for name in "ab"]
    here, there = worlds
    with ThreadPoolExecutor(4) as pool:
        mine, others = recall_over(here, pool), recall_over(there, pool)
        old = [age(root, ask(mine, here), days=days) for days in (32, 31)]
        old += [age(root, ask(others, there), days=40)]
        past = age(root, ask(mine, here, as_of=0), days=31, counted=False)
        uncounted = age(root, ask(mine, here), days=99, counted=False)
        young = age(root, ask(others, there), days=29)
    drop = DropSearchRuns(here.pool)
    forget = KeepForDays(drop=drop, age=timedelta(days=30), clock=utc_now, stopwatch=monotonic)

    assert drop(utc_now() - timedelta(days=35), 1) == 1
    assert kept(root, *worlds) == {old[0], old[1], past, uncounted, young}
    assert forget() >= 3

    assert kept(root, *worlds) == {uncounted, young}
    read = ReadSearches(
        runs=PostgresSearchRuns(here.pool), transactions=StoreTransactions(here.pool)
    )
    with pytest.raises(NotFound):
        read(here.admin, old[0])
    for world in worlds:
        world.pool.close()


def test_no_moment_makes_the_searches_of_the_last_day_be_forgotten(
    database: "Database", root: Connection
) -> None:
    world = open_world(database.owner_url, database.app_url, "today")
    with ThreadPoolExecutor(4) as pool:
        recall = recall_over(world, pool)
        recent = age(root, ask(recall, world), days=0.9)
        age(root, ask(recall, world), days=1.1)
    DropSearchRuns(world.pool)(utc_now() + timedelta(days=1), 1000)
    assert kept(root, world) == {recent}
    world.pool.close()


def test_words_found_and_no_vectors_is_said_and_mended(
    database: "Database", root: Connection
) -> None:
    world = open_world(database.owner_url, database.app_url, "no vectors")
    world.tell(memory("the harbour is quiet"))
    root.execute("DELETE FROM outbox WHERE workspace_id = %s", [world.workspace_id])
    told: list[tuple[str, dict[str, Any]]] = []
    reindex = PostgresReindex(world.pool, model_id=1, clock=utc_now, new_id=new_id).request
    with ThreadPoolExecutor(4) as pool:
        recall = recall_over(
            world, pool, reindex=reindex, report=lambda event, fields: told.append((event, fields))
        )
        found = [ask(recall, world) for _ in range(2)]
    assert [each.meta.degraded for each in found] == [("vector: empty",)] * 2
    assert [(event, fields["lacking"]) for event, fields in told] == [
        ("recall.vector_leg_empty", 1),
        ("recall.vector_leg_empty", 1),
    ]
    waiting = root.execute(
        "SELECT topic, sent_at FROM outbox WHERE workspace_id = %s", [world.workspace_id]
    )
    assert waiting.fetchall() == [("embed", None)]
    with ThreadPoolExecutor(4) as pool:
        embed(root, world)
        recall = recall_over(world, pool, reindex=reindex)
        assert ask(recall, world, query="quiet moonlight sonata piano").meta.degraded == ()
    world.pool.close()


def test_a_workspace_chooses_its_recipe_and_its_stages(world: World, root: Connection) -> None:
    root.execute(
        """UPDATE workspace SET settings = '{"recall": {"recipe": "seed-000", "stages":
             {"keyword": false, "nonsense": true}, "weights": {"vector": 2}}}' WHERE id = %s""",
        [world.workspace_id],
    )
    try:
        with ThreadPoolExecutor(4) as pool:
            settings = PostgresWorkspaceSettings(world.pool, monotonic)
            recall = recall_over(world, pool, settings=settings)
            chosen = ask(recall, world)
            asked = ask(recall, world, recipe="default", stages={"keyword": True})
    finally:
        root.execute("UPDATE workspace SET settings = '{}' WHERE id = %s", [world.workspace_id])
    assert chosen.meta.search.recipe.name == "seed-000"
    assert list(chosen.meta.legs) == ["vector"]
    assert chosen.meta.search.recipe.weights == {"vector": 2}
    assert chosen.meta.search.ignored == ("recall.stages.nonsense",)
    assert list(asked.meta.legs) == ["keyword", "vector"]
