"""The graph in PostgreSQL: history, hubs, plans under row level security, feedback, deadlines."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.graphs import NOON, Planted
from tests.support.remembering import admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.database import bound
from cairn.adapters.postgres.memory.graph_reader import PostgresFeedback
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.graph.intent_weights import Intent
from cairn.kernel.access import Principal, Role
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.errors import NotFound, Unavailable
from cairn.kernel.ids import new_id
from cairn.recall.records import Filters
from cairn.recall.searches.searches import Feedback, GiveFeedback
from cairn.recall.walks.graph_ports import GraphSeeds
from cairn.recall.walks.graph_walks import WalkingGraphLeg

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

HUB_EDGES = 10_000


@dataclass
class World:
    """A planted workspace and its pool."""

    graph: Planted
    pool: Pool
    root: Any

    def hop(self, *names: str, **options: Any) -> Any:
        asked = {"filters": Filters(), "per_node": 50, "limit": 5000} | options
        with StoreTransactions(self.pool).reading(self.graph.principal) as stores:
            return stores.graph.hop([self.graph.id(name) for name in names], **asked)


@pytest.fixture(scope="module")
def world(database: "Database") -> Iterator[World]:
    workspace_id, _ = create_workspace(
        database.owner_url, f"graph-{new_id()}", clock=utc_now, new_id=new_id
    )
    pool = Pool(database.app_url, size=2)
    graph = Planted(transactions=StoreTransactions(pool), principal=admin_of(workspace_id))
    with database.connect_as_superuser() as root:
        root.autocommit = True
        yield World(graph=graph, pool=pool, root=root)
    pool.close()


@pytest.fixture(scope="module")
def hub(world: World) -> str:
    """An entity that ten thousand memories reference, planted behind the triggers' backs."""
    graph = world.graph
    graph.plant([graph.node("HUB")])
    given = {"w": graph.principal.workspace_id, "hub": graph.id("HUB"), "n": HUB_EDGES, "t": NOON}
    world.root.execute(
        "CREATE FUNCTION pg_temp.memory_id(i bigint) RETURNS uuid LANGUAGE sql IMMUTABLE"
        " RETURN ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid"
    )
    world.root.execute("SET session_replication_role = replica")
    world.root.execute(
        "INSERT INTO node (workspace_id, id, label, kind, text, content_hash, data_subjects, state,"
        " occurred_at, valid_from, recorded_at, entry_id, created_position, position)"
        " SELECT %(w)s, pg_temp.memory_id(i), 'Memory', 'fact', 'memory ' || i, 'h', '{}',"
        " 'active', %(t)s, %(t)s, %(t)s, gen_random_uuid(), 1, 1"
        " FROM generate_series(1, %(n)s) AS i",
        given,
    )
    world.root.execute(
        "INSERT INTO edge (workspace_id, id, view, relation, source_id, target_id, weight,"
        " valid_from, recorded_at, position)"
        " SELECT %(w)s, gen_random_uuid(), 'entity', 'REFERENCES', pg_temp.memory_id(i),"
        " CASE step WHEN 0 THEN %(hub)s ELSE pg_temp.memory_id(1 + mod(i * step, %(n)s)) END, i,"
        " %(t)s, %(t)s, 1"
        " FROM generate_series(1, %(n)s) AS i, unnest('{0,3,7,11}'::int[]) AS step"
        " ON CONFLICT DO NOTHING",
        given,
    )
    world.root.execute("SET session_replication_role = origin")
    world.root.execute("ANALYZE node, edge")
    return "HUB"


def test_a_hub_gives_its_heaviest_edges_and_no_more(world: World, hub: str) -> None:
    found = world.hop(hub, per_node=50)
    assert sorted(edge.weight for edge in found) == [
        float(weight) for weight in range(HUB_EDGES - 49, HUB_EDGES + 1)
    ]


def test_a_leg_over_a_hub_is_bounded_and_says_that_there_is_more(world: World, hub: str) -> None:
    leg = WalkingGraphLeg(transactions=StoreTransactions(world.pool), stopwatch=monotonic)
    found = leg.search(
        world.graph.principal,
        GraphSeeds(names=(hub,)),
        {Intent.WHAT: 1.0},
        Filters(),
        method=None,
        limit=20,
        timeout_ms=10_000,
    )
    assert len(found.candidates) == 20
    assert found.truncated
    assert found.explored < HUB_EDGES / 2


