"""Whatever is sent, the answer is a documented one and repeats nothing."""

import json
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.api.fakes import Client, World

ROUTES = ("/v1/memories", "/v1/documents", "/v1/uploads", "/v1/search", "/v1/keys", "/v1/claim")
FIELDS = [
    "text",
    "type",
    "items",
    "key",
    "importance",
    "occurred_at",
    "valid_to",
    "metadata",
    "agents",
    "sequence",
    "confidence",
    "query",
    "limit",
    "kinds",
    "as_of",
    "source_uri",
    "content_base64",
    "upload_id",
    "size",
    "name",
    "role",
    "scopes",
    "token",
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["fact", "2026-01-01T00:00:00Z", "\ud800", "\x00", "high", "admin"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=12,
)
EXPECTED = {200, 201, 202, 400, 401, 413, 422}
SLOW = settings(max_examples=60, suppress_health_check=list(HealthCheck))


@cache
def client() -> Client:
    return Client(World(remaining=10**9))


@pytest.mark.parametrize("route", ROUTES)
@SLOW
@given(body=VALUES)
def test_any_json_value_gets_a_documented_answer(route: str, body: object) -> None:
    response = client().post(route, content=json.dumps(body).encode())
    assert response.status_code in EXPECTED, response.text
    assert response.json()


@SLOW
@given(raw=st.binary(max_size=60))
def test_any_bytes_get_a_documented_answer(raw: bytes) -> None:
    response = client().post("/v1/memories", content=raw)
    assert response.status_code in {400, 422}
    assert response.json()["type"].startswith("urn:cairn:error:")


@SLOW
@given(text=st.text(min_size=12, max_size=40).filter(lambda each: len(set(each)) > 6))
def test_a_refused_text_is_never_repeated(text: str) -> None:
    response = client().post("/v1/memories", {"text": text, "type": text, "importance": text})
    assert response.status_code == 422
    assert text not in response.text
