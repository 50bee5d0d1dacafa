"""The intents benchmark's reading and arithmetic."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.intents.corpus import AskedFor, read_events
from benchmarks.intents.run import AskedEvent, precision_at, share_inferred, summed_up
from benchmarks.samples import SAMPLES
from cairn.cli.client import Failure
from cairn.graph.intent_weights import Intent


def asked(intent: Intent, ranked: str, relevant: str, inferred: tuple[str, ...] = ()) -> AskedEvent:
    query = AskedFor(query="q", intent=intent, relevant=frozenset(relevant))
    return AskedEvent(query=query, ranked=tuple(ranked), inferred=frozenset(inferred), ms=2.0)


def test_the_shipped_corpus_has_queries_for_every_intent() -> None:
    corpus = read_events(SAMPLES / "agent-events.json")
    assert len(corpus.queries) >= 60
    assert {query.intent for query in corpus.queries} == set(Intent)
    assert sum(len(session) for session in corpus.sessions) >= 100


def test_a_cause_is_sent_as_the_place_of_an_earlier_event() -> None:
    corpus = read_events(SAMPLES / "agent-events.json")
    for session in corpus.sessions:
        for place, (_, body) in enumerate(session):
            assert body.get("parent_item", -1) < place
            assert "key" not in body and "caused_by" not in body


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"sessions": [], "queries": [{"query": "q", "intent": "whither", "relevant": []}]}',
        '{"sessions": [], "queries": [{"query": "q", "intent": "why", "relevant": ["x"]}]}',
    ],
)
def test_a_file_that_is_none_says_so(tmp_path: Path, content: str) -> None:
    path = tmp_path / "events.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(Failure, match=r"events\.json"):
        read_events(path)


def test_precision_counts_missing_results_as_wrong() -> None:
    assert precision_at(5, list("ab"), {"a", "b", "c"}) == 0.4
    assert precision_at(2, list("xab"), {"a", "b"}) == 0.5


def test_measures_are_means_over_all_and_by_intent() -> None:
    found: dict[str, Any] = summed_up(
        [asked(Intent.WHY, "ab", "ab"), asked(Intent.WHEN, "xy", "a")]
    )
    assert found["recall_at_5"] == 0.5
    assert found["precision_at_5"] == 0.2
    assert found["by_intent"]["why"]["recall_at_10"] == 1.0
    assert found["by_intent"]["when"] == {
        "queries": 1,
        "precision_at_5": 0.0,
        "recall_at_5": 0.0,
        "precision_at_10": 0.0,
        "recall_at_10": 0.0,
    }
    json.dumps(found)


def test_an_intent_counts_as_inferred_when_it_is_among_them() -> None:
    right = asked(Intent.WHY, "a", "a", ("why", "what"))
    wrong = asked(Intent.WHEN, "a", "a", ("what",))
    assert share_inferred([right, wrong]) == 0.5
