from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from tests.support.openapi import sample
from tests.unit.api.fakes import Client, World

from cairn.api.options import ApiOptions
from cairn.kernel.access import Scope
from cairn.memories.kinds import MemoryKind


def test_a_question_reaches_the_use_case_with_its_filters() -> None:
    world = World()
    body = {
        "query": "What runs Acme's website?",
        "limit": 5,
        "kinds": ["fact", "status"],
        "labels": ["Chunk"],
        "scopes": ["public"],
        "valid_at": "2026-01-01T00:00:00Z",
        "as_of": "2026-02-01T00:00:00Z",
        "format": "compact",
    }
    assert Client(world).post("/v1/search", body).status_code == 200
    (request,) = world.searches
    assert (request.limit, request.kinds) == (5, (MemoryKind.FACT, MemoryKind.STATUS))
    assert (request.labels, request.scopes) == (("Chunk",), (Scope.PUBLIC,))
    assert request.as_of == datetime(2026, 2, 1, tzinfo=UTC)
    assert (request.format, request.recipe, request.neighbours) == ("compact", None, 1)


def test_as_of_may_be_a_ledger_position() -> None:
    world = World()
    Client(world).post("/v1/search", {"query": "what?", "as_of": 17})
    assert world.searches[0].as_of == 17


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"query": ""}, 422),
        ({"query": "   "}, 422),
        ({"query": None}, 422),
        ({"query": "nul\x00"}, 422),
        ({"query": "half \udfff"}, 422),
        ({"query": "x" * 5000}, 413),
        ({"limit": 0}, 422),
        ({"limit": 101}, 422),
        ({"limit": "10"}, 422),
        ({"limit": 2.0}, 422),
        ({"kinds": ["opinion"]}, 422),
        ({"kinds": "fact"}, 422),
        ({"labels": ["memory; drop table"]}, 422),
        ({"scopes": ["everyone"]}, 422),
        ({"as_of": "2026-02-01"}, 422),
        ({"as_of": -1}, 422),
        ({"as_of": True}, 422),
        ({"include_superseded": "yes"}, 422),
        ({"format": "xml"}, 422),
        ({"neighbours": 6}, 422),
        (
            {"occurred_from": "2026-02-01T00:00:00Z", "occurred_to": "2026-01-01T00:00:00Z"},
            422,
        ),
        ({"unknown": 1}, 422),
    ],
    ids=lambda each: str(each)[:40],
)
def test_bad_questions_are_refused(change: dict[str, Any], status: int) -> None:
    world = World()
    response = Client(world).post("/v1/search", {"query": "fine", **change})
    assert response.status_code == status
    assert world.searches == []


def test_results_beyond_the_answer_limit_are_left_out_and_it_says_so() -> None:
    result = {**sample("SearchResult"), "text": "x" * 1000}
    ids = [str(UUID(int=rank)) for rank in range(10)]
    world = World(results=tuple({**result, "node_id": node_id} for node_id in ids))
    client = Client(world, options=ApiOptions(max_answer_bytes=4096 + 7000))
    response = client.post("/v1/search", {"query": "what?"})
    body = response.json()
    assert len(response.content) <= 4096 + 7000
    assert [each["node_id"] for each in body["results"]] == ids[:4]
    assert (body["meta"]["truncated"], body["meta"]["nodes_returned"]) == (True, 4)


def test_a_result_that_is_no_json_number_never_leaves_as_nan() -> None:
    world = World(results=({"scores": {"vector": float("nan")}},))
    response = Client(world).post("/v1/search", {"query": "what?"})
    assert response.status_code == 500
    assert "NaN" not in response.text
