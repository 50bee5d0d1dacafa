"""Documents under way: sent twice, deleted meanwhile, lying in their upload, full of secrets."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, good, refused
from tests.unit.documents.pdf_files import bomb, pdf

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


def test_an_upload_that_is_not_what_it_claims_is_refused_and_stores_nothing(
    workspace: Tenant,
) -> None:
    upload = uploaded(workspace, b"<html><body>No PDF at all</body></html>", "application/pdf")
    body = {"source_uri": "liar.pdf", "upload_id": upload}
    problem = refused(workspace.call("POST", "/v1/documents", json=body), 422)
    assert problem["reason"] == "media-type-mismatch"
    picture = {"size": 5, "media_type": "image/png"}
    problem = refused(workspace.call("POST", "/v1/uploads", json=picture), 422)
    assert problem["reason"] == "unsupported-media-type"
    assert texts(workspace) == []


def test_an_upload_holds_the_bytes_that_were_announced_and_no_others(workspace: Tenant) -> None:
    content, other = b"The tide turns at noon.", b"The tide turns at nine."
    announced = {
        "size": len(content),
        "media_type": "text/plain",
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    ticket = workspace.post("/v1/uploads", announced)
    url, headers = ticket["url"], ticket["headers"]
    body = {"source_uri": "tides.txt", "upload_id": ticket["upload_id"]}

    def put(content: bytes, to: str = url, **changed: str | None) -> int:
        sent = {k: v for k, v in {**headers, **changed}.items() if v is not None}
        return httpx.put(to, content=content, headers=sent).status_code

    assert put(content + b"!") == 403
    assert put(other) == 400  # the store reckons its checksum
    assert put(other, **{"x-amz-checksum-sha256": None}) == 403
    assert put(content, **{"If-None-Match": None}) == 403
    assert put(content, **{"Content-Type": "text/html"}) == 403
    assert put(content, to=url.replace(ticket["upload_id"], str(uuid4()))) == 403
    assert httpx.get(url, headers=headers).status_code == 403
    refused(workspace.call("POST", "/v1/documents", json=body), 404, "not-found")
    assert put(content) == 200
    assert put(content) == 412  # there are bytes: it was done
    assert workspace.ready("tides.txt", upload_id=ticket["upload_id"])
    again = workspace.call("POST", "/v1/documents", json=body)
    assert again.headers["idempotency-replayed"] == "true"
    problem = refused(
        workspace.call("POST", "/v1/documents", json={**body, "source_uri": "b.txt"}), 409
    )
    assert problem["reason"] == "upload-used"


def test_sixteen_that_name_an_upload_at_once_make_one_document(workspace: Tenant) -> None:
    upload = uploaded(workspace, version(1, 2).encode(), "text/markdown")
    body = {"source_uri": SOURCE, "upload_id": upload}

    def name(_: int) -> dict[str, Any]:
        return good(workspace.call("POST", "/v1/documents", json=body))

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(name, range(16)))
    assert len({each["ingestion_id"] for each in answers}) == 1
    assert len(workspace.get("/v1/ledger", type="document.received")["items"]) == 1
    assert workspace.ended(answers[0]["ingestion_id"])["status"] == "ready"


def test_a_pdf_of_30_megabytes_is_ingested_by_the_command_and_found(
    workspace: Tenant, tmp_path: Path
) -> None:
    scanned = pdf([[(11, "The ferry to Anholt leaves from Grenaa at dusk.")]], pictures=30_000_000)
    manual = tmp_path / "manual.pdf"
    manual.write_bytes(scanned)
    done = cairn(workspace, "ingest", str(manual), "--json", owner=False, seconds=300)
    assert done.status == 0, done.err
    (document,) = done.json()["documents"]
    assert document["status"] == "ready"
    assert any("Anholt" in text for text in workspace.texts("Where does the ferry leave from?"))


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
