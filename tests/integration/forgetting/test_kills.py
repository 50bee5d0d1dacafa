"""A forgetting killed (SIGKILL) between any two steps is finished by asking for it again."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.support.forget_and_die import POINTS, stand_in
from tests.support.forgetting import CANARY, SigningKey, Stand

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import new_id
from cairn.ledger.keys import SubjectForgotten
from cairn.ledger.verify import verify

if TYPE_CHECKING:
    from uuid import UUID

    from tests.plugins.postgres import Database

ROOT = Path(__file__).parents[3]


@pytest.fixture
def stand(database: "Database", tmp_path: Path) -> Iterator[Stand]:
    workspace_id, _ = create_workspace(
        database.owner_url, f"kill-{new_id()}", clock=utc_now, new_id=new_id
    )
    pool = Pool(database.app_url, size=2)
    yield stand_in(tmp_path, pool, workspace_id, SigningKey())
    pool.close()


def forget_and_die(database: "Database", stand: Stand, folder: Path, point: str) -> None:
    secret = stand.signing.private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    given = [database.app_url, str(stand.workspace_id), str(folder), secret.hex(), point]
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.forget_and_die", *given],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'shared'}"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


@pytest.mark.parametrize("point", POINTS)
def test_asking_again_finishes_what_was_killed(
    database: "Database", stand: Stand, tmp_path: Path, point: str
) -> None:
    stand.tell(f"{CANARY} is here")
    stand.tell("somebody else", client="other")
    forget_and_die(database, stand, tmp_path, point)

    if point != "before the tombstone":
        assert stand.tombstones.versions("tombstones/")
    with pytest.raises((SubjectForgotten, NotFound)):
        stand.tell("said meanwhile")

    done = stand.forgets()
    assert (done.forgetting.status, done.already) == ("done", False)
    assert stand.proof(done).clean
    assert stand.keys.get(stand.workspace_id, [done.forgetting.subject_id]) == {}
    with stand.forget_stores.reading(stand.principal) as stores:
        entries = stores.ledger.page(after=0, limit=1000)
        head = stores.ledger.head()
    assert [entry.type for entry in entries].count("subject.forgotten") == 1
    assert verify(entries, workspace_id=stand.workspace_id, expected=head).ok
    assert stand.forgets().already


def test_a_sweep_finishes_what_nobody_asks_for_again(
    database: "Database", stand: Stand, tmp_path: Path
) -> None:
    stand.tell(f"{CANARY} is here")
    forget_and_die(database, stand, tmp_path, "after the key")
    assert stand.forget.unfinished(stand.workspace_id) == 1
    assert stand.forget.unfinished(stand.workspace_id) == 0
    assert stand.forgets().already


def test_once_it_is_done_the_name_is_somebody_new(stand: Stand) -> None:
    stand.tell("one")
    first: UUID = stand.forgets().forgetting.subject_id
    stand.tell("back again")
    assert stand.forgets().forgetting.subject_id != first
