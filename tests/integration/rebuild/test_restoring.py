"""The restore drill: an export of a ledger, put into a new database, gives the same workspace."""

# pyright: basic

import json
import secrets
import tracemalloc
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from psycopg import sql
from tests.plugins.postgres import Database
from tests.support.everything import BARRED, Everything, open_everything
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Sent

from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.adapters.postgres.ledger.whole import export_ledger, import_ledger, verify_ledgers
from cairn.forgetting.tombstones import TombstonesApplied
from cairn.kernel.errors import Conflict
from cairn.ledger.importing import Export, ImportRefused
from cairn.rebuild.rebuild import KeysMissing, Rebuild
from cairn.rebuild.restore import Restore, Restored

if TYPE_CHECKING:
    from uuid import UUID

    from tests.plugins.postgres import Server

    from cairn.ledger.keys import KeyStore


@pytest.fixture(scope="module")
def full(database: "Database") -> Iterator[Everything]:
    everything = open_everything(database)
    everything.fill()
    yield everything
    everything.pool.close()


@pytest.fixture(scope="module")
def lines(full: Everything) -> list[str]:
    return list(export_ledger(full.database.owner_url, full.workspace_id))


@pytest.fixture
def empty(postgres_cluster: "Server", template_database: str) -> Iterator[Database]:
    """A new account: a migrated database with nothing in it."""
    from infra.local.postgres import create_database, drop_database

    name = f"test_{secrets.token_hex(6)}"
    with postgres_cluster.cluster.connect() as connection:
        create_database(connection, name, template=template_database)
    yield Database(
        name=name,
        owner_url=postgres_cluster.owner_url(name),
        app_url=postgres_cluster.app_url(name),
        server=postgres_cluster,
    )
    with postgres_cluster.cluster.connect() as connection:
        drop_database(connection, name)


def restore(
    into: Database,
    lines: list[str],
    keys: "KeyStore",
    followed: "list[UUID] | None" = None,
    forgotten: "UUID | None" = None,
) -> Restored:
    pool = Pool(into.app_url, size=2)

    def follow(workspace_id: "UUID") -> TombstonesApplied:
        """Only what was imported may be there when tombstones are followed."""
        assert count(into, "node") == 0
        assert count(into, "ledger") > 0
        if followed is not None:
            followed.append(workspace_id)
        if forgotten is not None:  # who follows a tombstone keeps a forgetting
            with into.connect_as_superuser() as root:
                barred = BARRED.replace("$w", f"'{workspace_id}'").encode()
                root.execute(barred, [forgotten])
        return TombstonesApplied(
            workspace_id=workspace_id, subjects=0, keys_destroyed=0, nodes_purged=0, refused=()
        )

    try:
        return Restore(
            write=lambda export: import_ledger(into.owner_url, export, name="back", now=NOON),
            tombstones=follow,
            rebuild=Rebuild(
                platform=platform_of(None, keys=keys, dispatcher=Sent()),
                replays=PostgresReplays(pool),
            ),
        )(Export(lines))
    finally:
        pool.close()


def count(of: Database, table: str) -> int:
    with of.connect_as_superuser() as root:
        query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
        row = root.execute(query).fetchone()
    assert row is not None
    return row[0]


def test_a_restored_workspace_has_the_same_checksums_and_the_same_chain(
    full: Everything, lines: list[str], empty: Database
) -> None:
    before = full.rebuild(full.workspace_id, only_check=True)
    assert before.equal
    followed: list[UUID] = []
    done = restore(empty, lines, full.keys, followed)
    assert done.entries == len(lines) - 1
    assert followed == [full.workspace_id]
    unequal = {name for name in before.after if before.after[name] != done.rebuilt.after[name]}
    assert unequal == {"embedding"}  # the cache is no part of an export
    assert done.rebuilt.queued == before.after["embedding"].rows - windows_more(full)
    again = list(export_ledger(empty.owner_url, full.workspace_id))
    assert again[1 : len(lines)] == lines[1:]
    assert all(ledger.ok for ledger in verify_ledgers(empty.owner_url))


