"""Forgetting on the whole stack: a canary in everything, forgotten, is found nowhere."""

import json
import secrets
from typing import TYPE_CHECKING, Any

from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, good, open_workspace, refused
from tests.plugins.waiting import eventually

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop


def fill(workspace: Tenant, canary: str) -> None:
    """Write something of every kind about a client, and something about another one."""
    about: dict[str, Any] = {"client_id": "acme"}
    workspace.tell(f"{canary} runs Redis beside PostgreSQL.", session_id="s", sequence=1, **about)
    workspace.tell(f"{canary} moved.", type="fact", key="home", data_subjects=["ada"], **about)
    workspace.tell("Redis is fast, says everybody.", client_id="other")
    document = workspace.ingest("plan.md", text=f"# Plan\n\n{canary} plans to move.", **about)
    assert workspace.ended(document["ingestion_id"])["status"] == "ready"
    workspace.post("/v1/events", {"type": "tool.execute", "text": f"{canary} is down.", **about})
    said = {"channel": "api", "session_id": "c", "role": "user", "text": f"This is {canary}."}
    workspace.post("/v1/conversations/messages", {**said, **about})
    workspace.post("/v1/reports", {"title": "Report", "body": f"All of {canary}.", **about})
    chat = {"message": f"Please remember: {canary} likes chess.", "session_id": "t", **about}
    assert canary in workspace.post("/v1/chat", chat)["answer"]
    state = {"thread_id": canary, "checkpoint_id": "1", "data": canary, **about}
    good(workspace.call("PUT", "/v1/checkpoints", json=state))
    workspace.all_embedded()
    workspace.search(canary)


def test_a_client_is_forgotten_everywhere_and_the_chain_verifies(workspace: Tenant) -> None:
    canary = f"Quokka{secrets.token_hex(6)}"
    fill(workspace, canary)
    assert canary in " ".join(workspace.texts(canary))

    given = ("--subject", "client:acme", "--canary", canary, "--yes")
    done = cairn(workspace, "forget", *given, "--prove", "--json")
    told = done.json()
    before = {place["place"] for place in told["before"]["places"] if place["found"]}
    assert before >= {"public.node", "public.node_version", "public.data_subject"}
    assert "public.checkpoint" in before
    left = {place["place"]: place["note"] for place in told["after"]["places"] if place["found"]}
    assert left == {}
    assert workspace.get("/v1/checkpoints", client_id="acme")["items"] == []
    assert done.status == 0
    assert told["forgotten"]["status"] == "done"

    assert canary not in " ".join(workspace.texts(canary))
    assert workspace.chain_holds()
    again = workspace.post("/v1/forget", {"subject": {"kind": "client", "natural_key": "acme"}})
    assert (again["id"], again["already"]) == (told["forgotten"]["id"], True)
    proof = workspace.get(f"/v1/forget/{again['id']}/proof")
    assert proof["clean"]
    tombstones = f"tombstones/{workspace.id}/{again['subject_id']}.json"
    bucket = workspace.laptop.env["CAIRN_ANCHOR_BUCKET"]
    kept = workspace.laptop.client("s3").get_object(Bucket=bucket, Key=tombstones)["Body"].read()
    assert canary.encode() not in kept
    assert b"acme" not in kept


def test_a_source_is_forgotten_through_the_gateway(workspace: Tenant) -> None:
    canary = f"Quokka{secrets.token_hex(6)}"
    document = workspace.ingest("secret.md", text=f"# Secret\n\n{canary} is here.")
    assert workspace.ended(document["ingestion_id"])["status"] == "ready"
    gateway = workspace.through_gateway()
    done = gateway.post("/v1/forget", {"source": "secret.md", "reason": "mistake"})
    assert (done["kind"], done["keyed"]) == ("source", True)
    proof = gateway.post(f"/v1/forget/{done['id']}/proof", {"canaries": [canary, "secret.md"]})
    assert [place for place in proof["places"] if place["found"]] == []
    path = f"/v1/documents/{document['document_id']}"
    refused(workspace.call("GET", path), 404, "not-found")


def test_nobody_is_forgotten_twice_or_by_a_name_nobody_has(workspace: Tenant) -> None:
    body = {"subject": {"kind": "person", "natural_key": "nobody"}}
    refused(workspace.call("POST", "/v1/forget", json=body), 404, "not-found")


