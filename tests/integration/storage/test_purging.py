"""A purge in PostgreSQL: histories, vectors and counts, and what the search index learns of it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from tests.support.graph import Graphing
from tests.support.remembering import Remembering, admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.memory.search_index import PostgresIndexSource
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.graph.projection import Projection, Purge
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.nodes.draft import NewEdge

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

FIRST = (0, UUID(int=0))


@pytest.fixture
def pool(database: "Database") -> Iterator[Pool]:
    pool = Pool(database.app_url, size=2)
    yield pool
    pool.close()


@pytest.fixture
def graph(database: "Database", pool: Pool) -> Graphing:
    name = f"purge-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    transactions = StoreTransactions(pool)
    return Graphing(Remembering(transactions=transactions, principal=admin_of(workspace_id)))


def purge(graph: Graphing, *node_ids: UUID) -> int:
    workspace_id = graph.system.principal.workspace_id
    with graph.system.transactions.writing(graph.system.principal) as stores:
        position = stores.ledger.head().position + 1
        one = Purge(workspace_id=workspace_id, node_ids=node_ids, position=position)
        stores.nodes.apply([Projection(purges=(one,))])
    return position


def look(database: "Database", statement: str, **given: Any) -> list[tuple[Any, ...]]:
    with database.connect_as_superuser() as connection:
        return psycopg.Cursor(connection).execute(statement.encode(), given).fetchall()


def test_no_table_of_the_graph_names_a_purged_node(database: "Database", graph: Graphing) -> None:
    lost = graph.note("lost")
    graph.note("other", NewEdge(relation="SOLVES", to_id=lost))
    purge(graph, lost)
    for table in ("node", "node_version", "embedding", "edge", "edge_version", "outbox"):
        with database.connect_as_superuser() as connection:
            text = sql.SQL("SELECT 1 FROM {} AS t WHERE t::text LIKE %s").format(
                sql.Identifier(table)
            )
            assert connection.execute(text, [f"%{lost}%"]).fetchall() == [], table


def test_what_a_purged_node_linked_to_counts_one_link_less(
    database: "Database", graph: Graphing
) -> None:
    kept = graph.note("kept")
    lost = graph.note("lost", NewEdge(relation="SOLVES", to_id=kept))
    position = purge(graph, lost)
    rows = look(
        database,
        "SELECT n.backlink_count, n.position, v.from_position FROM node n"
        " JOIN node_version v USING (workspace_id, id)"
        " WHERE n.id = %(id)s AND v.to_position IS NULL",
        id=kept,
    )
    assert rows == [(0, position, position)]


def test_the_search_index_is_told_to_take_purged_nodes_out(graph: Graphing, pool: Pool) -> None:
    kept, lost = graph.note("kept"), graph.note("lost")
    position = purge(graph, lost)
    source, workspace_id = PostgresIndexSource(pool), graph.system.principal.workspace_id
    changed = {item.node_id: item for item in source.changed(workspace_id, FIRST, 10)}
    assert set(changed) == {kept, lost}
    assert (changed[lost].findable, changed[lost].own, changed[lost].position) == (
        False,
        "",
        position,
    )
    assert source.pending(workspace_id, position - 1) == 1
