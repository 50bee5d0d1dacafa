"""Forgetting on the whole stack: a canary in everything, forgotten, is found nowhere."""

import secrets
from typing import Any

from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, refused


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
    left = {place["place"]: place["note"] for place in told["after"]["places"] if place["found"]}
    assert left == {}
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
