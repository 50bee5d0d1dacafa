import base64
from typing import Any
from uuid import UUID

import pytest
from tests.unit.api.fakes import Client, World

SOURCE = {"source_uri": "file:///handbook.md"}


def test_text_base64_and_uploads_reach_the_use_case_as_bytes_or_id() -> None:
    world = World()
    client = Client(world)
    raw = b"%PDF-1.7 \x00\xff"
    bodies = [
        {**SOURCE, "text": "# Café"},
        {
            **SOURCE,
            "content_base64": base64.b64encode(raw).decode(),
            "media_type": "application/pdf",
        },
        {**SOURCE, "upload_id": str(UUID(int=3))},
    ]
    for body in bodies:
        response = client.post("/v1/documents", body)
        assert (response.status_code, response.json()["status"]) == (202, "accepted")
    text, pdf, uploaded = world.documents
    assert text.content == "# Café".encode()
    assert (pdf.content, pdf.media_type) == (raw, "application/pdf")
    assert (uploaded.content, uploaded.upload_id) == (None, UUID(int=3))


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"text": "a", "upload_id": str(UUID(int=3))},
        {"content_base64": "not base64!"},
        {"content_base64": "YQ"},
        {"content_base64": "YÄ=="},
        {"text": "a", "media_type": "pdf"},
        {"text": "a", "source_uri": ""},
        {"text": "nul \x00"},
        {"text": "half \ud800"},
        {"text": "a", "title": 5},
        {"upload_id": "x"},
    ],
    ids=str,
)
def test_bad_documents_are_refused(change: dict[str, Any]) -> None:
    world = World()
    response = Client(world).post("/v1/documents", {**SOURCE, **change})
    assert response.status_code == 422
    assert world.documents == []


def test_an_upload_ticket_says_where_and_how_and_refuses_what_is_too_large() -> None:
    client = Client(World())
    ticket = client.post("/v1/uploads", {"size": 9_000_000, "media_type": "application/pdf"})
    assert (ticket.status_code, ticket.json()["max_bytes"]) == (201, 9_000_000)
    assert ticket.json()["headers"] == {"content-type": "application/pdf"}
    assert client.post("/v1/uploads", {"size": 2**30}).status_code == 413
    assert client.post("/v1/uploads", {"size": 0}).status_code == 422
    assert client.post("/v1/uploads", {"size": "9"}).status_code == 422


def test_documents_and_ingestions_are_read_listed_and_deleted() -> None:
    client = Client(World())
    path = f"/v1/documents/{UUID(int=1)}"
    assert client.get(path).json()["status"] == "ready"
    assert client.get("/v1/documents").json()["items"][0]["sections"] == []
    assert client.get(f"/v1/ingestions/{UUID(int=2)}").json()["status"] == "parsed"
    assert client.delete(path).json()["nodes"] == 12
    assert client.get(f"/v1/documents/{UUID(int=9)}").status_code == 404
