"""Documents under way: sent twice, deleted meanwhile, lying in their upload, full of secrets."""

from typing import Any

import httpx
from tests.e2e.tenant import Tenant, good, refused
from tests.unit.documents.pdf_files import bomb

SOURCE = "guide.md"


def version(number: int, chapters: int = 20) -> str:
    lines = [
        f"# Chapter {n}\n\nEdition {number} says that the harbour of island {n} is deep enough."
        for n in range(chapters)
    ]
    return "\n\n".join(lines)


def texts(tenant: Tenant) -> list[str]:
    """Every chunk that can be found, as it is stored."""
    rows = tenant.rows(
        "SELECT text FROM node WHERE workspace_id = %(id)s AND label = 'Chunk' "
        "AND state = 'active' AND deleted_at IS NULL"
    )
    return [text for (text,) in rows]


def uploaded(tenant: Tenant, content: bytes, media_type: str) -> str:
    ticket = tenant.post("/v1/uploads", {"size": len(content), "media_type": media_type})
    httpx.put(ticket["url"], content=content, headers=ticket["headers"]).raise_for_status()
    return ticket["upload_id"]


def test_of_two_versions_sent_at_once_the_later_stands(workspace: Tenant) -> None:
    first = workspace.ingest(SOURCE, text=version(1))
    second = workspace.ingest(SOURCE, text=version(2))
    assert first["document_id"] == second["document_id"]
    assert workspace.ended(second["ingestion_id"])["status"] == "ready"
    ended = workspace.ended(first["ingestion_id"])
    assert ended["status"] == "ready" or ended["error"]["reason"] == "superseded-ingestion"
    assert len(texts(workspace)) == 20
    assert all("Edition 2 says" in text for text in texts(workspace))
    assert workspace.get(f"/v1/documents/{first['document_id']}")["status"] == "ready"
    assert workspace.chain_holds()


def test_a_document_deleted_while_it_is_ingested_stays_deleted(workspace: Tenant) -> None:
    accepted = workspace.ingest(SOURCE, text=version(1))
    workspace.delete(f"/v1/documents/{accepted['document_id']}")
    ended = workspace.ended(accepted["ingestion_id"])
    assert ended["status"] == "ready" or ended["error"]["reason"] == "deleted-meanwhile"
    refused(workspace.call("GET", f"/v1/documents/{accepted['document_id']}"), 404, "not-found")
    assert workspace.found("harbour of the island") == []
    assert texts(workspace) == []


def test_a_document_sent_twice_under_one_key_is_ingested_once(workspace: Tenant) -> None:
    given: dict[str, Any] = {
        "json": {"source_uri": SOURCE, "text": version(1, 2)},
        "headers": {"idempotency-key": "once"},
    }
    first, second = (workspace.call("POST", "/v1/documents", **given) for _ in range(2))
    assert good(first) == good(second)
    assert second.headers["idempotency-replayed"] == "true"
    other = {**given, "json": {"source_uri": SOURCE, "text": version(2, 2)}}
    problem = refused(workspace.call("POST", "/v1/documents", **other), 422)
    assert problem["reason"] == "idempotency-mismatch"
    workspace.ended(first.json()["ingestion_id"])
    entries = workspace.get("/v1/ledger", type="document.received")["items"]
    assert len(entries) == 1


def test_the_same_bytes_again_change_nothing(workspace: Tenant) -> None:
    document_id = workspace.ready(SOURCE, text=version(1))
    before = workspace.rows("SELECT id, position FROM node WHERE workspace_id = %(id)s ORDER BY 1")
    assert workspace.ready(SOURCE, text=version(1)) == document_id
    after = workspace.rows("SELECT id, position FROM node WHERE workspace_id = %(id)s ORDER BY 1")
    assert after == before


def test_an_upload_that_is_not_what_it_claims_fails_and_stores_nothing(workspace: Tenant) -> None:
    upload = uploaded(workspace, b"<html><body>No PDF at all</body></html>", "application/pdf")
    accepted = workspace.ingest("liar.pdf", upload_id=upload)
    ended = workspace.ended(accepted["ingestion_id"])
    assert (ended["status"], ended["error"]["reason"]) == ("failed", "media-type-mismatch")
    assert texts(workspace) == []


def test_an_upload_of_another_size_than_announced_is_refused(workspace: Tenant) -> None:
    ticket = workspace.post("/v1/uploads", {"size": 10, "media_type": "text/plain"})
    larger = httpx.put(ticket["url"], content=b"x" * 11, headers=ticket["headers"])
    assert larger.status_code == 403
    body = {"source_uri": "a.txt", "upload_id": ticket["upload_id"]}
    refused(workspace.call("POST", "/v1/documents", json=body), 404, "not-found")


def test_a_pdf_that_unpacks_without_end_fails_and_the_workers_live_on(workspace: Tenant) -> None:
    upload = uploaded(workspace, bomb(300_000_000), "application/pdf")
    accepted = workspace.ingest("bomb.pdf", upload_id=upload)
    ended = workspace.ended(accepted["ingestion_id"])
    assert (ended["status"], ended["error"]["reason"]) == ("failed", "too-much-text")
    workspace.ready("after.md", text="# After\n\nThe next document is read.")


def test_a_secret_in_a_document_is_gone_before_it_is_stored(workspace: Tenant) -> None:
    secret = "AKIA" + "Q3EGRZ7T5NXWLM2P"
    workspace.ready(SOURCE, text=f"# Keys\n\nThe access key is {secret}, keep it safe.")
    assert secret not in "\n".join(texts(workspace))
    assert "[REDACTED:" in "\n".join(texts(workspace))
    shown = workspace.call("POST", "/v1/search", json={"query": "access key"}).text
    assert secret not in shown
