"""Edges in PostgreSQL: they grow once a position, close, and remember what they were."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.world import MORNING, World, memory, open_world

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.graph.edge import Edge, EdgeClosure, EdgeStrength, Relation, View
from cairn.graph.projection import EdgeRow, Projection
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    import psycopg
    from tests.plugins.postgres import Database


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"edges-{new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def root(database: "Database") -> Iterator["psycopg.Connection[Any]"]:
    with database.connect_as_superuser() as connection:
        connection.autocommit = True
        yield connection


@pytest.fixture
def ends(world: World) -> tuple[UUID, UUID]:
    one, other = world.tell(memory("one"), memory("other")).outcomes
    assert one.id
    assert other.id
    return one.id, other.id


def apply(world: World, *rows: EdgeRow) -> None:
    with StoreTransactions(world.pool).writing(world.admin) as stores:
        stores.nodes.apply([Projection(edges=rows)])


def grows(world: World, ends: tuple[UUID, UUID], position: int, amount: float) -> EdgeStrength:
    return EdgeStrength(
        workspace_id=world.workspace_id,
        id=new_id(),
        view=View.ENTITY,
        relation=Relation.CO_OCCURRENCE,
        source_id=ends[0],
        target_id=ends[1],
        amount=amount,
        recorded_at=MORNING,
        position=position,
    )


def stored(root: "psycopg.Connection[Any]", world: World) -> list[tuple[Any, ...]]:
    return root.execute(
        "SELECT weight, position, superseded_at IS NULL FROM edge WHERE workspace_id = %s "
        "AND relation = 'CO_OCCURRENCE' ORDER BY position",
        [world.workspace_id],
    ).fetchall()


def versions(root: "psycopg.Connection[Any]", world: World) -> list[tuple[Any, ...]]:
    return root.execute(
        "SELECT from_position, to_position, weight, superseded_at IS NULL FROM edge_version "
        "WHERE workspace_id = %s ORDER BY from_position, id",
        [world.workspace_id],
    ).fetchall()


def test_strength_adds_up_once_a_position(
    world: World, root: "psycopg.Connection[Any]", ends: tuple[UUID, UUID]
) -> None:
    for position, amount in ((10, 2.0), (11, 3.0), (11, 3.0), (10, 2.0)):
        apply(world, grows(world, ends, position, amount))
    assert stored(root, world) == [(5.0, 11, True)]
    assert versions(root, world) == [(10, 11, 2.0, True), (11, None, 5.0, True)]


def test_a_closed_edge_is_made_anew_and_its_past_stays(
    world: World, root: "psycopg.Connection[Any]", ends: tuple[UUID, UUID]
) -> None:
    first = grows(world, ends, 10, 4.0)
    apply(world, first)
    closure = EdgeClosure(
        workspace_id=world.workspace_id, id=first.id, superseded_at=MORNING, position=12
    )
    apply(world, closure, closure)
    apply(world, grows(world, ends, 14, 1.0))
    assert stored(root, world) == [(4.0, 12, False), (1.0, 14, True)]
    assert versions(root, world) == [
        (10, 12, 4.0, True),
        (12, None, 4.0, False),
        (14, None, 1.0, True),
    ]


def test_an_edge_made_and_closed_by_one_entry_is_one_version(
    world: World, root: "psycopg.Connection[Any]", ends: tuple[UUID, UUID]
) -> None:
    edge = Edge(
        workspace_id=world.workspace_id,
        id=new_id(),
        view=View.SEMANTIC,
        relation=Relation.SIMILAR_TO,
        source_id=ends[0],
        target_id=ends[1],
        valid_from=MORNING,
        recorded_at=MORNING,
        position=20,
    )
    closure = EdgeClosure(
        workspace_id=world.workspace_id, id=edge.id, superseded_at=MORNING, position=20
    )
    apply(world, edge, closure)
    assert versions(root, world) == [(20, None, 1.0, False)]


def test_backlinks_are_counted_where_edges_come_and_go(
    world: World, root: "psycopg.Connection[Any]", ends: tuple[UUID, UUID]
) -> None:
    def count() -> int:
        row = root.execute("SELECT backlink_count FROM node WHERE id = %s", [ends[1]]).fetchone()
        assert row is not None
        return row[0]

    edge = Edge(
        workspace_id=world.workspace_id,
        id=new_id(),
        view=View.CAUSAL,
        relation=Relation.CAUSED_BY,
        source_id=ends[0],
        target_id=ends[1],
        valid_from=MORNING,
        recorded_at=MORNING,
        position=30,
    )
    apply(world, edge)
    apply(world, edge)
    assert count() == 1
    closure = EdgeClosure(
        workspace_id=world.workspace_id, id=edge.id, superseded_at=MORNING, position=31
    )
    apply(world, closure)
    apply(world, closure)
    assert count() == 0
    apply(world, grows(world, ends, 32, 5.0))
    assert count() == 0
