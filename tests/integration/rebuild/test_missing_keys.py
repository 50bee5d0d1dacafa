"""A key that is gone is no forgetting: nothing is rebuilt without it, and it may come back."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rebuild.test_rebuilding import head, left_over, sums
from tests.support.everything import Everything, open_everything
from tests.support.remembering import fact

from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.ledger.whole import verify_ledgers
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.ledger.keys import KeyMissing
from cairn.reading.browse import Browse
from cairn.rebuild.missing_keys import VerifyWithKeys
from cairn.rebuild.rebuild import KeysMissing
from cairn.rebuild.restore import RecomputeByReplay
from cairn.writing.items import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from uuid import UUID

    from tests.plugins.postgres import Database


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.db"


@pytest.fixture
def some(database: Database, file: Path) -> Iterator[Everything]:
    everything = open_everything(database, keys=FileKeyStore(file))
    everything.remember()
    everything.embed(one_by_one=True)
    yield everything
    everything.pool.close()


def lose(file: Path, subject: UUID) -> None:
    """Remove one row, as an accident or an intruder would; nothing says that it was destroyed."""
    with closing(sqlite3.connect(file)) as connection, connection:
        gone = connection.execute("DELETE FROM subject_key WHERE subject_id = ?", [subject.bytes])
        assert gone.rowcount == 1


def subjects(of: Everything) -> dict[str, UUID]:
    """Everybody who has a key: clients and persons by name, and the workspace itself."""
    found = of.rows("SELECT natural_key, id FROM data_subject WHERE workspace_id = $w")
    return dict(found) | {"": of.workspace_id}


def verified(of: Everything) -> Any:
    transactions = StoreTransactions(of.pool)
    browse = Browse(transactions=transactions)
    return VerifyWithKeys(verify=browse.verify_ledger, transactions=transactions, keys=of.keys)(
        of.admin
    )


@pytest.mark.parametrize("name", ["ana", "acme", ""], ids=["person", "client", "workspace"])
def test_without_a_key_nothing_is_rebuilt_and_all_is_as_before_once_it_is_back(
    some: Everything, file: Path, name: str
) -> None:
    before, at, subject = sums(some), head(some), subjects(some)[name]
    older = file.with_name("older.db")
    shutil.copy(file, older)
    lose(file, subject)
    for check in (True, False):
        with pytest.raises(KeysMissing) as refused:
            some.rebuild(some.workspace_id, only_check=check)
        assert refused.value.fields["subject_ids"] == [str(subject)]
        assert (sums(some), head(some), left_over(some)) == (before, at, {})
    assert not RecomputeByReplay(rebuild=some.rebuild)(some.workspace_id, seconds=60)
    shutil.copy(older, file)
    done = some.rebuild(some.workspace_id)
    assert (done.equal, done.unreadable, sums(some)) == (True, 0, before)


def test_a_replay_that_met_the_gap_is_not_gone_on_with_once_the_key_is_back(
    some: Everything, file: Path
) -> None:
    before, older = sums(some), file.with_name("older.db")
    shutil.copy(file, older)
    lose(file, subjects(some)["ana"])
    some.rebuild.advance(some.workspace_id, seconds=60)
    shutil.copy(older, file)
    with pytest.raises(KeysMissing):
        some.rebuild.finish(some.workspace_id)
    assert some.rebuild(some.workspace_id).equal
    assert sums(some) == before


def test_verification_names_whose_key_is_gone(some: Everything, file: Path) -> None:
    assert verified(some).ok
    ana = subjects(some)["ana"]
    lose(file, ana)
    for found in (verified(some), *verify_ledgers(some.database.owner_url, keys=some.keys)):
        if found.workspace_id != some.workspace_id:
            continue
        assert not found.ok
        assert found.first_bad_position is None
        [missing] = found.missing_keys
        assert (missing.subject_id, missing.destroyed) == (ana, False)
        [(first, entries)] = some.rows(
            """SELECT min(position), count(*) FROM ledger
                WHERE workspace_id = $w AND %s = ANY (data_subjects)""",
            ana,
        )
        assert (missing.first_position, missing.entries) == (first, entries)


def test_a_key_destroyed_without_a_forgetting_is_missing_too(some: Everything) -> None:
    ana = subjects(some)["ana"]
    some.keys.destroy(some.workspace_id, ana)
    [missing] = verified(some).missing_keys
    assert (missing.subject_id, missing.destroyed) == (ana, True)
    with pytest.raises(KeysMissing):
        some.rebuild(some.workspace_id)


def test_who_was_forgotten_misses_no_key(some: Everything) -> None:
    some.forgotten("ana")
    assert verified(some).ok
    assert some.rebuild(some.workspace_id).unreadable > 0


def test_nothing_is_sealed_under_a_second_key_of_somebody_whose_key_is_gone(
    some: Everything, file: Path
) -> None:
    """Else the first one, when it comes back, would take the place of what was written since."""
    lose(file, subjects(some)["ana"])
    with pytest.raises(KeyMissing) as refused:
        some.system.tell(fact("Ana keeps bees.", data_subjects=("ana",)))
    assert refused.value.reason == "key-missing"
    [told] = some.system.tell(fact("Somebody else keeps bees.", data_subjects=("bob",)))
    assert told.outcome is Outcome.CREATED
