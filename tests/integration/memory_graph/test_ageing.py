"""What the memory graph says ages as memories do; what people hid stays hidden."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from tests.support.forgetting import Stand, open_stand
from tests.support.memory_graphs import Opened, ledger_graph
from tests.support.platform import platform_of

from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.ageing.cleanup import Cleanup
from cairn.kernel.clock import monotonic, utc_now

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

LONG_AGO = timedelta(days=91)


@pytest.fixture
def stand(database: "Database") -> Iterator[Stand]:
    pool = Pool(database.app_url, size=2)
    yield open_stand(database, pool)
    pool.close()


@pytest.fixture
def graph(stand: Stand) -> Opened:
    return Opened(ledger_graph(stand), stand.workspace_id)


def aged(database: "Database", *nodes: UUID) -> None:
    with database.connect_as_superuser() as root:
        moment = utc_now() - LONG_AGO
        root.execute("UPDATE node SET recorded_at = %s WHERE id = ANY (%s)", [moment, list(nodes)])


def clean(stand: Stand) -> int:
    cleanup = Cleanup(platform_of(StoreTransactions(stand.pool), stopwatch=monotonic))
    return int(cleanup(stand.workspace_id, seconds=60)["archived"])


def status(graph: Opened, node_id: UUID) -> str:
    found = graph.graph.node(graph.workspace_id, node_id)
    assert found is not None
    return found.dump.status.value


def test_facts_observations_and_resolutions_nobody_used_are_archived(
    stand: Stand, graph: Opened, database: "Database"
) -> None:
    old = [graph.put(label, "old") for label in ("fact", "observation", "resolution")]
    verified = graph.put("fact", "verified", verified=True)
    others = [graph.put(label, "old") for label in ("customer", "ticket", "system")]
    fresh = graph.put("fact", "fresh")
    aged(database, *old, verified, *others)
    assert clean(stand) == 3
    assert {status(graph, item) for item in old} == {"archived"}
    assert {status(graph, other) for other in (verified, fresh, *others)} == {"active"}
    assert clean(stand) == 0


def test_what_is_said_of_a_customer_with_a_new_ticket_is_in_use(
    stand: Stand, graph: Opened, database: "Database"
) -> None:
    """Planners are shown it with each ticket, which no search counts."""
    customer, quiet = graph.put("customer", "busy"), graph.put("customer", "quiet")
    used, unused = graph.put("fact", "used"), graph.put("fact", "unused")
    old, ticket = graph.put("ticket", "old"), graph.put("ticket", "new")
    graph.tie(customer, "HAS_FACT", used)
    graph.tie(quiet, "HAS_FACT", unused)
    graph.tie(ticket, "APPLIES_TO", customer)
    graph.tie(old, "APPLIES_TO", quiet)
    aged(database, used, unused, old)
    assert clean(stand) == 1
    assert (status(graph, used), status(graph, unused)) == ("active", "archived")


def test_what_a_person_or_a_forgetting_archived_does_not_come_back_by_being_found(
    stand: Stand, graph: Opened, database: "Database"
) -> None:
    acme = graph.put("customer", "customer:acme")
    rejected, of_acme, unused = (graph.put("fact", key) for key in ("rejected", "of", "unused"))
    graph.tie(acme, "HAS_FACT", of_acme)
    graph.graph.mark_archived(graph.workspace_id, rejected)
    stand.forgets("acme")
    aged(database, unused)
    assert clean(stand) == 1
    stores = StoreTransactions(stand.pool)
    with stores.reading(stand.principal) as reading:
        assert list(reading.ageing.archived([rejected, of_acme, unused])) == [unused]
