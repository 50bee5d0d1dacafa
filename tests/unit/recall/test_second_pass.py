"""The second pass against values worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from tests.unit.recall.fakes import node_id, sketch

from cairn.embedding.port import TokenStates
from cairn.recall.questions.understanding import understand
from cairn.recall.recipes import DEFAULT
from cairn.recall.scoring import score_again, score_all
from cairn.recall.second_pass import (
    BEFORE,
    Evidence,
    Measured,
    ReadQuestion,
    measured,
    word_weights,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ASKED = understand("Does Priya own a kiln or a loom?", NOW)


def signs(*rows: str) -> bytes:
    """Return token vectors of eight dimensions: `+` and `-` by dimension."""
    return b"".join(
        int("".join("1" if one == "+" else "0" for one in row), 2).to_bytes(1) for row in rows
    )


def question(**words: str) -> ReadQuestion:
    states = np.array(
        [[1.0 if one == "+" else -1.0 for one in row] for row in words.values()], dtype=np.float32
    )
    tokens = TokenStates(words=tuple(words), states=states)
    return ReadQuestion(vector=np.ones(8, dtype=np.float32), tokens=tokens)


def row(number: int, *ranks: float, words: int = 10, **others: Any) -> Evidence:
    return Evidence(id=node_id(number), ranks=ranks, words=words, **others)


def test_the_weights_of_words_come_back_from_the_scores_they_made() -> None:
    weights = np.array([0.2, 0.5, 0.3])
    ranks = np.array([[0.6, 0.0, 0.0], [0.6, 0.6, 0.0], [0.0, 0.36, 0.6], [0.0, 0.6, 0.0]])
    scores: list[float | None] = [*(ranks @ weights).tolist()]
    scores[3] = None  # the leg did not return it
    assert word_weights(ranks, scores) == pytest.approx(weights)


def test_a_word_that_no_candidate_has_keeps_its_part_of_the_weight() -> None:
    ranks = np.array([[0.6, 0.0], [0.3, 0.0]])
    assert word_weights(ranks, [0.24, 0.12]) == pytest.approx([0.4, 0.6])
    assert word_weights(ranks, [None, None]) == pytest.approx([0.5, 0.5])
    assert word_weights(np.zeros((2, 0)), [0.1, 0.2]).tolist() == []


def test_a_short_text_has_more_of_a_word_than_a_long_one() -> None:
    rows = [row(1, 0.6, words=5), row(2, 0.6, words=15)]
    found = measured(rows, {node_id(1): 0.6, node_id(2): 0.6}, ASKED, None)
    assert found[node_id(1)].share == pytest.approx(1.2 / (0.6 + 0.25 + 0.375))
    assert found[node_id(2)].share == pytest.approx(1.2 / (0.6 + 0.25 + 1.125))
    assert found[node_id(1)].late is None


def test_the_nearest_word_counts_and_one_of_the_message_before_a_little_less() -> None:
    asked = question(priya="++++----", kiln="++++++++", loom="--------")
    rows = [
        row(1, 0.6, 0.0, 0.0, tokens=signs("++++++++", "++++----")),
        row(2, 0.0, 0.0, 0.0, tokens=signs("+++++---"), before_id=node_id(1)),
        row(3, 0.0, 0.0, 0.0, tokens=b""),
        row(4, 0.0, 0.0, 0.0, before_id=node_id(9), before_tokens=signs("++++++++")),
    ]
    found = measured(rows, {}, ASKED, asked)
    assert found[node_id(1)].late == pytest.approx((1.0 + 0.0) / 2)
    own = (0.25, -0.25)
    before = (BEFORE * 1.0, BEFORE * 0.0)
    assert found[node_id(2)].late == pytest.approx(sum(map(max, own, before)) / 2)
    assert found[node_id(3)].late is None
    assert found[node_id(4)].late is None


def test_names_of_the_question_do_not_count_and_words_count_by_their_weight() -> None:
    asked = question(priya="++++++++", kiln="++++----", loom="+-+-+-+-")
    terms = [term for term in ASKED.terms if term in ("priya", "own", "kiln", "loom")]
    ranks = [[0.6 if term == one else 0.0 for term in ASKED.terms] for one in ("kiln", "loom")]
    rows = [
        row(1, *ranks[0], tokens=signs("++++----")),
        row(2, *ranks[1], tokens=signs("+-+-+-+-")),
    ]
    assert {"priya", "kiln", "loom"} <= set(terms)
    found = measured(rows, {node_id(1): 0.45, node_id(2): 0.15}, ASKED, asked)
    assert found[node_id(1)].late == pytest.approx(0.75)
    assert found[node_id(2)].late == pytest.approx(0.25)


def test_the_time_of_a_question_is_not_looked_for_among_words() -> None:
    asked = understand("Which kiln did Priya buy in October 2023?", NOW)
    assert asked.time_terms == {"october", "2023"}
    assert understand("Which kiln did Priya buy?", NOW).time_terms == frozenset()
    words = question(kiln="++++++++", buy="++++----", october="--------")
    ranks = [0.6 if term == "kiln" else 0.0 for term in asked.terms]
    rows = [row(1, *ranks, tokens=signs("++++++++"))]
    found = measured(rows, {node_id(1): 0.12}, asked, words)[node_id(1)]
    unmet = 0.8 / (len(asked.terms) - 1)
    assert found.time_share == pytest.approx(2 * unmet)
    assert found.late == pytest.approx((0.2 * 1.0 + unmet * 0.5 * 0) / (0.2 + unmet))


def test_title_and_beginning_of_its_document_are_half_of_a_passages_cosine() -> None:
    rows = [row(1, cosine=0.8, title=0.6, beginning=0.4), row(2, cosine=0.8, title=0.6), row(3)]
    found = measured(rows, {}, ASKED, None)
    assert found[node_id(1)].whole == pytest.approx(0.5 * 0.8 + 0.25 * 0.4 + 0.25 * 0.6 - 0.8)
    assert found[node_id(2)].whole == pytest.approx(0.5 * 0.8 + 0.5 * 0.6 - 0.8)
    assert found[node_id(3)].whole == 0.0


def test_documents_are_lifted_by_what_the_second_pass_measures_and_sessions_by_the_first() -> None:
    report, other = UUID(int=70), UUID(int=71)
    nodes = [
        sketch(1, document_id=report),
        sketch(2, document_id=report),
        sketch(3, document_id=other),
        sketch(4, session_id="s"),
    ]
    fused = {node_id(1): 0.8, node_id(2): 0.5, node_id(3): 0.9, node_id(4): 0.9}
    found = {
        node_id(1): Measured(share=0.1, late=0.5, whole=-0.1),
        node_id(2): Measured(share=0.9, late=0.7),
        node_id(3): Measured(share=0.1, late=0.3, whole=-0.3),
        node_id(4): Measured(share=0.9, late=0.9),
    }
    first = score_all(nodes, fused, ASKED, DEFAULT, NOW)
    again = score_again(first, found, fused, {}, DEFAULT)
    second = DEFAULT.second_pass
    assert second is not None

    lifts = {each.sketch.id: each.signals["parent"] for each in again}
    best = 0.5 + second.words * 0.9 + second.late * 0.4
    assert lifts[node_id(1)] == lifts[node_id(2)] == pytest.approx(second.parent * best)
    assert lifts[node_id(3)] < lifts[node_id(1)], "the first pass found it best"
    assert lifts[node_id(4)] == pytest.approx(second.parent * 0.9)


def test_the_second_score_is_the_sum_of_its_signals_and_takes_the_keyword_legs_part_back() -> None:
    nodes = [sketch(1), sketch(2), sketch(3, session_id="s"), sketch(4, session_id="s")]
    fused = {node_id(1): 1.0, node_id(2): 0.9, node_id(3): 0.2, node_id(4): 0.6}
    first = score_all(nodes, fused, ASKED, DEFAULT, NOW)
    found: dict[UUID, Measured] = {
        node_id(1): Measured(share=0.5, late=0.4),
        node_id(3): Measured(share=0.9, late=0.9, answers=1.0, after_id=node_id(4)),
        node_id(4): Measured(),
    }
    again = score_again(first, found, fused, {node_id(1): 0.3}, DEFAULT)
    by_id = {each.sketch.id: each for each in again}
    second = DEFAULT.second_pass
    assert second is not None
    parts = by_id[node_id(1)].signals
    assert parts["words"] == pytest.approx(second.words * 0.5 - 0.3)
    assert parts["parent"] == pytest.approx(second.parent * 1.0)  # it is its own session
    assert "late" not in parts  # the least of those that were measured
    assert by_id[node_id(3)].signals["late"] == pytest.approx(second.late * 0.5)
    assert by_id[node_id(3)].signals["next"] == pytest.approx(second.next * 0.6)
    assert by_id[node_id(3)].signals["parent"] == pytest.approx(second.parent * 0.6)
    assert "late" not in by_id[node_id(2)].signals  # nothing was measured
    scores = [each.score for each in again]
    assert scores == sorted(scores, reverse=True)
    for each in again:
        factors = each.signals["decay_factor"] * each.signals["access_boost"]
        added = sum(each.signals.values()) - each.signals["decay_factor"]
        added -= each.signals["access_boost"]
        assert each.score == pytest.approx(added * factors)
