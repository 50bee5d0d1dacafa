"""What a person sets going is an entry that names them, whatever else it leaves."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.everything import Everything, open_everything
from tests.support.platform import platform_of

from cairn.accounts.keys import CreateKey, RevokeKey
from cairn.adapters.postgres.ledger.whole import export_ledger
from cairn.kernel.access import Role
from cairn.kernel.clock import monotonic
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
    platform = platform_of(of.transactions, dispatcher=of.sent, stopwatch=monotonic)
    Reindex(platform=platform, model=of.embedder.model)(of.admin)


def keys_made(of: Everything) -> None:
    platform = platform_of(of.transactions)
    made = CreateKey(platform=platform)(of.admin, NewKey(name="one", role=Role.AGENT))
    RevokeKey(platform=platform)(of.admin, made.key.id)


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
