"""The legs over PostgreSQL: what they find, who finds it, and by which index."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from tests.plugins.waiting import eventually
from tests.support.world import MORNING, World, memory, open_world

from cairn.adapters.postgres.memory.recall import PostgresKeywordLeg, PostgresVectorLeg
from cairn.adapters.postgres.memory.search_runs import PostgresSearchRuns
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.access import Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.memories.kinds import MemoryKind
from cairn.recall.records import Explored, Filters, ScoredNode, SearchRun

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

Connection = psycopg.Connection[Any]
SCANS = """
SELECT coalesce(sum(pg_stat_get_numscans(indexrelid)), 0)::int FROM pg_index
 WHERE indexrelid::regclass::text ~ %s
"""


@pytest.fixture(scope="module")
def root(database: "Database") -> Iterator[Connection]:
    with database.connect_as_superuser() as connection:
        connection.autocommit = True
        yield connection


@pytest.fixture(scope="module")
def world(database: "Database", root: Connection) -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, "recall")
    world.tell(
        memory("the harbour opens at six", key="harbour"),
        memory("the harbour opens at seven", key="harbour", occurred_at=MORNING + timedelta(1)),
        memory("lighthouse keepers for bots", agents=("bot",), scope=Scope.PUBLIC),
        *(
            memory(text, type=MemoryKind.EVENT, session_id="s", sequence=at * 10)
            for at, text in enumerate(["ahoy", "which ship", "the walrus", "she sails at noon"])
        ),
    )
    embed(root, world)
    yield world
    world.pool.close()


def embed(root: Connection, world: World) -> None:
    """Give every node a vector of its own axis, by ledger position."""
    root.execute(
        """INSERT INTO embedding (workspace_id, node_id, model_id, v, position, label, kind, scope,
             agents, client_id, state, occurred_at, valid_from, valid_to)
           SELECT workspace_id, id, 1,
             (SELECT array_agg((g = created_position)::int::real ORDER BY g)
             FROM generate_series(0, 383) g)::vector::halfvec, position, label, kind, scope, agents,
             client_id, state, occurred_at, valid_from, valid_to
             FROM node WHERE workspace_id = %s""",
        [world.workspace_id],
    )


def axis(position: int) -> Any:
    vector = np.zeros(384, dtype=np.float32)
    vector[position] = 1.0
    return vector


def id_of(root: Connection, world: World, text: str) -> tuple[UUID, int]:
    row = root.execute(
        "SELECT id, created_position FROM node WHERE workspace_id = %s AND text = %s",
        [world.workspace_id, text],
    ).fetchone()
    assert row is not None
    return row


def node(root: Connection, world: World, text: str, **columns: str) -> UUID:
    """Insert a node past the write path and return its id."""
    values: dict[str, Any] = {"label": "Memory", "compiled_truth": None, **columns}
    row = root.execute(
        """INSERT INTO node (workspace_id, id, label, compiled_truth, text, content_hash,
             data_subjects, state, occurred_at, valid_from, recorded_at, entry_id, created_position,
             position)
           VALUES (%s, gen_random_uuid(), %s, %s, %s, '', '{}', 'active', now(), now(), now(),
             gen_random_uuid(), 1000, 1000) RETURNING id""",
        [world.workspace_id, values["label"], values["compiled_truth"], text],
    ).fetchone()
    assert row is not None
    return row[0]


def by_words(world: World, *terms: str, who: Any = None, **filters: Any) -> list[UUID]:
    leg = PostgresKeywordLeg(world.pool)
    found = leg.search(who or world.admin, terms, Filters(**filters), limit=10, timeout_ms=2000)
    assert all(item.score > 0 for item in found)
    return [item.node_id for item in found]


def by_vector(world: World, position: int, who: Any = None, **filters: Any) -> list[UUID]:
    found = PostgresVectorLeg(world.pool).search(
        who or world.admin,
        axis(position),
        Filters(**filters),
        model_id=1,
        minimum=0.3,
        limit=10,
        timeout_ms=2000,
    )
    return [item.node_id for item in found]


def test_a_vector_finds_its_node_with_cosine_one(world: World, root: Connection) -> None:
    node, position = id_of(root, world, "the walrus")
    leg = PostgresVectorLeg(world.pool)
    found = leg.search(
        world.admin, axis(position), Filters(), model_id=1, minimum=0.3, limit=5, timeout_ms=2000
    )
    assert [(item.node_id, item.score) for item in found] == [(node, pytest.approx(1.0, abs=1e-3))]


def test_words_are_found_in_any_form_and_operators_are_words(
    world: World, root: Connection
) -> None:
    node, _ = id_of(root, world, "she sails at noon")
    assert by_words(world, "sailing", "&|!('")[0] == node


def test_own_words_rank_above_words_said_before(world: World, root: Connection) -> None:
    own, _ = id_of(root, world, "the walrus")
    after, _ = id_of(root, world, "she sails at noon")
    assert by_words(world, "walrus") == [own, after]


def test_a_rare_word_tells_more_than_a_common_one(world: World, root: Connection) -> None:
    common = [node(root, world, f"the ferry leaves again {number}") for number in range(6)]
    rare = node(root, world, "a zeppelin")
    assert by_words(world, "ferry", "zeppelin")[0] == rare
    assert set(by_words(world, "ferry")) == set(common)


def test_an_entity_is_found_by_words_when_asked_for_or_when_something_is_known_of_it(
    world: World, root: Connection
) -> None:
    bare = node(root, world, "Quokka", label="Entity")
    known = node(root, world, "Quokka Ltd", label="Entity", compiled_truth="Sells boats.")
    assert by_words(world, "quokka") == [known]
    assert set(by_words(world, "quokka", labels=("Entity",))) == {bare, known}
    assert by_words(world, "quokka", labels=("Memory",)) == []
    assert by_words(world, "quokka", as_of_position=10**9) == [known]


def test_no_terms_find_nothing(world: World) -> None:
    assert by_words(world) == []
    assert by_words(world, "the") == []


def test_superseded_facts_are_found_when_asked_for(world: World, root: Connection) -> None:
    old, _ = id_of(root, world, "the harbour opens at six")
    new, _ = id_of(root, world, "the harbour opens at seven")
    assert by_words(world, "harbour") == [new]
    assert set(by_words(world, "harbour", include_superseded=True)) == {old, new}
    assert by_words(world, "harbour", valid_at=MORNING) == [old]
    assert by_words(world, "harbour", valid_at=MORNING - timedelta(1)) == []


def test_the_past_is_searched_as_it_was(world: World, root: Connection) -> None:
    old, position = id_of(root, world, "the harbour opens at six")
    new, _ = id_of(root, world, "the harbour opens at seven")
    assert by_words(world, "harbour", as_of_position=position) == [old]
    assert by_words(world, "harbour", as_of_position=position + 1) == [new]
    assert by_vector(world, position, as_of_position=position) == [old]
    assert by_vector(world, position, as_of_position=position + 1) == []
    with StoreTransactions(world.pool).reading(world.admin) as stores:
        then = stores.node_reader.read([old, new], Filters(as_of_position=position))
        now = stores.node_reader.read([old, new], Filters())
    assert [(item.id, item.state) for item in then] == [(old, "active")]
    assert {item.id: item.state for item in now} == {old: "superseded", new: "active"}


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({"kinds": ("fact",)}, 1),
        ({"kinds": ("status",)}, 0),
        ({"labels": ("Memory",), "client_id": "global"}, 1),
        ({"client_id": "acme"}, 0),
        ({"scopes": ("public",)}, 0),
        ({"occurred_from": MORNING + timedelta(1)}, 1),
        ({"occurred_to": MORNING + timedelta(1)}, 0),
    ],
)
def test_filters_hold_in_both_legs(
    world: World, root: Connection, filters: dict[str, Any], count: int
) -> None:
    _, position = id_of(root, world, "the harbour opens at seven")
    assert len(by_words(world, "harbour", **filters)) == count
    assert len(by_vector(world, position, **filters)) == count


def test_an_agent_finds_and_reads_what_is_tagged_for_it_only(
    world: World, root: Connection
) -> None:
    node, position = id_of(root, world, "lighthouse keepers for bots")
    for slug, found in (("bot", [node]), ("other", [])):
        who = world.as_other(agent_slug=slug)
        assert by_words(world, "lighthouse", who=who) == found
        assert by_vector(world, position, who=who) == found
        with StoreTransactions(world.pool).reading(who) as stores:
            assert [item.id for item in stores.node_reader.read([node], Filters())] == found


def test_neighbours_stand_in_reading_order_even_when_numbers_are_missing(
    world: World, root: Connection
) -> None:
    node, position = id_of(root, world, "the walrus")
    with StoreTransactions(world.pool).reading(world.admin) as stores:
        nodes = stores.node_reader.read([node], Filters())
        beside = stores.node_reader.neighbours(nodes, 2, Filters())[node]
        then = stores.node_reader.neighbours(nodes, 2, Filters(as_of_position=position))[node]
        assert stores.node_reader.neighbours(nodes, 0, Filters()) == {}
    assert [item.text for item in beside.before] == ["ahoy", "which ship"]
    assert [item.text for item in beside.after] == ["she sails at noon"]
    assert then == replace(beside, after=())


def test_a_search_run_is_kept_as_it_was(world: World) -> None:
    one, other = new_id(), new_id()
    run = SearchRun(
        id=new_id(),
        workspace_id=world.workspace_id,
        principal_id=world.admin.principal_id,
        recipe="default",
        started_at=MORNING,
        returned=(one,),
        candidates={"vector": ((one, 0.1 + 0.2), (other, 1e-17))},
        degraded=("keyword: late",),
        duration_ms=3.5,
        counts_as_access=True,
        request_digest=b"digest",
        recipe_used={"fusion": "rrf", "weights": {"vector": 0.7}},
        wanted=6,
        retrieval_class="event",
        intents={"why": 0.7},
        seeds=(other,),
        scored=(ScoredNode(one, 4, {"fused": 1 / 3, "decay_factor": 0.99}),),
        reranked={one: 2 / 3},
        merged={one: (other,)},
        edges=(Explored(one, other, "causal", "CAUSED_BY", 0.25),),
        as_of_position=9,
        session_id="s",
        cached_from=other,
    )
    runs = PostgresSearchRuns(world.pool)
    runs.insert([run])
    runs.insert([run])  # what comes twice is known
    assert runs.find(world.admin, run.id) == run
    assert runs.find(replace(world.admin, workspace_id=new_id()), run.id) is None


def test_the_position_of_a_moment_is_the_last_one_recorded_by_then(world: World) -> None:
    with StoreTransactions(world.pool).reading(world.admin) as stores:
        assert stores.node_reader.position_at(MORNING - timedelta(days=9000)) == 0
        assert stores.node_reader.position_at(utc_now() + timedelta(1)) == 9


def test_a_leg_that_takes_too_long_is_unavailable(world: World, root: Connection) -> None:
    with root.transaction(), pytest.raises(Unavailable) as refused:
        root.execute("LOCK TABLE node IN ACCESS EXCLUSIVE MODE")
        leg = PostgresKeywordLeg(world.pool)
        leg.search(world.admin, ["harbour"], Filters(), limit=5, timeout_ms=100)
    assert refused.value.reason == "database-timeout"


@pytest.fixture(scope="module")
def crowd(database: "Database", root: Connection) -> Iterator[World]:
    """A workspace of 5,000 nodes, enough for an index to pay."""
    world = open_world(database.owner_url, database.app_url, "crowd")
    root.execute("SELECT setseed(0.5)")
    root.execute(
        """INSERT INTO node (workspace_id, id, label, kind, text, content_hash, data_subjects,
             state, occurred_at, valid_from, recorded_at, entry_id, created_position, position)
           SELECT %s, gen_random_uuid(), 'Memory', 'event', 'word' || g || ' word' || g %% 500, '',
             '{}', 'active', now(), now(), now(), gen_random_uuid(), g, g
             FROM generate_series(1, 5000) g""",
        [world.workspace_id],
    )
    root.execute(
        """INSERT INTO embedding (workspace_id, node_id, model_id, v, position, label, kind, scope,
             client_id, state, occurred_at, valid_from)
           SELECT workspace_id, id, 1, (SELECT array_agg(random() - 0.5 + 0 * g + 0 * n.position)
             FROM generate_series(1, 384) g)::vector::halfvec, position, label, kind, scope,
             client_id, state, occurred_at, valid_from FROM node n WHERE workspace_id = %s""",
        [world.workspace_id],
    )
    root.execute("ANALYZE")
    yield world
    world.pool.close()


def scans(root: Connection, pattern: str) -> int:
    row = root.execute(SCANS, [pattern]).fetchone()
    assert row is not None
    return row[0]


def flush(root: Connection, *worlds: World) -> None:
    """End every other session of the database: as it ends, it hands in its statistics."""
    for world in worlds:
        world.pool.close()
    others = b"FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    root.execute(b"SELECT pg_terminate_backend(pid) " + others)
    eventually(lambda: not root.execute(b"SELECT 1 " + others).fetchall(), what="the end of all")


def test_the_vector_leg_walks_one_partitions_index_and_fills_its_limit(
    world: World, crowd: World, root: Connection
) -> None:
    flush(root, world, crowd)
    before = scans(root, "hnsw")
    found = PostgresVectorLeg(crowd.pool).search(
        crowd.admin, axis(3), Filters(), model_id=1, minimum=-1, limit=100, timeout_ms=5000
    )
    flush(root, world, crowd)
    assert len(found) == 100  # pgvector's default ef_search is 40: the function's own setting holds
    assert scans(root, "hnsw") - before == 1


def test_the_keyword_leg_walks_one_partitions_index(
    world: World, crowd: World, root: Connection
) -> None:
    flush(root, world, crowd)
    before = scans(root, "search_tsv")
    found = PostgresKeywordLeg(crowd.pool).search(
        crowd.admin, ["word17", "word44"], Filters(), limit=100, timeout_ms=5000
    )
    flush(root, world, crowd)
    assert len(found) == 20
    assert scans(root, "search_tsv") - before == 1


def test_found_nodes_are_read_by_one_partitions_primary_key(crowd: World, root: Connection) -> None:
    ids = [one for (one,) in root.execute("SELECT id FROM node WHERE label = 'Memory' LIMIT 200")]
    with StoreTransactions(crowd.pool).reading(crowd.admin) as stores:
        connection = stores.nodes.connection
        asked = {"workspace_id": crowd.workspace_id, "ids": ids, "subscribed": []}
        connection.execute("SET LOCAL enable_indexscan = off")  # one plan whatever the statistics
        rows = connection.execute(b"EXPLAIN " + query("search.read"), asked).fetchall()
    plan = "\n".join(line for (line,) in rows)
    assert len(set(re.findall(r"Scan on (\w+) node", plan))) == 1
    assert re.search(r"Index Scan on node_p\d+_pkey", plan)


def test_a_small_workspace_beside_a_big_one_finds_all_its_rows(
    database: "Database", crowd: World, root: Connection
) -> None:
    same = "SELECT satisfies_hash_partition('node'::regclass, 16, %s, %s::uuid)"
    is_in = lambda part, one: root.execute(same, [part, one]).fetchone() == (True,)  # noqa: E731
    part = next(part for part in range(16) if is_in(part, crowd.workspace_id))
    small = next(item for item in iter(new_id, None) if is_in(part, item))
    root.execute("INSERT INTO workspace VALUES (%s, 'small', '{}', now())", [small])
    for table in ("node", "embedding"):
        columns = """SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
            WHERE attrelid = %s::regclass AND attnum > 1 AND attgenerated = ''"""
        names = root.execute(columns, [table]).fetchone()
        assert names is not None
        root.execute(
            f"""INSERT INTO {table} (workspace_id, {names[0]}) SELECT %s, {names[0]} FROM {table}
                 WHERE workspace_id = %s AND position <= 10""".encode(),  # noqa: S608
            [small, crowd.workspace_id],
        )
    who = replace(crowd.admin, workspace_id=small)
    found = PostgresVectorLeg(crowd.pool).search(
        who, axis(3), Filters(), model_id=1, minimum=-1, limit=100, timeout_ms=5000
    )
    assert len(found) == 10