def windows_more(full: Everything) -> int:
    """How many rows of vectors are not the first of their node, or of nodes nobody finds."""
    [(more,)] = full.rows(
        """SELECT count(*) FROM embedding WHERE workspace_id = $w
            AND (ordinal > 0 OR state NOT IN ('active', 'provisional', 'superseded'))"""
    )
    return more


@pytest.mark.parametrize("number", [2, 7, 30, -1])
def test_one_byte_changed_is_refused_at_its_line_and_nothing_is_left(
    full: Everything, lines: list[str], empty: Database, number: int
) -> None:
    number = number if number > 0 else len(lines)
    fields = json.loads(lines[number - 1])
    at = len(fields["body"]) // 2 if fields["body"] else 0
    name = "body" if fields["body"] else "meta"
    text = fields[name]
    fields[name] = text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]
    damaged = [*lines]
    damaged[number - 1] = json.dumps(fields) + "\n"
    with pytest.raises(ImportRefused) as refused:
        restore(empty, damaged, full.keys)
    assert refused.value.line == number
    assert [count(empty, table) for table in ("workspace", "ledger", "node")] == [0, 0, 0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: lines[:-1], "head-mismatch"),
        (lambda lines: [*lines[:5], *lines[6:]], "gap"),
        (lambda lines: [*lines[:5], lines[6], lines[5], *lines[7:]], "gap"),
        (lambda lines: [*lines[:5], "half a li", *lines[6:]], "malformed"),
        (lambda lines: [*lines[:5], "[]", *lines[6:]], "malformed"),
        (lambda lines: [*lines, lines[-1]], "gap"),
        (lambda lines: lines[1:], "not-an-export"),
        (lambda lines: [], "not-an-export"),
        (lambda lines: [lines[0]], "head-mismatch"),
    ],
)
def test_what_is_no_whole_export_is_refused(
    full: Everything, lines: list[str], empty: Database, change: "object", reason: str
) -> None:
    assert callable(change)
    with pytest.raises(ImportRefused) as refused:
        restore(empty, change(lines), full.keys)  # pyright: ignore
    assert refused.value.reason == reason
    assert count(empty, "workspace") == 0


def test_a_workspace_that_has_begun_is_not_written_over(full: Everything, lines: list[str]) -> None:
    entries = count(full.database, "ledger")
    with pytest.raises(Conflict) as refused:
        import_ledger(full.database.owner_url, Export(lines), name="x", now=NOON)
    assert refused.value.reason == "workspace-not-empty"
    assert count(full.database, "ledger") == entries


def test_a_person_forgotten_since_the_export_does_not_come_back(
    full: Everything, lines: list[str], empty: Database
) -> None:
    """The key store is the account's own: what was destroyed there stays so."""
    [(ana,)] = full.rows(
        "SELECT id FROM data_subject WHERE workspace_id = $w AND natural_key = 'ana'"
    )
    full.keys.destroy(full.workspace_id, ana)
    done = restore(empty, lines, full.keys, forgotten=ana)
    assert done.rebuilt.unreadable > 0
    with empty.connect_as_superuser() as root:
        found = root.execute(
            "SELECT count(*) FROM node WHERE %s = ANY (data_subjects) OR text LIKE '%%Ana said%%'",
            [ana],
        ).fetchone()
    assert found == (0,)


def test_a_restore_beside_keys_that_lack_one_is_refused_unless_a_tombstone_says_why(
    full: Everything, lines: list[str], empty: Database
) -> None:
    """Somebody whose key is gone and who was never forgotten would come back without a memory."""
    [(ana,)] = full.rows(
        "SELECT id FROM data_subject WHERE workspace_id = $w AND natural_key = 'ana'"
    )
    full.keys.destroy(full.workspace_id, ana)
    with pytest.raises(KeysMissing) as refused:
        restore(empty, lines, full.keys)
    assert refused.value.fields["subject_ids"] == [str(ana)]
    assert count(empty, "node") == 0


def test_reading_an_export_takes_no_memory_of_its_length(lines: list[str]) -> None:
    tracemalloc.start()
    for _ in Export(iter(lines)).entries():
        pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2_000_000