@pytest.mark.parametrize(
    ("name", "parameters", "index"),
    [
        (
            "graph.hop",
            {"frontier": 1, "relations": None, "per_node": 50, "limit": 99},
            "edge_target",
        ),
        ("graph.related", {"ids": 1, "cap": 20, "counted": 200, "characters": 9}, "edge_target"),
        ("graph.important_connections", {"ids": 1, "minimum": 7, "limit": 3}, "edge_target"),
        ("graph.starts", {"ids": 1}, "pkey"),
        ("graph.read", {"ids": 1}, "pkey"),
    ],
)
def test_the_application_reads_the_graph_by_its_indexes(
    world: World, hub: str, name: str, parameters: dict[str, Any], index: str
) -> None:
    principal = world.graph.principal
    asked = {
        key: [world.graph.id(hub)] if key in ("ids", "frontier") else value
        for key, value in parameters.items()
    }
    with bound(world.pool, principal) as connection:
        rows = connection.execute(
            b"EXPLAIN " + query(name), {"workspace_id": principal.workspace_id, **asked}
        ).fetchall()
    plan = "\n".join(row[0] for row in rows)
    assert index in plan
    assert "Seq Scan on edge" not in plan
    assert "Seq Scan on node" not in plan
    partitions = {part for part in range(16) if f"node_p{part} " in plan}
    assert len(partitions) == 1, plan


def test_an_edge_closed_since_is_still_there_in_the_past(world: World) -> None:
    graph = world.graph
    made = graph.grow(("x1", "FOLLOWS", "x2"))
    closed = graph.close("x1", "FOLLOWS", "x2")
    past, present = Filters(as_of_position=made), Filters(as_of_position=closed)
    assert [edge.relation for edge in world.hop("x1", filters=past)] == ["FOLLOWS"]
    assert list(world.hop("x1", filters=present)) == []
    assert list(world.hop("x1")) == []


def test_a_hop_that_takes_too_long_is_unavailable(world: World, hub: str) -> None:
    with (
        pytest.raises(Unavailable),
        StoreTransactions(world.pool).reading(world.graph.principal) as stores,
    ):
        stores.graph.run("graph.limit_time", timeout_ms="1")
        frontier = [UUID(f"00000000-0000-7000-8000-{number:012x}") for number in range(1, 5000)]
        stores.graph.hop(frontier, Filters(), per_node=50, limit=100_000, timeout_ms=1)


def searched(world: World, principal: Principal, session: str, *names: str) -> UUID:
    search_id = new_id()
    world.root.execute(
        "INSERT INTO search_run (workspace_id, id, principal_id, recipe, recorded_at, returned,"
        " candidates, degraded, duration_ms, counts_as_access, session_id)"
        " VALUES (%s, %s, %s, 'default', %s, %s, '{}', '{}', 1, true, %s)",
        (
            principal.workspace_id,
            search_id,
            principal.principal_id,
            NOON,
            [world.graph.id(name) for name in names],
            session,
        ),
    )
    return search_id


def test_what_a_session_found_twice_is_its_history(world: World) -> None:
    graph = world.graph
    graph.plant([graph.node(name) for name in ("h1", "h2", "h3")])
    other = graph.as_other()
    searched(world, graph.principal, "s", "h1", "h2")
    searched(world, graph.principal, "s", "h1", "h3")
    searched(world, graph.principal, "elsewhere", "h2", "h3")
    searched(world, other, "s", "h2", "h3")
    with StoreTransactions(world.pool).reading(graph.principal) as stores:
        found = stores.graph.used_again("s", minimum=2, limit=9)
        assert stores.graph.used_again("unknown", minimum=2, limit=9) == []
    assert [(node_id, count) for node_id, _, count in found] == [(graph.id("h1"), 2.0)]


def test_feedback_is_the_principals_last_word_on_its_own_search(world: World) -> None:
    graph = world.graph
    graph.plant([graph.node("f1"), graph.node("f2")])
    agent = graph.as_other()
    mine = searched(world, agent, "feedback", "f1")
    give = GiveFeedback(store=PostgresFeedback(world.pool), clock=utc_now)
    said = Feedback(search_id=mine, node_id=graph.id("f1"), useful=True)
    for useful in (True, False):
        give(agent, Feedback(search_id=mine, node_id=graph.id("f1"), useful=useful))
    give(graph.principal, said)  # an admin may judge anyone's
    rows = world.root.execute(
        "SELECT principal_id, useful FROM search_feedback WHERE search_id = %s", (mine,)
    ).fetchall()
    assert dict(rows) == {agent.principal_id: False, graph.principal.principal_id: True}
    stranger = Principal(
        workspace_id=new_id(),
        principal_id=new_id(),
        role=Role.ADMIN,
        allowed_scopes=agent.allowed_scopes,
    )
    for who, feedback in (
        (graph.as_other(), said),
        (stranger, said),
        (agent, Feedback(search_id=mine, node_id=graph.id("f2"), useful=True)),
        (agent, Feedback(search_id=new_id(), node_id=graph.id("f1"), useful=True)),
    ):
        with pytest.raises(NotFound):
            give(who, feedback)
