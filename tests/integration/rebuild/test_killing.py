"""A rebuild that is killed: the rows in use are as before or as after, and the next one goes on."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.plugins.waiting import eventually
from tests.support.everything import Everything, open_everything
from tests.support.remembering import fact

from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.ledger.replay import PostgresReplays

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

ROOT = Path(__file__).parents[3]
KILLS = 6
CHILD = """
import sys
from pathlib import Path
from uuid import UUID
from tests.support.platform import platform_of
from cairn.rebuild import rebuild
from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.database import Database
from cairn.adapters.postgres.ledger.replay import PostgresReplays

url, keys, workspace = sys.argv[1:]
rebuild.PAGE, rebuild.LAST_ENTRIES = 20, 100
use = rebuild.Rebuild(
    replays=PostgresReplays(Database(url)),
    platform=platform_of(None, keys=FileKeyStore(Path(keys))),
)
print("begun", flush=True)
use(UUID(workspace))
"""


@pytest.fixture
def damaged(database: "Database", tmp_path: Path) -> Everything:
    everything = open_everything(database)
    filled = Everything(
        database=database,
        workspace_id=everything.workspace_id,
        pool=everything.pool,
        keys=FileKeyStore(tmp_path / "keys"),
    )
    filled.remember()
    for start in range(0, 600, 100):
        filled.system.tell(*(fact(f"Note {n} of the harbour.") for n in range(start, start + 100)))
    filled.embed()
    return filled


def sums(of: Everything) -> dict[str, Any]:
    with PostgresReplays(of.pool).comparing(of.admin) as stores:
        return dict(stores.replica.live_checksums())


def reached(of: Everything) -> int:
    row = of.rows("SELECT position FROM replay.progress WHERE workspace_id = $w")
    return row[0][0] if row else 0


def moved(of: Everything, before: int, child: subprocess.Popen[bytes]) -> bool:
    return child.poll() is not None or reached(of) != before


def test_killed_at_any_point_it_leaves_the_old_rows_or_the_new_and_goes_on(
    damaged: Everything, tmp_path: Path
) -> None:
    good = sums(damaged)
    damaged.rows("UPDATE node SET text = text || '!' WHERE workspace_id = $w")
    damaged.rows("DELETE FROM edge WHERE workspace_id = $w")
    bad = sums(damaged)
    command = [sys.executable, "-c", CHILD, damaged.database.app_url, str(tmp_path / "keys")]
    far: list[int] = []
    for _ in range(KILLS):
        before = reached(damaged)
        with subprocess.Popen(
            [*command, str(damaged.workspace_id)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        ) as child:
            assert child.stdout is not None
            child.stdout.readline()
            eventually(partial(moved, damaged, before, child), seconds=60, what="a page")
            child.send_signal(signal.SIGKILL)
        assert sums(damaged) in (bad, good)
        far.append(reached(damaged))
    done = subprocess.run(
        [*command, str(damaged.workspace_id)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    assert done.returncode == 0
    assert sums(damaged) == good
    assert any(far), "no kill came while it was replaying"
    damaged.pool.close()
