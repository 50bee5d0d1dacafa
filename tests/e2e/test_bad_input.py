"""What is refused over HTTP: with a clear problem, the right status, and nothing stored."""

import base64
import json
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest
from pypdf import PdfWriter
from tests.e2e.tenant import Tenant, open_workspace, refused

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

GOOD: dict[str, Any] = {"type": "event", "text": "A good memory."}
EARLIER, LATER = "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def tenant(laptop: "Laptop") -> Tenant:
    return open_workspace(laptop, "bad input")


@pytest.fixture(autouse=True)
def nothing_is_stored(tenant: Tenant) -> Iterator[None]:
    """Each test of this module leaves the workspace's chain where it was."""
    before = tenant.get("/v1/status")
    yield
    assert tenant.get("/v1/status") == before


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"text": "cut', "syntax"),
        (b"not json", "syntax"),
        (b'{"text": "a", "text": "b", "type": "event"}', "duplicate-key"),
        (b'{"text": "\xff\xfe", "type": "event"}', "not-utf-8"),
        (b'{"text": "a", "type": "event", "confidence": NaN}', "not-a-number"),
        (b'{"text": "a", "type": "event", "sequence": 1e999}', "number-too-large"),
        (b'{"text": "a", "type": "event", "sequence": 9007199254740993}', "integer-too-large"),
        (b'{"metadata": ' + b"[" * 5000 + b"]" * 5000 + b"}", "depth"),
    ],
)
def test_malformed_json_is_named(tenant: Tenant, raw: bytes, reason: str) -> None:
    response = tenant.call("POST", "/v1/memories", content=raw, headers=JSON)
    assert refused(response, 400, "malformed-body")["reason"] == reason


def test_an_empty_body_is_refused(tenant: Tenant) -> None:
    response = tenant.call("POST", "/v1/memories", content=b"", headers=JSON)
    assert refused(response, 422, "validation-failed")["errors"][0]["location"] == "body"


@pytest.mark.parametrize(
    "change",
    [
        {"text": 7},
        {"text": None},
        {"text": ["a"]},
        {"text": ""},
        {"text": " \n\t "},
        {"text": "a\x00b"},
        {"type": "rumour"},
        {"type": 1},
        {"type": None},
        {"importance": 11},
        {"importance": "immense"},
        {"importance": True},
        {"confidence": 1.5},
        {"sequence": -1},
        {"sequence": "1"},
        {"scope": "everyone"},
        {"agents": "one"},
        {"data_subjects": [""]},
        {"parent_id": "not-an-id"},
        {"metadata": []},
        {"metadata": {"a\x00": 1}},
        {"unknown_field": 1},
        {"client_id": "\x00"},
    ],
    ids=lambda change: json.dumps(change),
)
def test_a_wrong_field_is_refused_and_named(tenant: Tenant, change: dict[str, Any]) -> None:
    response = tenant.call("POST", "/v1/memories", json={**GOOD, **change})
    problem = refused(response, 422, "validation-failed")
    (field,) = change
    assert any(field in each["location"] for each in problem["errors"])


@pytest.mark.parametrize("place", ["text", "key", "metadata"])
def test_a_lone_surrogate_is_refused(tenant: Tenant, place: str) -> None:
    value = '{"k": "\\ud800"}' if place == "metadata" else '"\\ud800"'
    fields = json.dumps({name: each for name, each in GOOD.items() if name != place})
    raw = f'{fields[:-1]}, "{place}": {value}}}'
    response = tenant.call("POST", "/v1/memories", content=raw.encode(), headers=JSON)
    assert response.status_code in (400, 422)
    refused(response, response.status_code)