def fill_whole(workspace: Tenant, canary: str) -> None:
    """Write something of every kind, about a client and about nobody."""
    fill(workspace, canary)
    ticket = workspace.post("/v1/tickets", {"title": f"{canary} is locked out"})
    worked_on = ("new", "queued", "investigating")

    def over() -> bool:
        return workspace.get(f"/v1/tickets/{ticket['id']}")["status"] not in worked_on

    eventually(over, seconds=120, what="the end of the investigation")
    workspace.post("/v1/webhooks", {"url": f"{workspace.base}/{canary}"})
    workspace.post("/v1/incoming-webhooks", {"name": canary.lower()})
    workspace.all_embedded()


def objects_of(workspace: Tenant) -> list[str]:
    """The names of a workspace's uploads, every version of each."""
    s3, bucket = workspace.laptop.client("s3"), workspace.laptop.env["CAIRN_UPLOADS_BUCKET"]
    listed = s3.list_object_versions(Bucket=bucket)
    found = listed.get("Versions", []) + listed.get("DeleteMarkers", [])
    return [each["Key"] for each in found if str(workspace.id) in each["Key"]]


def held_by(workspace: Tenant) -> list[Any]:
    """What a workspace holds that nothing changes by itself."""
    lists = ("memories", "documents", "conversations", "webhooks", "incoming-webhooks", "keys")
    told = [workspace.get(f"/v1/{each}")["items"] for each in lists]
    for key in told[-1]:
        del key["last_used_at"]  # looking uses it
    assert all(told), told
    return [*told, objects_of(workspace)]


def audited(workspace: Tenant) -> dict[str, Any]:
    """What the daily audit says of a workspace's chain."""
    asked = {"step": "verify_chain", "workspace_id": str(workspace.id)}
    answer = workspace.laptop.client("lambda").invoke(
        FunctionName="cairn-local-audit", Payload=json.dumps(asked)
    )
    told: dict[str, Any] = json.loads(answer["Payload"].read())
    assert "FunctionError" not in answer, told
    return told


def test_a_deleted_workspace_is_nowhere_and_its_neighbour_is_whole(laptop: "Laptop") -> None:
    canary = f"Quokka{secrets.token_hex(6)}"
    ours, theirs = open_workspace(laptop, "deleted"), open_workspace(laptop, "neighbour")
    for each in (ours, theirs):
        fill_whole(each, canary)
    name = next(
        each["name"]
        for each in cairn(ours, "workspace", "list", "--json").json()["items"]
        if each["id"] == str(ours.id)
    )
    assert audited(ours)["anchored"] == 1
    whole = held_by(theirs)
    assert objects_of(ours)

    wrong = cairn(ours, "workspace", "delete", f"{name} too", "--yes")
    assert (wrong.status, "No workspace is called" in wrong.err) == (1, True)
    assert cairn(ours, "workspace", "delete", name, typed="another").status == 1
    assert ours.texts(canary)

    elsewhere = {"CAIRN_UPLOADS_BUCKET": "no-such-bucket"}
    cut = cairn(ours, "workspace", "delete", name, "--yes", changed=elsewhere)
    assert (cut.status, cut.err.startswith("error: "), "Traceback" in cut.err) == (1, True, False)
    assert refused(ours.call("GET", "/v1/status"), 401)["reason"] == "unknown-key"
    assert objects_of(ours)

    done = cairn(ours, "workspace", "delete", name, "--json", typed=name)
    assert done.status == 0, done.err
    told = done.json()
    assert (told["clean"], told["already"], told["counts"]["objects"] > 0) == (True, False, True)
    assert [place["place"] for place in told["places"] if place["found"]] == []
    searched = {place["place"] for place in told["places"] if place["searched"]}
    assert searched >= {"public.node", "public.ticket", "public.webhook", "keys", "ingestions/"}
    assert objects_of(ours) == []
    assert ours.rows("SELECT id FROM node WHERE workspace_id = %(id)s") == []
    held = ours.rows("SELECT type FROM ledger WHERE workspace_id = %(id)s ORDER BY position DESC")
    assert held[0] == ("workspace.deleted",)
    verified = cairn(theirs, "ledger", "verify", "--workspace", str(ours.id))
    assert verified.status == 0, verified.err

    assert audited(ours)["anchored"] == 1

    gone = cairn(ours, "workspace", "delete", name, "--yes")
    assert (gone.status, "No workspace is called" in gone.err) == (1, True)
    again = cairn(ours, "workspace", "delete", str(ours.id), "--json").json()
    assert (again["clean"], again["already"], again["counts"]) == (True, True, {})

    assert held_by(theirs) == whole
    assert canary in " ".join(theirs.texts(canary))
    assert theirs.chain_holds()
