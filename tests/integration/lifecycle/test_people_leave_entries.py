"""What a person sets going is an entry that names them, whatever else it leaves."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.everything import Everything, open_everything

from cairn.accounts.keys import CreateKey, RevokeKey
from cairn.adapters.postgres.ledger.whole import export_ledger
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.access import Role
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.memory_graph.ledger_graph import LedgerGraph
from cairn.reading.views import NewKey
from cairn.reembedding.reindex import Reindex
from cairn.writing.writer import Writer

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture(scope="module")
def some(database: "Database") -> Iterator[Everything]:
    everything = open_everything(database)
    yield everything
    everything.pool.close()


def exported(of: Everything) -> None:
    writer = Writer(of.system.remember.platform)
    graph = LedgerGraph(writer=writer, forget=None)  # pyright: ignore[reportArgumentType]
    bound = graph.bound_to(of.admin)
    first = bound.export_page(of.workspace_id)
    bound.export_page(of.workspace_id, first.after, position=first.position)


def reindexed(of: Everything) -> None:
    Reindex(
        transactions=StoreTransactions(of.pool),
        dispatcher=of.sent,
        model=of.embedder.model,
        clock=utc_now,
        stopwatch=monotonic,
        new_id=new_id,
    )(of.admin)


def keys_made(of: Everything) -> None:
    transactions = StoreTransactions(of.pool)
    made = CreateKey(transactions=transactions, clock=utc_now, new_id=new_id)(
        of.admin, NewKey(name="one", role=Role.AGENT)
    )
    RevokeKey(transactions=transactions, clock=utc_now, new_id=new_id)(of.admin, made.key.id)


def taken_out(of: Everything) -> None:
    lines = list(export_ledger(of.database.owner_url, of.workspace_id))
    assert '"export.made"' in lines[-1]


@pytest.mark.parametrize(
    ("act", "types", "person"),
    [
        (exported, ["export.made"], True),
        (reindexed, ["reindex.requested"], True),
        (keys_made, ["key.created", "key.revoked"], True),
        (taken_out, ["export.made"], False),
    ],
)
def test_it_is_in_the_ledger(
    some: Everything, act: Callable[[Everything], Any], types: list[str], person: bool
) -> None:
    [(before,)] = some.rows("SELECT position FROM ledger_head WHERE workspace_id = $w")
    act(some)
    found = some.rows(
        """SELECT type, actor_kind, actor_id FROM ledger
            WHERE workspace_id = $w AND position > %s ORDER BY position""",
        before,
    )
    assert [one for one, *_ in found] == types
    who = ("user", str(some.admin.principal_id))
    assert all((kind, name) == who for _, kind, name in found) is person