@pytest.mark.parametrize(
    "moment",
    [
        "2026-03-01T10:00:00",
        "2026-03-01",
        "yesterday",
        "1026-03-01T10:00:00Z",
        "2926-03-01T10:00:00Z",
        "2026-02-30T10:00:00Z",
        "2026-03-01T25:00:00Z",
        1772366400,
        "",
    ],
)
@pytest.mark.parametrize("field", ["occurred_at", "valid_from"])
def test_a_naive_or_absurd_timestamp_is_refused(tenant: Tenant, field: str, moment: Any) -> None:
    response = tenant.call("POST", "/v1/memories", json={**GOOD, field: moment})
    problem = refused(response, 422, "validation-failed")
    assert field in problem["errors"][0]["location"]


def test_an_interval_that_ends_before_it_begins_is_refused(tenant: Tenant) -> None:
    interval = {"valid_from": LATER, "valid_to": EARLIER}
    fact = {"type": "fact", "key": "k", "text": "A fact.", **interval}
    problem = refused(tenant.call("POST", "/v1/memories", json=fact), 422, "validation-failed")
    assert "valid_to" in json.dumps(problem)


def test_a_text_of_a_megabyte_is_too_large(tenant: Tenant) -> None:
    response = tenant.call("POST", "/v1/memories", json={**GOOD, "text": "a" * 1_000_000})
    problem = refused(response, 413, "too-large")
    assert len(response.content) < 2_000
    assert problem["errors"][0]["location"].endswith("text")


def test_a_body_above_the_limit_is_refused(tenant: Tenant) -> None:
    raw = json.dumps({**GOOD, "text": "a" * 5_000_000}).encode()
    response = tenant.call("POST", "/v1/memories", content=raw, headers=JSON)
    assert refused(response, 413, "too-large")["reason"] == "body"


@pytest.mark.parametrize("items", [[], [GOOD] * 501, {}, "all"])
def test_a_batch_of_no_or_too_many_items_is_refused(tenant: Tenant, items: Any) -> None:
    refused(tenant.call("POST", "/v1/memories", json={"items": items}), 422, "validation-failed")


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_that_is_not_declared_as_json_is_refused(
    tenant: Tenant, content_type: str | None
) -> None:
    headers = {"content-type": content_type} if content_type else {}
    response = tenant.call("POST", "/v1/memories", content=json.dumps(GOOD), headers=headers)
    refused(response, 415, "unsupported-media-type")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": ""},
        {"query": "   "},
        {"query": "a\x00"},
        {"query": "a", "limit": 0},
        {"query": "a", "limit": 10_000},
        {"query": "a", "kinds": ["rumour"]},
        {"query": "a", "as_of": "2026-03-01T10:00:00"},
        {"query": "a", "as_of": -1},
        {"query": "a", "recipe": "none of that name"},
        {"query": "a", "occurred_from": LATER, "occurred_to": EARLIER},
    ],
    ids=lambda body: json.dumps(body),
)
def test_a_bad_search_is_refused(tenant: Tenant, body: dict[str, Any]) -> None:
    refused(tenant.call("POST", "/v1/search", json=body), 422, "validation-failed")


@pytest.mark.parametrize("query", ["'; DROP TABLE node; --", "a & | ! ( :*", "\\", "%", "🜁" * 50])
def test_a_query_is_text_and_never_syntax(tenant: Tenant, query: str) -> None:
    assert tenant.search(query)["meta"]["degraded"] == []


@pytest.mark.parametrize(
    "path",
    [
        "/v1/memories/not-an-id",
        "/v1/memories?limit=0",
        "/v1/memories?limit=x",
        "/v1/memories?state=unknown",
        "/v1/memories?cursor=forged",
        "/v1/ledger?from_position=-1",
        "/v1/ledger?type=DROP%20TABLE",
        "/v1/documents?limit=100000",
    ],
)
def test_bad_parameters_are_refused(tenant: Tenant, path: str) -> None:
    refused(tenant.call("GET", path), 422, "validation-failed")


