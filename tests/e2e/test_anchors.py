"""The owner of the database rewrites a whole chain: only the anchors outside tell."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, open_workspace, superuser

from cairn.adapters.postgres.stores import PostgresLedger
from cairn.kernel.access.system import system_principal
from cairn.ledger.chain import empty_head, entry_hash, head_of

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

VERIFIER = Path(__file__).parents[2] / "scripts" / "verify_ledger.py"
UPDATE = """UPDATE ledger SET prev_hash = %s, hash = %s, session_id = %s
  WHERE workspace_id = %s AND position = %s"""
HEAD = "UPDATE ledger_head SET position = %s, hash = %s WHERE workspace_id = %s"
CUT = "DELETE FROM ledger WHERE workspace_id = %s AND position > %s"


def anchor(tenant: Tenant) -> None:
    """Run the audit step; chains that other tests broke make it fail after the last."""
    tenant.laptop.client("lambda").invoke(
        FunctionName="cairn-local-audit", Payload=json.dumps({"step": "verify_and_anchor"})
    )


@pytest.fixture
def tenant(laptop: "Laptop") -> Tenant:
    """A workspace with an anchor, and some entries since."""
    opened = open_workspace(laptop, "anchored")
    opened.remember(*({"type": "event", "text": f"Event number {n}."} for n in range(3)))
    opened.all_embedded()
    anchor(opened)
    opened.tell("Something since.")
    opened.all_embedded()
    return opened


def rewrite(tenant: Tenant, *, keep: int | None = None) -> None:
    """Change the second entry and seal all after it again; or cut the chain after `keep`."""
    with superuser(tenant.laptop) as connection, connection.transaction():
        ledger = PostgresLedger(connection, system_principal(tenant.id))
        connection.execute("ALTER TABLE ledger DISABLE TRIGGER ALL")
        head = empty_head(tenant.id)
        for entry in ledger.page(after=0, limit=1_000)[:keep]:
            session = "forged" if entry.position == 2 and keep is None else entry.session_id
            draft = replace(entry, session_id=session, prev_hash=head.hash)
            sealed = replace(draft, hash=entry_hash(draft))
            given: Any = (sealed.prev_hash, sealed.hash, session, tenant.id, entry.position)
            connection.execute(UPDATE, given)
            head = head_of(sealed)
        connection.execute(CUT, (tenant.id, head.position))
        connection.execute(HEAD, (head.position, head.hash, tenant.id))
        connection.execute("ALTER TABLE ledger ENABLE TRIGGER ALL")


def offline(tenant: Tenant, folder: Path) -> dict[str, Any]:
    """Check an export against the anchors without Cairn."""
    file, objects = folder / "export.ndjson", folder / "anchors"
    objects.mkdir()
    done = cairn(tenant, "ledger", "export", "--workspace", str(tenant.id), "-o", str(file))
    assert done.status == 0, done.err
    s3, bucket = tenant.laptop.client("s3"), tenant.laptop.env["CAIRN_ANCHOR_BUCKET"]
    for item in s3.list_objects_v2(Bucket=bucket, Prefix=f"heads/{tenant.id}/")["Contents"]:
        content = s3.get_object(Bucket=bucket, Key=item["Key"])["Body"].read()
        (objects / item["Key"].rpartition("/")[2]).write_bytes(content)
    key = tenant.laptop.env["CAIRN_SIGNING_KEY"].removeprefix("file:") + ".pub"
    options = ["--anchors", str(objects), "--public-key", key, "--json"]
    ran = subprocess.run(
        [sys.executable, str(VERIFIER), str(file), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(ran.stdout)


def test_an_untouched_chain_agrees_with_its_anchor_everywhere(
    tenant: Tenant, tmp_path: Path
) -> None:
    found = tenant.get("/v1/ledger/verify", anchors="true")
    assert (found["ok"], found["anchors"]["faults"]) == (True, [])
    assert (trusted := found["anchors"]["trusted"]) >= 1
    assert tenant.through_gateway().get("/v1/ledger/verify", anchors="true")["ok"]
    done = cairn(tenant, "ledger", "verify", "--anchors", "--json")
    assert (done.status, done.json()["ok"]) == (0, True)
    told = offline(tenant, tmp_path)
    assert (told["ok"], told["anchors"]) == (True, {"trusted": trusted, "faults": []})


def test_a_chain_the_owner_wrote_anew_fails_at_its_anchor_only(
    tenant: Tenant, tmp_path: Path
) -> None:
    before = tenant.get("/v1/ledger/verify", anchors="true")["anchors"]
    rewrite(tenant)
    assert tenant.chain_holds()
    assert cairn(tenant, "ledger", "verify", "--workspace", str(tenant.id)).status == 0
    found = tenant.get("/v1/ledger/verify", anchors="true")
    assert found["ok"] is False
    anchored = found["first_bad_position"]
    assert 2 <= anchored <= before["last_position"]
    done = cairn(tenant, "ledger", "verify", "--anchors", "--json")
    assert done.status == 1
    assert offline(tenant, tmp_path)["first_bad_position"] == anchored
    anchor(tenant)
    after = tenant.get("/v1/ledger/verify", anchors="true")["anchors"]
    assert after["trusted"] == before["trusted"]


def test_a_chain_the_owner_cut_fails_behind_its_end(tenant: Tenant) -> None:
    rewrite(tenant, keep=2)
    assert tenant.chain_holds()
    found = tenant.get("/v1/ledger/verify", anchors="true")
    assert (found["ok"], found["first_bad_position"]) == (False, 3)


def test_a_forged_anchor_is_named(tenant: Tenant) -> None:
    s3, bucket = tenant.laptop.client("s3"), tenant.laptop.env["CAIRN_ANCHOR_BUCKET"]
    item = s3.list_objects_v2(Bucket=bucket, Prefix=f"heads/{tenant.id}/")["Contents"][0]
    stored = s3.get_object(Bucket=bucket, Key=item["Key"])["Body"].read()
    s3.put_object(Bucket=bucket, Key=item["Key"], Body=stored.replace(b'"number":1', b'"number":2'))
    found = tenant.get("/v1/ledger/verify", anchors="true")
    assert (found["ok"], found["first_bad_position"]) == (False, None)
    assert found["anchors"]["faults"][0] == {
        "reason": "not-authentic",
        "key": item["Key"],
        "number": None,
        "position": None,
    }
