"""Tombstones bring a forgetting back after a restore; forged ones are refused and told."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.support.forgetting import CANARY, SigningKey, Stand, open_stand

from cairn.adapters.postgres.database import Database as Pool
from cairn.forgetting.forget import Target
from cairn.forgetting.tombstones import ApplyTombstones
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.ledger.tombstones import Tombstone, new_tombstone, tombstone_key

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture
def pool(database: "Database") -> Iterator[Pool]:
    pool = Pool(database.app_url, size=4)
    yield pool
    pool.close()


@pytest.fixture
def stand(database: "Database", pool: Pool) -> Stand:
    return open_stand(database, pool)


def applying(stand: Stand) -> ApplyTombstones:
    return ApplyTombstones(
        store=stand.tombstones, verifier=stand.signing, keys=stand.keys, forget=stand.forget
    )


def tombstone_of(stand: Stand) -> Tombstone:
    """A tombstone of the client, as if the database and the keys were of an older backup."""
    plan = stand.forget.plan(stand.principal, Target(owner=("client", "acme")))
    assert plan.subject_id is not None
    return Tombstone(
        workspace_id=stand.workspace_id,
        subject_id=plan.subject_id,
        kind="client",
        position=1,
        forgotten_at=utc_now(),
    )


def keep(stand: Stand, tombstone: Tombstone, content: bytes) -> None:
    key = tombstone_key(tombstone.workspace_id, tombstone.subject_id)
    stand.tombstones.put(key, content)


def test_a_restored_key_is_destroyed_again_and_its_rows_are_purged(stand: Stand) -> None:
    stand.tell(f"{CANARY} is back")
    stand.embed()
    tombstone = tombstone_of(stand)
    keep(stand, tombstone, new_tombstone(stand.signing, tombstone))
    applied = applying(stand)(stand.workspace_id)
    assert (applied.subjects, applied.keys_destroyed, applied.nodes_purged) == (1, 1, 1)
    assert applied.ok
    done = stand.forget(stand.principal, Target(subject_id=tombstone.subject_id), "request")  # type: ignore[arg-type]
    assert done.already
    assert stand.proof(done).clean
    again = applying(stand)(stand.workspace_id)
    assert (again.subjects, again.keys_destroyed, again.nodes_purged) == (1, 0, 0)


def test_a_key_from_an_old_key_file_alone_is_destroyed_again(stand: Stand) -> None:
    stand.tell("one")
    done = stand.forgets().forgetting
    stand.keys._keys[stand.workspace_id, done.subject_id] = b"k" * 32  # the restored backup
    applied = applying(stand)(stand.workspace_id)
    assert (applied.keys_destroyed, applied.nodes_purged) == (1, 0)
    assert stand.keys.get(stand.workspace_id, [done.subject_id]) == {}


def forged(stand: Stand, good: Tombstone, how: str) -> bytes:
    if how == "not-authentic":
        return new_tombstone(SigningKey(), good)
    if how == "foreign":
        return new_tombstone(stand.signing, replace(good, workspace_id=new_id()))
    if how == "other-subject":
        return new_tombstone(stand.signing, replace(good, subject_id=new_id()))
    return b'{"format":"cairn-tombstone-1"'


@pytest.mark.parametrize("how", ["not-authentic", "foreign", "other-subject", "malformed"])
def test_a_forged_tombstone_is_refused_and_told(stand: Stand, how: str) -> None:
    node = stand.tell("one")
    good = tombstone_of(stand)
    keep(stand, good, forged(stand, good, how))
    applied = applying(stand)(stand.workspace_id)
    assert (applied.subjects, applied.keys_destroyed, applied.nodes_purged) == (0, 0, 0)
    assert [item.reason for item in applied.refused] == [how]
    assert not applied.ok
    with stand.forget_stores.writing(stand.principal) as stores:
        assert node in stores.graph_nodes.find([node])
    assert stand.keys.get(stand.workspace_id, [good.subject_id])


def test_a_changed_byte_is_refused(stand: Stand) -> None:
    stand.tell("one")
    good = tombstone_of(stand)
    content = new_tombstone(stand.signing, good).replace(b'"position":1', b'"position":2')
    keep(stand, good, content)
    assert [item.reason for item in applying(stand)(stand.workspace_id).refused] == [
        "not-authentic"
    ]


def test_a_later_version_does_not_hide_a_tombstone(stand: Stand) -> None:
    stand.tell("one")
    good = tombstone_of(stand)
    keep(stand, good, new_tombstone(stand.signing, good))
    keep(stand, good, b"{}")
    applied = applying(stand)(stand.workspace_id)
    assert (applied.subjects, applied.nodes_purged, len(applied.refused)) == (1, 1, 1)


def test_tombstones_have_no_names(stand: Stand) -> None:
    stand.tell(f"{CANARY} is here", client=CANARY)
    stand.forgets(CANARY)
    ((_, content),) = stand.tombstones.held
    assert CANARY.encode() not in content
