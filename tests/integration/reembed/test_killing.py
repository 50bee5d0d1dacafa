"""A fill killed at any point and repeated ends where one that was never killed does."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.everything import MODEL, Everything, open_everything
from tests.support.reembedding import TARGET, filling, vectors
from tests.support.remembering import fact

from cairn.adapters.files.keys import FileKeyStore

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

ROOT = Path(__file__).parents[3]
KILLS = 4
CHILD = """
import sys
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID
from tests.support.reembedding import filling
from cairn.reembedding import reembed
from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.database import Database

url, keys, workspace = sys.argv[1:]
reembed.BATCH = 10
fill = filling(SimpleNamespace(pool=Database(url), keys=FileKeyStore(Path(keys))))
print("begun", flush=True)
fill(UUID(workspace))
"""


def test_killed_at_any_point_and_repeated_it_ends_where_one_never_killed_does(
    database: "Database", tmp_path: Path
) -> None:
    opened = open_everything(database)
    of = Everything(
        database=database,
        workspace_id=opened.workspace_id,
        pool=opened.pool,
        keys=FileKeyStore(tmp_path / "keys"),
    )
    for start in range(0, 300, 100):
        of.system.tell(*(fact(f"Note {n} of the harbour.") for n in range(start, start + 100)))
    of.embed()
    command = [sys.executable, "-c", CHILD, database.app_url, str(tmp_path / "keys")]
    far: list[int] = []
    for _ in range(KILLS):
        before = len(vectors(of, TARGET))
        with subprocess.Popen(
            [*command, str(of.workspace_id)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        ) as child:
            assert child.stdout is not None
            child.stdout.readline()
            until = time.monotonic() + 60
            while len(vectors(of, TARGET)) == before and time.monotonic() < until:
                time.sleep(0.01)
            child.send_signal(signal.SIGKILL)
        there = vectors(of, TARGET)
        assert len(there) % 10 == 0
        far.append(len(there))
    assert far == sorted(set(far))
    assert 0 < far[0] < far[-1]
    assert far[-1] < 300

    told = filling(of)(of.workspace_id)
    assert (told.left, told.nodes) == (0, 300 - far[-1])
    assert vectors(of, TARGET) == vectors(of, MODEL)
    done = of.rebuild(of.workspace_id)
    assert (done.equal, done.queued) == (True, 0)
    of.pool.close()
