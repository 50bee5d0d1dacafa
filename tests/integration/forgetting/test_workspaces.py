"""A workspace is deleted from every store, by its owner: all of it, nothing else, and provably."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage.test_tenancy import plant
from tests.support.everything import Everything, open_everything
from tests.support.forgetting import ErasableObjects, SigningKey, Tombstones
from tests.support.platform import platform_of

from cairn.accounts.keys import CreateKey
from cairn.adapters.postgres.accounts import Admit, create_workspace, list_workspaces
from cairn.adapters.postgres.ledger.deleting import KEPT, PostgresWorkspaceRows
from cairn.adapters.postgres.ledger.whole import verify_ledgers
from cairn.adapters.postgres.sweeping import ListChains, ListWorkspaces
from cairn.forgetting.workspaces import FORMAT, DeleteWorkspace
from cairn.kernel.access import Role
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict, NotFound, Unauthenticated, Unavailable
from cairn.kernel.ids import new_id
from cairn.ledger.keys import SubjectForgotten
from cairn.ledger.signing import is_signed, read_statement
from cairn.reading.views import NewKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.postgres import Database


@pytest.fixture
def ours(database: Database) -> Iterator[Everything]:
    made = filled(database, "ours")
    yield made
    made.pool.close()


def filled(database: Database, name: str) -> Everything:
    """A workspace with a row in every table, some of them put there by no use case."""
    made = open_everything(database, f"{name} {new_id()}")
    made.remember()
    with database.connect_as_superuser() as root:
        plant(root, made.workspace_id)
    return made


def deletion(database: Database, made: Everything) -> DeleteWorkspace:
    objects = ErasableObjects()
    for prefix in ("ingestions", "uploads"):
        for workspace_id in (made.workspace_id, new_id()):
            objects.held[f"{prefix}/{workspace_id}/1"] = b"bytes"

    def left(prefix: str) -> int:
        return sum(key.startswith(prefix) for key in objects.held)

    return DeleteWorkspace(
        rows=PostgresWorkspaceRows(database.owner_url),
        keys=made.keys,
        signer=SigningKey(),
        tombstones=Tombstones(),
        objects=objects,
        count_objects=left,
        index=None,
        clock=utc_now,
    )


def name_of(delete: DeleteWorkspace, made: Everything) -> str:
    return delete.find(made.workspace_id).name


def rows_of(delete: DeleteWorkspace, made: Everything) -> dict[str, int]:
    return {place.place: place.items for place in delete.rows.look(made.workspace_id)}


def admin_key(made: Everything) -> str:
    create = CreateKey(platform=platform_of(made.transactions))
    return create(made.admin, NewKey(name="admin", role=Role.ADMIN)).secret


def test_all_of_a_workspace_goes_from_every_store_and_nothing_of_another(
    database: Database, ours: Everything
) -> None:
    other = open_everything(database, f"other {new_id()}")
    other.remember()
    delete = deletion(database, ours)
    before, theirs, key = rows_of(delete, ours), rows_of(delete, other), admin_key(ours)
    public = {place for place in before if place.startswith("public.")}
    assert {place for place in public if not before[place]} == set()
    subjects = delete.rows.subjects(ours.workspace_id)
    head = delete.find(ours.workspace_id)

    done = delete(ours.workspace_id, name_of(delete, ours))
    assert done.clean, [place for place in done.places if place.found]
    assert (done.already, done.counts["objects"]) == (False, 2)
    assert 1 < done.counts["keys"] <= len(subjects)
    assert done.counts["node"] == before["public.node"]
    assert {place for place, rows in rows_of(delete, ours).items() if rows} == set(KEPT)
    assert rows_of(delete, other) == theirs
    assert len(delete.objects.held) == 2  # pyright: ignore
    other.pool.close()

    with pytest.raises(SubjectForgotten):
        ours.keys.get_or_create(ours.workspace_id, [ours.workspace_id])
    with pytest.raises(Unauthenticated):
        Admit(ours.pool, utc_now)(key)
    assert ours.workspace_id not in ListWorkspaces(ours.pool)()
    assert ours.workspace_id in ListChains(ours.pool)()
    assert json.loads(json.dumps(asdict(done), default=str))["counts"]["objects"] == 2
    assert ours.workspace_id not in {each["id"] for each in list_workspaces(database.owner_url)}

    (verified,) = verify_ledgers(database.owner_url, ours.workspace_id, ours.keys)
    assert verified.ok
    assert verified.head_position == delete.find(ours.workspace_id).position
    stored = dict(delete.tombstones.versions(done.tombstone))[done.tombstone]
    statement = read_statement(stored)
    assert is_signed(delete.signer, statement, FORMAT)  # pyright: ignore
    assert statement.fields["position"] == head.position
    assert statement.fields["hash"] == head.hash.hex()


def test_what_a_backup_brings_back_goes_by_deleting_it_again(
    database: Database, ours: Everything
) -> None:
    delete = deletion(database, ours)
    name = name_of(delete, ours)
    delete(ours.workspace_id, name)
    position = delete.find(ours.workspace_id).position
    ours.rows(
        "INSERT INTO data_subject VALUES ($w, gen_random_uuid(), 'client', 'acme', 1) RETURNING id"
    )
    again = delete(ours.workspace_id, "")
    assert (again.already, again.clean, again.counts["data_subject"]) == (True, True, 1)
    assert delete.find(ours.workspace_id).position == position
    anew, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    assert anew != ours.workspace_id


STEPS = ("close", "tombstone", "keys", "erase", "objects")


@pytest.mark.parametrize("step", STEPS)
def test_what_was_interrupted_is_finished_by_asking_again(
    database: Database, ours: Everything, step: str
) -> None:
    delete = deletion(database, ours)
    name = name_of(delete, ours)
    with pytest.raises(Unavailable):
        failing(delete, step)(ours.workspace_id, name)
    assert delete.find(ours.workspace_id).deleted_at is None
    done = delete(ours.workspace_id, name)
    assert (done.clean, done.already) == (True, False)


def failing(delete: DeleteWorkspace, step: str) -> DeleteWorkspace:
    """The same, cut off when a step has done its work."""

    class CutOff:
        def __init__(self, real: Any, name: str) -> None:
            self.real, self.name = real, name

        def __getattr__(self, name: str) -> Any:
            made = getattr(self.real, name)
            if name != self.name:
                return made

            def work(*given: Any) -> Any:
                made(*given)
                raise Unavailable("The power is gone.", reason="test")

            return work

    part, method = {
        "close": ("rows", "close"),
        "tombstone": ("tombstones", "put"),
        "keys": ("keys", "destroy"),
        "erase": ("rows", "erase"),
        "objects": ("objects", "erase"),
    }[step]
    return replace(delete, **{part: CutOff(getattr(delete, part), method)})


def test_another_name_deletes_nothing(database: Database, ours: Everything) -> None:
    delete = deletion(database, ours)
    before = rows_of(delete, ours)
    with pytest.raises(Conflict):
        delete(ours.workspace_id, "another")
    with pytest.raises(NotFound):
        delete(new_id(), "another")
    assert rows_of(delete, ours) == before
