"""A consolidation killed (SIGKILL) anywhere, run again, leaves the rows of one that was not."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.consolidate_and_die import POINTS, stand_in
from tests.support.consolidating import Consolidating
from tests.support.embedding import HASHING
from tests.support.platform import on_other
from tests.support.remembering import fact

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.ledger.verify import verify

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

ROOT = Path(__file__).parents[3]
NODES = """
SELECT id, text, kind, state, consolidated, knowledge_category, client_id, superseded_by,
  metadata::text
  FROM node WHERE workspace_id = %s AND label = 'Memory'
"""
EDGES = """
SELECT view, relation, source_id, target_id, weight, properties::text FROM edge
 WHERE workspace_id = %s AND superseded_at IS NULL
"""


@pytest.fixture(scope="module")
def model(database: "Database") -> None:
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)
               ON CONFLICT DO NOTHING""",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )


@pytest.fixture(scope="module")
def pool(database: "Database", model: None) -> Iterator[Pool]:
    opened = Pool(database.app_url, size=2)
    yield opened
    opened.close()


def told(database: "Database", pool: Pool, folder: Path, **given: Any) -> Consolidating:
    """A workspace of two batches, duplicates and contradictions among them; ids as everywhere."""
    workspace_id, _ = create_workspace(
        database.owner_url, f"kill-{new_id()}", clock=utc_now, new_id=new_id
    )
    world = stand_in(folder, pool, workspace_id, **given)
    ids = (UUID(int=(1 << 120) + (n << 80) + (7 << 76) + (2 << 62)) for n in count(1))
    world.system.remember = on_other(world.system.remember, new_id=lambda: next(ids))
    memories = [  # words of their own, so that nothing is equally near to two others
        text
        for n in range(24)
        for text in (
            f"Depot{n} in Town{n} stores {n + 5} pallets{n} of pipe{n} for firm{n}.",
            f"Depot{n} in Town{n} stores {n + 5} pallets{n} of pipe{n} for firm{n}",
            f"Depot{n} in Town{n} stores {n + 6} pallets{n} of pipe{n} for firm{n}.",
            f"Invoice{n} by Clerk{n} went to house{n} on road{n} last.",
        )
    ]
    world.tell(*(fact(memory, client_id="acme") for memory in memories))
    return world


def rows(database: "Database", world: Consolidating) -> tuple[Counter[Any], Counter[Any]]:
    """Nodes and edges without times and positions."""
    with database.connect_as_superuser() as root:
        nodes = Counter(root.execute(NODES, [world.workspace_id]).fetchall())
        return nodes, Counter(root.execute(EDGES, [world.workspace_id]).fetchall())


def consolidate_and_die(database: "Database", workspace_id: UUID, folder: Path, point: str) -> None:
    given = [database.app_url, str(workspace_id), str(folder), point]
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.consolidate_and_die", *given],
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
) -> tuple[dict[str, Any], tuple[Counter[Any], Counter[Any]]]:
    """What a run that nobody killed counted and left."""
    world = told(database, pool, tmp_path_factory.mktemp("keys"))
    return world.run(), rows(database, world)


@pytest.mark.parametrize("point", POINTS)
def test_a_run_killed_anywhere_goes_on_to_the_same_rows(
    database: "Database",
    pool: Pool,
    tmp_path: Path,
    unkilled: tuple[dict[str, Any], tuple[Counter[Any], Counter[Any]]],
    point: str,
) -> None:
    whole, left = unkilled
    world = told(database, pool, tmp_path)
    consolidate_and_die(database, world.workspace_id, tmp_path, point)
    resumed = world.run()

    assert rows(database, world) == left
    assert whole["merged"] > 10
    assert whole["flagged"] > 10
    if point == "between apply and finish":
        assert resumed == {}  # nothing was left but to say so
    runs = world.browse.page(world.system.principal, before=None, limit=10)
    done = Counter[str]()
    for run in runs:
        done.update({name: n for name, n in run.counts.items() if name in ("memories", "merged")})
    assert (done["memories"], done["merged"]) == (whole["memories"], whole["merged"])
    entries = world.entries()
    with world.system.transactions.reading(world.system.principal) as stores:
        head = stores.ledger.head()
    assert verify(entries, workspace_id=world.workspace_id, expected=head).ok


def test_a_second_run_finds_nothing_to_do(database: "Database", pool: Pool, tmp_path: Path) -> None:
    world = told(database, pool, tmp_path)
    world.run()
    before, end = rows(database, world), world.position()
    assert world.run() == {}
    assert rows(database, world) == before
    assert world.position() == end
