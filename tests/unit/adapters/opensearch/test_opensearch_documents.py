"""What is sent to OpenSearch: text is text, guards are there, nothing is larger than its bound."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from tests.support.search_index import document

from cairn.adapters.opensearch.client import Connection
from cairn.adapters.opensearch.documents import (
    BODY,
    MAPPING_VERSION,
    MAX_QUERY_CHARS,
    MAX_TEXT_CHARS,
    NAME,
    PREFIX,
    action,
    microseconds,
    node_id_of,
    search_body,
)
from cairn.kernel.access import ALL_SCOPES, Principal, Role, Scope
from cairn.recall.records import Filters
from cairn.search_index.sync import mark_of

WORKSPACE = UUID(int=7)
NODE = UUID("01a20112-870f-7664-a202-196a4f39b3dc")
MOMENT = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)


def principal(**changes: Any) -> Principal:
    given: dict[str, Any] = {
        "workspace_id": WORKSPACE,
        "principal_id": UUID(int=8),
        "role": Role.AGENT,
        "allowed_scopes": ALL_SCOPES,
        "name": "who",
    }
    return Principal(**(given | changes))


def body(*terms: str, who: Principal | None = None, **filters: Any) -> dict[str, Any]:
    return search_body(who or principal(), terms, Filters(**filters), limit=5, timeout_ms=500)


def guards(sent: dict[str, Any]) -> list[dict[str, Any]]:
    return sent["query"]["bool"]["filter"]


def test_terms_are_matched_as_text_and_nothing_is_parsed() -> None:
    sent = body('own:"x" OR *', "🌊")
    assert "query_string" not in json.dumps(sent)
    (words,) = sent["query"]["bool"]["must"]
    assert words["multi_match"]["query"] == 'own:"x" OR * 🌊'
    assert words["multi_match"]["fields"] == ["own", "context^0.6"]


def test_a_long_question_is_cut() -> None:
    assert len(json.dumps(body("x" * 100_000))) < MAX_QUERY_CHARS + 2000


def test_the_guards_of_the_principal_are_in_every_search() -> None:
    who = principal(agent_slug="bot", allowed_scopes=frozenset({Scope.PUBLIC, Scope.SHARED}))
    sent = guards(body("x", who=who, scopes=(Scope.PUBLIC, Scope.ADMIN)))
    assert {"term": {"workspace_id": str(WORKSPACE)}} in sent
    assert {"terms": {"scope": ["public"]}} in sent, "scopes narrow and never widen"
    assert {"term": {"agents": "bot"}} in sent
    assert {"terms": {"state": ["active", "provisional"]}} in sent


@pytest.mark.parametrize("filters", [{"include_superseded": True}, {"valid_at": MOMENT}])
def test_superseded_ones_only_where_they_are_asked_for(filters: dict[str, Any]) -> None:
    assert {"terms": {"state": ["active", "provisional", "superseded", "archived"]}} in guards(
        body("x", **filters)
    )


def test_a_moment_in_the_world_is_exact_and_open_ends_count() -> None:
    sent = body("x", valid_at=MOMENT)
    at = 1777636800123456
    assert microseconds(MOMENT) == at
    assert {"range": {"valid_from": {"lte": at}}} in guards(sent)
    assert {"range": {"valid_to": {"lte": at}}} in sent["query"]["bool"]["must_not"]


def test_entities_without_a_truth_are_found_only_when_their_label_is_named() -> None:
    bare, by_label, message = body("x")["query"]["bool"]["must_not"]
    assert {"term": {"label": "Entity"}} in bare["bool"]["filter"]
    hidden = ["Conversation", "Task", "StepResult", "User", "Ticket", "Investigation", "Summary"]
    assert by_label == {"terms": {"label": hidden}}
    assert message["bool"]["must_not"] == [{"terms": {"kind": ["user", "assistant"]}}]
    assert body("x", labels=("Entity",))["query"]["bool"]["must_not"] == []


def test_a_document_goes_to_its_workspaces_shard_under_its_position() -> None:
    one = document(WORKSPACE, "x" * (MAX_TEXT_CHARS + 5), node_id=NODE, position=9, agents=("a",))
    sent = action("index", one)
    assert sent["_op_type"] == "index"
    assert sent["_id"] == f"{WORKSPACE}:{NODE}"
    assert (sent["routing"], sent["version"]) == (str(WORKSPACE), 9)
    assert sent["version_type"] == "external_gte"
    assert len(sent["_source"]["own"]) == MAX_TEXT_CHARS
    assert sent["_source"]["bucket"] == "dc"
    assert set(sent["_source"]) == set(BODY["mappings"]["properties"])


@pytest.mark.parametrize("state", ["deleted", "quarantined", "expired"])
def test_what_is_not_to_be_found_is_sent_without_its_text(state: str) -> None:
    sent = action("index", document(WORKSPACE, "secret", node_id=NODE, state=state))
    assert sent["_op_type"] == "delete"
    assert "secret" not in str(sent)


@pytest.mark.parametrize(
    "hit", [{}, {"_id": ""}, {"_id": f"{WORKSPACE}:no"}, {"_id": f"{UUID(int=9)}:{NODE}"}]
)
def test_a_hit_that_is_not_of_this_workspace_names_nothing(hit: dict[str, Any]) -> None:
    assert node_id_of(hit, WORKSPACE) is None


def test_a_hit_names_its_node() -> None:
    assert node_id_of({"_id": f"{WORKSPACE}:{NODE}"}, WORKSPACE) == NODE


def test_a_mark_is_a_number_below_two_to_the_thirtieth() -> None:
    assert mark_of(NODE, 12) == 0x2C89C1A7


def test_index_names_say_their_mapping() -> None:
    assert NAME.fullmatch(f"{PREFIX}{NODE.hex}").group(1) == str(MAPPING_VERSION)  # type: ignore[union-attr]
    assert not NAME.fullmatch(f"{PREFIX}{NODE.hex}-writing")


def test_a_password_in_the_url_is_not_shown() -> None:
    from cairn.bootstrap.search_index import Endpoint

    assert "secret" not in repr(Endpoint("https://user:secret@search.example.org"))
    assert "secret" not in repr(Connection("https://user:secret@search.example.org"))


def test_requests_are_signed_for_opensearch_where_iam_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    client = Connection("https://search.example.org", auth="iam").client
    signer = client.transport.get_connection().http_auth
    url = "https://search.example.org/cairn-nodes/_search"
    headers = signer("GET", url, None)
    assert "/eu-central-1/es/aws4_request" in headers["Authorization"]
