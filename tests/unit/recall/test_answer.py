"""The JSON form of an answer."""

import json
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.recall.fakes import ENTRY, NOW, found, node_id, ranked, search_of

from cairn.recall.answer import Answer, Dropped, answer, fitting
from cairn.recall.legs import LegOutcome
from cairn.recall.query import SearchRequest
from cairn.recall.records import Neighbours, NeighbourText
from cairn.recall.results import RecallMeta, RecallResult, Result


def answered(**changes: Any) -> Answer:
    request = SearchRequest(query="When did Ana move?", **changes)
    node = found(
        5,
        "Ana: I moved in May.",
        session_id="s1",
        sequence=4,
        source_agent="helper",
        trace_id="t1",
        parent_id=node_id(2),
        valid_to=NOW + timedelta(days=1),
    )
    before = NeighbourText(node_id=node_id(4), text="Ben: When?", occurred_at=NOW)
    result = Result(
        node=node,
        scores={"relevance_score": 0.123456789, "vector": 0.5, "importance_score": 5},
        neighbours=Neighbours(before=(before,)),
    )
    legs = {
        "keyword": LegOutcome(candidates=ranked(5), ms=0.5),
        "vector": LegOutcome(failure="late"),
    }
    meta = RecallMeta(
        search=search_of(request),
        query_ms=1.23456,
        stages_ms={"legs": 1.0},
        legs=legs,
        degraded=("vector: late",),
        embedder="fake",
        counts={"keyword": 1, "vector": 0, "fused": 1, "scored": 1, "deduped": 1, "final": 1},
    )
    return answer(RecallResult(results=(result,), meta=meta), request)


def test_a_result_says_where_it_comes_from() -> None:
    [result] = answered().results

    assert result["provenance"] == {
        "entry_id": str(ENTRY),
        "position": 5,
        "source": "ledger",
        "occurred_at": "2026-03-10T12:00:00.000000Z",
        "recorded_at": "2026-03-10T12:00:00.000000Z",
        "session_id": "s1",
        "agent_id": "helper",
        "trace_id": "t1",
    }
    assert (result["node_id"], result["type"], result["kind"]) == (
        str(node_id(5)),
        "Memory",
        "event",
    )
    assert result["retrieval_reason"] == "direct"


def test_attributes_leave_out_what_is_not_set() -> None:
    [result] = answered().results

    attributes = result["attributes"]
    assert attributes["parent_id"] == str(node_id(2))
    assert attributes["valid_to"] == "2026-03-11T12:00:00.000000Z"
    assert "metadata" not in attributes
    assert "superseded_at" not in attributes


def test_neighbours_are_told_apart_from_the_result() -> None:
    [result] = answered().results

    [before] = result["context"]["before"]
    assert before["text"] == "Ben: When?"
    assert result["context"]["after"] == []


def test_compact_rounds_scores_and_leaves_out_the_rest() -> None:
    [result] = answered(format="compact").results

    assert result["scores"]["relevance_score"] == 0.1235
    assert "attributes" not in result
    assert "context" not in result
    assert result["provenance"]["position"] == 5


def test_meta_says_what_happened() -> None:
    meta = answered().meta

    assert meta["legs"] == {
        "keyword": {"found": 1, "ms": 0.5},
        "vector": {"found": 0, "ms": 0.0, "failure": "late"},
    }
    assert meta["degraded"] == ["vector: late"]
    assert (meta["nodes_returned"], meta["truncated"]) == (1, False)
    assert meta["retrieval_class"] == "temporal"
    assert meta["cost_usd"] == 0


def test_the_answer_is_json_as_it_is() -> None:
    shown = answered()

    assert json.loads(json.dumps({"results": shown.results, "meta": shown.meta}))["meta"]


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        (("text",), {"text"}),
        (("source_uri", "valid_to", "no_such_field"), {"valid_to"}),
        ((), set()),
    ],
)
def test_fields_narrow_the_properties_and_nothing_else(
    fields: tuple[str, ...], kept: set[str]
) -> None:
    whole, narrowed = answered(), answered(fields=fields)
    [before], [after] = whole.results, narrowed.results
    shown = {*after["attributes"], *({"text"} & after.keys())}
    assert shown == kept
    for name in before.keys() - {"text", "attributes"}:
        assert after[name] == before[name]
    told = narrowed.meta["fields"]
    assert told["returned_properties"] == len(kept)
    assert told["dropped_properties"] == len(before["attributes"]) + 1 - len(kept)
    assert "fields" not in whole.meta


def row(number: int, related: int = 0, beside: int = 0, chars: int = 100) -> dict[str, Any]:
    return {
        "node_id": str(number),
        "text": "x" * chars,
        "context": {"before": ["y" * 100] * beside, "after": []},
        "related": ["z" * 100] * related,
    }


def test_what_fits_is_left_alone() -> None:
    rows = [row(1, related=2), row(2, beside=1)]
    assert fitting(rows, max_chars=10_000) == (rows, Dropped())


def test_related_nodes_go_first_from_the_last_result_up() -> None:
    kept, dropped = fitting([row(1, related=3), row(2, related=3, beside=2)], max_chars=1_000)
    assert [len(each["related"]) for each in kept] == [3, 0]
    assert kept[1]["context"]["before"]
    assert dropped == Dropped(related=3)


def test_then_what_stands_beside_and_results_last() -> None:
    rows = [row(number, related=1, beside=1, chars=400) for number in (1, 2, 3)]
    kept, dropped = fitting(rows, max_chars=1_000)
    assert [each["node_id"] for each in kept] == ["1", "2"]
    assert dropped == Dropped(related=3, context=3, results=1)


def test_the_first_result_stays_whatever_its_size() -> None:
    kept, dropped = fitting([row(1, chars=5_000), row(2)], max_chars=1_000)
    assert [each["node_id"] for each in kept] == ["1"]
    assert dropped.results == 1


def test_meta_says_the_budget_and_what_went() -> None:
    meta = answered(max_chars=1_000).meta
    assert meta["capacity"]["max_chars"] == 1_000
    assert meta["dropped"] == {"related": 0, "context": 0, "results": 0}


def test_text_is_one_block_instead_of_results() -> None:
    shown = answered(format="text")
    assert shown.results == ()
    assert shown.text is not None
    assert shown.text.startswith(f"[Memory] (id: {node_id(5)}) (score: 0.123)\n")
    assert shown.meta["nodes_returned"] == 1
