"""Which nodes lack a vector: what holds for the fake and for PostgreSQL alike."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
import pytest
from tests.support.embedding import HASHING
from tests.support.platform import platform_of
from tests.support.remembering import Remembering, admin_of, fact

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.enrichment.ports import NewEmbedding
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.memories.delete import DeleteMemory
from cairn.reembedding.reindex import BEGINNING, GapCount, GapPage

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

OTHER_MODEL = 1


@pytest.fixture
def system(database: "Database") -> Iterator[Remembering]:
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)
               ON CONFLICT DO NOTHING""",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    name = f"gaps-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    transactions = StoreTransactions(pool)
    yield Remembering(transactions=transactions, principal=admin_of(workspace_id))
    pool.close()


def told(system: Remembering, number: int) -> list[UUID]:
    """Ids of new memories in the order of ids; nothing waits for them."""
    outcomes = system.tell(*(fact(f"fact number {n}") for n in range(number)))
    with system.transactions.writing(system.principal) as stores:
        stores.outbox.done([row.id for row in system.sent.rows])
    return sorted(outcome.id for outcome in outcomes if outcome.id)


def embed(system: Remembering, model_id: int, *node_ids: UUID) -> None:
    vector = np.ones((1, HASHING.dimensions), dtype=np.float32)
    rows = [NewEmbedding(node_id=id_, vectors=list(vector)) for id_ in node_ids]
    with system.transactions.writing(system.principal) as stores:
        stores.embeddings.store(rows, model_id, stores.ledger.head().position)


def page(system: Remembering, *, after: UUID = BEGINNING, limit: int = 10) -> GapPage:
    with system.transactions.reading(system.principal) as stores:
        return stores.vector_gaps.page(HASHING.id, after=after, limit=limit)


def counts(system: Remembering) -> GapCount:
    with system.transactions.reading(system.principal) as stores:
        return stores.vector_gaps.count(HASHING.id)


def test_only_a_vector_of_the_model_itself_fills_a_gap(system: Remembering) -> None:
    ids = told(system, 4)
    embed(system, OTHER_MODEL, ids[0], ids[1])
    embed(system, HASHING.id, ids[1], ids[2])
    assert page(system) == GapPage(last=ids[3], missing=2, unqueued=(ids[0], ids[3]))
    assert counts(system) == GapCount(missing=2, waiting=0)


def test_a_page_is_so_many_nodes_after_an_id_with_gaps_or_without(system: Remembering) -> None:
    ids = told(system, 5)
    embed(system, HASHING.id, ids[0], ids[3])
    first = page(system, limit=2)
    assert first == GapPage(last=ids[1], missing=1, unqueued=(ids[1],))
    assert page(system, after=ids[1], limit=2) == GapPage(
        last=ids[3], missing=1, unqueued=(ids[2],)
    )
    assert page(system, after=ids[4]) == GapPage(last=None, missing=0, unqueued=())


def test_what_waits_is_missing_and_not_unqueued(system: Remembering) -> None:
    outcomes = system.tell(fact("one"), fact("two"))
    ids = sorted(outcome.id for outcome in outcomes if outcome.id)
    assert page(system) == GapPage(last=ids[1], missing=2, unqueued=())
    assert counts(system) == GapCount(missing=2, waiting=2)


def test_what_is_deleted_lacks_nothing(system: Remembering) -> None:
    ids = told(system, 2)
    delete = DeleteMemory(platform_of(system.transactions, dispatcher=system.sent))
    delete(system.principal, ids[0])
    assert page(system).unqueued == (ids[1],)
    with system.transactions.writing(system.principal) as stores:
        assert stores.vector_gaps.page(HASHING.id, after=BEGINNING, limit=9).missing == 1
    assert counts(system) == GapCount(missing=1, waiting=0)


def test_an_empty_workspace_has_no_gaps(system: Remembering) -> None:
    assert page(system) == GapPage(last=None, missing=0, unqueued=())
    assert counts(system) == GapCount(missing=0, waiting=0)
