"""A run killed (SIGKILL) before or after any of its commits, run again, leaves the same rows."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.remembering import fact
from tests.support.summarise_and_die import stand_in
from tests.support.summarising import Summarising

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.ledger.verify import verify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.postgres import Database

ROOT = Path(__file__).parents[3]
NODES = """
SELECT kind, text, state, importance, occurred_at, observed_by, metadata - 'covers' - 'made_of'
  FROM node WHERE workspace_id = %s AND label = 'Summary' ORDER BY kind, occurred_at, text
"""
EDGES = """
SELECT e.view, e.relation, s.kind, s.text, t.label, t.text FROM edge e
  JOIN node s ON s.workspace_id = e.workspace_id AND s.id = e.source_id
  JOIN node t ON t.workspace_id = e.workspace_id AND t.id = e.target_id
 WHERE e.workspace_id = %s AND e.superseded_at IS NULL
   AND e.relation IN ('SUMMARIZES', 'DERIVED_FROM')
 ORDER BY 1, 2, 3, 4, 5, 6
"""


@pytest.fixture(scope="module")
def pool(database: "Database") -> "Iterator[Pool]":
    opened = Pool(database.app_url, size=2)
    yield opened
    opened.close()


def told(database: "Database", pool: Pool, keys: Path) -> Summarising:
    """Two sessions of fifteen episodes each, and an entity with facts."""
    name = f"kill-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    world = stand_in(pool, workspace_id, keys)
    for late, session in enumerate(("one", "two")):
        for part in range(15):
            texts = (f"Pump {part} of line {session} failed.", f"Seal {part} was worn.", "Mended.")
            world.say(*texts, session=session, at=100 * part + 5 * late)
    entity = world.graph.entity("Pump", "resource")
    for n in (2, 3):
        outcome = world.system.tell_one(fact(f"Pump has {n} seals in hall {n}."))
        assert outcome.id is not None
        world.graph.relate(outcome.id, "REFERENCES", entity)
    return world


def rows(database: "Database", world: Summarising) -> tuple[list[Any], list[Any]]:
    asked = [world.system.principal.workspace_id]
    with database.connect_as_superuser() as root:
        return root.execute(NODES, asked).fetchall(), root.execute(EDGES, asked).fetchall()


def summarise_and_die(
    database: "Database", world: Summarising, keys: Path, moment: str, writes: int
) -> None:
    workspace_id = str(world.system.principal.workspace_id)
    given = [database.app_url, workspace_id, str(keys), moment, str(writes)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.summarise_and_die", *given],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'shared'}"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


@pytest.fixture(scope="module")
def unkilled(
    database: "Database", pool: Pool, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[Any], list[Any]]:
    world = told(database, pool, tmp_path_factory.mktemp("keys") / "keys.json")
    counts = world.run()
    assert counts == {"episodes": 30, "sessions": 2, "agents": 1, "truths": 1}
    return rows(database, world)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("writes", [1, 2, 3, 4, 5])
def test_a_run_killed_anywhere_goes_on_to_the_same_rows(
    database: "Database",
    pool: Pool,
    tmp_path: Path,
    unkilled: tuple[list[Any], list[Any]],
    moment: str,
    writes: int,
) -> None:
    keys = tmp_path / "keys.json"
    world = told(database, pool, keys)
    summarise_and_die(database, world, keys, moment, writes)
    world.run()
    assert rows(database, world) == unkilled
    assert set(world.run()) == {"unchanged"}
    with world.system.transactions.reading(world.system.principal) as stores:
        head, entries = stores.ledger.head(), stores.ledger.page(after=0, limit=10_000)
    workspace_id = world.system.principal.workspace_id
    assert verify(entries, workspace_id=workspace_id, expected=head).ok
