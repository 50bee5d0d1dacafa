"""What keeps memory by itself writes entries too: the rebuild makes the same of them."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.support.consolidating import Consolidating, ticking
from tests.support.everything import Everything, open_everything
from tests.support.remembering import NOON, Remembering, fact
from tests.support.tainting import Tainting

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.bootstrap.consolidate import summarise_workspace
from cairn.memories.kinds import MemoryKind

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture
def kept(database: "Database") -> Iterator[Everything]:
    everything = open_everything(database)
    everything.fill()
    yield everything
    everything.pool.close()


def unequal(of: Everything) -> list[str]:
    done = of.rebuild(of.workspace_id, only_check=True)
    return [name for name in done.before if done.before[name] != done.after[name]]


def types(of: Everything) -> set[str]:
    return {name for (name,) in of.rows("SELECT DISTINCT type FROM ledger WHERE workspace_id = $w")}


def consolidate(kept: Everything) -> None:
    system = Remembering(
        transactions=StoreTransactions(kept.pool),
        principal=kept.admin,
        keys=kept.keys,
        sent=kept.sent,
    )
    use = Consolidating(system, embedder=kept.embedder, clock=ticking(NOON + timedelta(days=9)))
    system.tell(
        fact("The harbour is closed to ships on Sundays in winter."),
        fact("In winter the harbour is closed to ships on Sundays."),
        fact("The lift in house A has 4 doors."),
        fact("The lift in house A has 5 doors."),
    )
    kept.embed()
    use.run()


def test_a_consolidation_is_replayed_the_same(kept: Everything) -> None:
    consolidate(kept)
    assert "consolidation.applied" in types(kept)
    assert unequal(kept) == []
    kept.embed()
    assert unequal(kept) == []


def test_summaries_are_replayed_the_same(kept: Everything) -> None:
    for number in range(12):
        said = {"type": MemoryKind.EVENT, "session_id": "long", "sequence": number}
        kept.system.tell(fact(f"Message {number} about the harbour and Redis.", **said))
    kept.embed()
    use = summarise_workspace(kept.system.remember.platform, models=None)
    use(kept.workspace_id, seconds=60.0)
    assert types(kept) & {"summary.written", "truth.compiled", "node.compiled"}
    assert unequal(kept) == []
    kept.embed()
    assert unequal(kept) == []


def test_taints_are_replayed_the_same_lifted_and_not(kept: Everything) -> None:
    use = Tainting(kept.system)
    first = use.taint_id("agent", "scout")
    assert unequal(kept) == []
    kept.system.tell(fact("Scout says one more thing.", source_agent="scout"))
    assert unequal(kept) == []
    use.lift(first)
    use.taint_id("session", "talk")
    assert {"taint.applied", "taint.lifted"} <= types(kept)
    assert unequal(kept) == []