def encrypted_pdf() -> bytes:
    writer = PdfWriter()
    writer.add_blank_page(200, 200)
    writer.encrypt("secret", algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def blank_pdf() -> bytes:
    writer = PdfWriter()
    writer.add_blank_page(200, 200)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def document(content: bytes, media_type: str, name: str) -> dict[str, Any]:
    encoded = base64.b64encode(content).decode()
    return {"source_uri": name, "media_type": media_type, "content_base64": encoded}


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"<html><body>No PDF at all</body></html>", "application/pdf"),
        (b"%PDF-1.7\nA PDF that claims to be text", "text/plain"),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 64, "text/markdown"),
    ],
)
def test_bytes_that_are_not_what_they_claim_are_refused_at_once(
    tenant: Tenant, content: bytes, media_type: str
) -> None:
    body = document(content, media_type, "liar")
    problem = refused(tenant.call("POST", "/v1/documents", json=body), 422, "validation-failed")
    assert problem["reason"] == "media-type-mismatch"


@pytest.mark.parametrize(
    "body",
    [
        {"source_uri": "a.txt"},
        {"source_uri": "a.txt", "text": "a", "content_base64": "YQ=="},
        {"source_uri": "", "text": "a"},
        {"source_uri": "a.txt", "content_base64": "not base64!"},
        {"source_uri": "a.txt", "upload_id": "00000000-0000-7000-8000-000000000000"},
        {"source_uri": "film.mp4", "text": "a", "media_type": "video/mp4"},
    ],
    ids=lambda body: json.dumps(body),
)
def test_a_bad_document_request_is_refused(tenant: Tenant, body: dict[str, Any]) -> None:
    response = tenant.call("POST", "/v1/documents", json=body)
    refused(response, 404 if "upload_id" in body else 422)


def test_an_upload_above_the_limit_is_refused_before_it_is_made(tenant: Tenant) -> None:
    response = tenant.call("POST", "/v1/uploads", json={"size": 50_000_001})
    refused(response, 413, "too-large")


class TestFailedIngestions:
    """What only its reading shows: the ingestion fails, says why, and nothing can be found."""

    @pytest.fixture(autouse=True)
    def nothing_is_stored(self, workspace: Tenant) -> Iterator[None]:
        yield
        stored = workspace.rows(
            "SELECT text FROM node WHERE workspace_id = %(id)s AND label IN ('Section', 'Chunk')"
        )
        assert stored == []
        assert workspace.chain_holds()

    @pytest.mark.parametrize(
        ("content", "media_type", "reason"),
        [
            (encrypted_pdf(), "application/pdf", "encrypted-pdf"),
            (blank_pdf(), "application/pdf", "no-text-layer"),
            (b"%PDF-1.7\n%%EOF", "application/pdf", "malformed-document"),
            (b"  \n\n  ", "text/markdown", "empty-document"),
            (b"<html><script>alert(1)</script></html>", "text/html", "empty-document"),
        ],
        ids=["encrypted", "blank", "broken", "empty", "only a script"],
    )
    def test_a_document_that_cannot_be_read_says_why(
        self, workspace: Tenant, content: bytes, media_type: str, reason: str
    ) -> None:
        accepted = workspace.post("/v1/documents", document(content, media_type, "bad"))
        ended = workspace.ended(accepted["ingestion_id"])
        assert ended["status"] == "failed"
        assert ended["error"]["error"] == "ValidationFailed"
        assert ended["error"]["reason"] == reason


def test_html_is_read_without_its_scripts(workspace: Tenant) -> None:
    page = (
        "<html><head><title>Tides</title><style>p{color:red}</style></head><body>"
        "<p onclick='steal()'>High water is at noon.</p><script>stealCookies()</script>"
        "<p>Low water is at six.</p></body></html>"
    )
    workspace.ready("tides.html", text=page, media_type="text/html")
    stored = workspace.rows("SELECT text FROM node WHERE workspace_id = %(id)s")
    together = "\n".join(text or "" for (text,) in stored)
    assert "High water is at noon." in together
    assert not any(each in together for each in ("steal", "color:red", "onclick", "<p"))
