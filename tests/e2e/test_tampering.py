"""A ledger row altered by a superuser: every verifier names the first bad position."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.e2e.cli import Done, cairn
from tests.e2e.tenant import Tenant, open_workspace, superuser

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

VERIFIER = Path(__file__).parents[2] / "scripts" / "verify_ledger.py"
ALTERED = 3
TRIGGERS = "ALTER TABLE ledger {} TRIGGER ALL"
THIS_ROW = " WHERE workspace_id = %(id)s AND position = %(position)s"
ALTERATIONS = {
    "meta": "UPDATE ledger SET meta = '{}'",
    "body": "UPDATE ledger SET body = body || '\\x00'::bytea",
    "occurred_at": "UPDATE ledger SET occurred_at = occurred_at - interval '1 day'",
    "type": "UPDATE ledger SET type = 'memory.deleted'",
    "hash": "UPDATE ledger SET hash = sha256(hash)",
    "deleted": "DELETE FROM ledger",
    "truncated": "DELETE FROM ledger",
}
WHERE = {"truncated": THIS_ROW.replace("position =", "position >=")}


@pytest.fixture
def tenant(laptop: "Laptop") -> Tenant:
    """A workspace with a chain of some entries that nobody writes to any more."""
    opened = open_workspace(laptop, "tampered")
    opened.remember(*({"type": "event", "text": f"Event number {n}."} for n in range(5)))
    opened.all_embedded()
    return opened


def alter(tenant: Tenant, alteration: str) -> None:
    statement = ALTERATIONS[alteration] + WHERE.get(alteration, THIS_ROW)
    with superuser(tenant.laptop) as connection, connection.transaction():
        connection.execute(TRIGGERS.format("DISABLE").encode())
        found = connection.execute(statement.encode(), {"id": tenant.id, "position": ALTERED})
        assert found.rowcount >= 1
        connection.execute(TRIGGERS.format("ENABLE").encode())


def exported(tenant: Tenant, folder: Path) -> Done:
    """Export the chain and check it with the independent verifier."""
    file = folder / "export.ndjson"
    done = cairn(tenant, "ledger", "export", "--workspace", str(tenant.id), "-o", str(file))
    assert done.status == 0, done.err
    ran = subprocess.run(
        [sys.executable, str(VERIFIER), str(file), "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Done(status=ran.returncode, out=ran.stdout, err=ran.stderr)


def test_an_untouched_chain_verifies_everywhere(tenant: Tenant, tmp_path: Path) -> None:
    verification = tenant.get("/v1/ledger/verify")
    assert verification["ok"] and verification["first_bad_position"] is None
    done = cairn(tenant, "ledger", "verify", "--workspace", str(tenant.id), "--json")
    assert (done.status, done.json()["ok"]) == (0, True)
    offline = exported(tenant, tmp_path)
    assert (offline.status, offline.json()["ok"]) == (0, True)


@pytest.mark.parametrize("alteration", ALTERATIONS)
def test_an_altered_row_is_named(tenant: Tenant, tmp_path: Path, alteration: str) -> None:
    alter(tenant, alteration)
    answer = tenant.get("/v1/ledger/verify")
    assert (answer["ok"], answer["first_bad_position"]) == (False, ALTERED)
    assert answer["reason"]
    done = cairn(tenant, "ledger", "verify", "--workspace", str(tenant.id), "--json")
    assert done.status == 1
    (named,) = done.json()["workspaces"]
    assert (named["ok"], named["first_bad_position"]) == (False, ALTERED)
    offline = exported(tenant, tmp_path)
    assert offline.status == 1
    assert offline.json()["first_bad_position"] == ALTERED


def test_one_bad_chain_among_all_makes_the_command_fail_and_leaves_the_others(
    tenant: Tenant, workspace: Tenant
) -> None:
    workspace.tell("A memory of somebody else.")
    alter(tenant, "meta")
    done = cairn(tenant, "ledger", "verify", "--json")
    assert done.status == 1
    by_id = {each["workspace_id"]: each["ok"] for each in done.json()["workspaces"]}
    assert by_id[str(tenant.id)] is False
    assert by_id[str(workspace.id)] is True


def test_without_the_owners_url_the_command_asks_the_api(tenant: Tenant) -> None:
    alter(tenant, "body")
    done = cairn(tenant, "ledger", "verify", "--json", owner=False)
    assert done.status == 1
    assert done.json()["workspaces"][0]["first_bad_position"] == ALTERED
