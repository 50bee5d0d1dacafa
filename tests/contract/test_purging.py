"""A purge takes nodes out of every projection."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.graph import Graphing
from tests.support.remembering import NOON, Remembering, admin_of, fact

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.graph.projection import Projection, Purge
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.nodes.draft import NewEdge
from cairn.writing.items import Outcome
from cairn.writing.ports import OutboxRow, Topic

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture
def graph(database: "Database") -> Iterator[Graphing]:
    yield from in_postgres(database)


def in_postgres(database: "Database") -> Iterator[Graphing]:
    name = f"purge-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    system = Remembering(transactions=StoreTransactions(pool), principal=admin_of(workspace_id))
    yield Graphing(system)
    pool.close()


def purge(graph: Graphing, *node_ids: UUID, extra: tuple[Projection, ...] = ()) -> None:
    workspace_id = graph.system.principal.workspace_id
    one = Purge(workspace_id=workspace_id, node_ids=node_ids, position=10_000)
    with graph.system.transactions.writing(graph.system.principal) as stores:
        stores.nodes.apply([Projection(purges=(one,)), *extra])


def rows_of(graph: Graphing, *node_ids: UUID) -> Any:
    with graph.system.transactions.writing(graph.system.principal) as stores:
        return stores.graph_nodes.find(node_ids)


def test_a_purged_node_is_gone_with_its_edges_and_may_be_purged_again(graph: Graphing) -> None:
    kept, lost = graph.note("kept"), graph.note("lost")
    graph.note(
        "third", NewEdge(relation="SOLVES", to_id=lost), NewEdge(relation="SOLVES", to_id=kept)
    )
    graph.note("fourth", NewEdge(relation="SOLVES", from_id=lost))
    for _ in range(2):
        purge(graph, lost, new_id())
        assert set(rows_of(graph, kept, lost)) == {kept}
        assert graph.edges(lost) == set()
        assert len(graph.edges(kept)) == 1


def test_aliases_of_a_purged_entity_go_and_those_of_others_stay(graph: Graphing) -> None:
    lost, kept = graph.entity("Keycloak", "system"), graph.entity("Grafana", "system")
    graph.correct.add_alias(graph.system.principal, lost, "kc")
    graph.correct.add_alias(graph.system.principal, kept, "graf")
    purge(graph, lost)
    assert set(graph.aliases()) == {"graf"}


def test_work_that_waits_for_a_purged_node_no_longer_names_it(graph: Graphing) -> None:
    system, kept, lost = graph.system, graph.note("kept"), graph.note("lost")
    both, alone = new_id(), new_id()
    with system.transactions.writing(system.principal) as stores:
        for row_id, nodes in ((both, (kept, lost)), (alone, (lost,))):
            row = OutboxRow(
                workspace_id=system.principal.workspace_id,
                id=row_id,
                topic=Topic.EMBED,
                position=1,
                node_ids=nodes,
            )
            stores.outbox.add(row, NOON)
    purge(graph, lost)
    with system.transactions.reading(system.principal) as stores:
        found = stores.outbox.find([both, alone])
    assert [(item.id, item.node_ids) for item in found] == [(both, (kept,))]


def test_the_same_memory_may_be_told_again_after_a_purge(graph: Graphing) -> None:
    first = graph.system.tell_one(fact("the lights are green", key="lights"))
    assert first.id is not None
    purge(graph, first.id)
    again = graph.system.tell_one(fact("the lights are green", key="lights"))
    assert (again.outcome, again.superseded) == (Outcome.CREATED, ())
    assert again.id != first.id
