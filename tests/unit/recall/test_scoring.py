"""Signals and the score they make."""

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.recall.fakes import NOW, node_id, sketch

from cairn.recall.questions.understanding import understand
from cairn.recall.recipes import DEFAULT, SEED_000, SEED_001
from cairn.recall.records import Sketch
from cairn.recall.scoring import (
    access_boost,
    asks,
    decay,
    length,
    names_a_time,
    names_specifics,
    ranking_decay,
    said_by_named,
    score_all,
)

ANYTHING = understand("Where is the key?", NOW)


def days_ago(days: float, **changes: Any) -> Sketch:
    return sketch(1, recorded_at=NOW - timedelta(days=days), **changes)


@pytest.mark.parametrize(
    ("days", "left"),
    [(0, 1.0), (7, 0.868), (14, 0.754), (30, 0.545), (60, 0.298), (90, 0.162)],
)
def test_unused_facts_lose_two_percent_a_day(days: int, left: float) -> None:
    assert decay(days_ago(days, kind="fact"), NOW) == pytest.approx(left, abs=0.0005)


def test_an_access_resets_the_decay() -> None:
    node = days_ago(90, kind="fact", last_accessed_at=NOW - timedelta(days=7))

    assert decay(node, NOW) == pytest.approx(0.98**7)


def test_the_stored_confidence_is_where_decay_begins() -> None:
    assert decay(days_ago(1, kind="status", confidence=0.5), NOW) == pytest.approx(0.49)


@pytest.mark.parametrize(
    ("kind", "factor"),
    [("fact", 0.98**30), ("status", 0.98**30), ("event", 1.0), ("decision", 1.0), (None, 1.0)],
)
def test_only_facts_and_statuses_are_ranked_by_decay(kind: str | None, factor: float) -> None:
    assert ranking_decay(days_ago(30, kind=kind), NOW) == pytest.approx(factor)


@pytest.mark.parametrize(("count", "boost"), [(0, 1.0), (1, 1.3), (3, 1.6), (7, 1.9), (15, 2.2)])
def test_each_doubling_of_accesses_adds_three_tenths(count: int, boost: float) -> None:
    assert access_boost(count) == pytest.approx(boost)


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("Ana: I moved to Oslo.", {}, 1.0),
        ("Ana Lopez: I moved to Oslo.", {}, 1.0),
        ("Ben: Ana moved to Oslo.", {}, 0.0),
        ("It ended at 10:30, said Ana", {}, 0.0),
        ("moved to Oslo", {"source_agent": "ana"}, 1.0),
        ("moved to Oslo", {"subject": "Ana"}, 1.0),
        ("a person", {"canonical_name": "Ana Lopez"}, 1.0),
        ("a person", {}, 0.0),
    ],
)
def test_who_said_it_is_matched_with_the_names_asked_for(
    text: str, changes: dict[str, str], expected: float
) -> None:
    asked = understand("Where did Ana move?", NOW)

    assert said_by_named(sketch(1, text, **changes), asked) == expected


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("When did it break?", "It broke yesterday.", 1.0),
        ("When did it break?", "It broke in March.", 1.0),
        ("When did it break?", "It broke in 2019.", 1.0),
        ("When did it break?", "It broke in room 7.", 0.0),
        ("Why did it break?", "It broke yesterday.", 0.0),
    ],
)
def test_a_text_with_a_time_helps_a_question_about_time(
    question: str, text: str, expected: float
) -> None:
    assert names_a_time(sketch(1, text), understand(question, NOW)) == expected


def test_longer_texts_say_more_up_to_a_point() -> None:
    short, long, longest = (
        length(sketch(1, "word " * count, session_id="s"), ANYTHING) for count in (3, 30, 600)
    )

    assert short < long < longest == 1.0


def test_a_question_is_no_answer() -> None:
    assert asks(sketch(1, "Where is it? "), ANYTHING) == 1.0
    assert asks(sketch(1, "Where is it? On the shelf."), ANYTHING) == 0.0


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Thanks! That sounds great. I agree.", 0.0),
        ("Ana: Hello there. How are you?", 0.0),
        ("Ana: we flew to Lisbon.", 1 / 3),
        ("Ana Silva: I agree.", 0.0),
        ("What the two of us agreed upon in Lisbon last year: a boat.", 1 / 3),
        ("They met Tom and Eva in Graz, near Vienna.", 1.0),
        ("kein name hier", 0.0),
    ],
)
def test_a_text_that_names_somebody_or_something_says_more(text: str, share: float) -> None:
    said = sketch(1, text=text, session_id="s")
    assert names_specifics(said, ANYTHING) == pytest.approx(share)


def test_what_was_not_said_in_a_session_is_not_judged_by_how_it_is_said() -> None:
    short, long = sketch(1, text="Yes."), sketch(2, text="In Graz " * 60)

    assert length(short, ANYTHING) == length(long, ANYTHING) == 1.0
    assert names_specifics(short, ANYTHING) == names_specifics(long, ANYTHING) == 0.0


def test_the_second_seed_multiplies_fused_score_decay_and_access_boost() -> None:
    node = days_ago(7, kind="fact", access_count=3)

    [scored] = score_all([node], {node.id: 0.5}, ANYTHING, SEED_001, NOW)

    assert scored.score == pytest.approx(0.5 * 0.98**7 * 1.6)


def test_the_first_seed_ranks_by_the_fused_score_alone() -> None:
    node = days_ago(7, kind="fact", access_count=3)

    [scored] = score_all([node], {node.id: 0.5}, ANYTHING, SEED_000, NOW)

    assert scored.score == 0.5
    assert set(scored.signals) == {"fused", "decay_factor", "access_boost"}


def test_signals_add_to_the_fused_score_and_are_named() -> None:
    node = sketch(1, "Ana: It broke yesterday, did it?", session_id="s")
    asked = understand("When did Ana see it break?", NOW)

    [scored] = score_all([node], {node.id: 0.5}, asked, DEFAULT, NOW)

    assert scored.signals["speaker"] == DEFAULT.signals.speaker
    assert scored.signals["time_words"] == DEFAULT.signals.time_words
    assert scored.signals["question"] == DEFAULT.signals.question < 0
    assert scored.signals["parent"] == pytest.approx(DEFAULT.signals.parent * 0.5)
    added = sum(
        scored.signals[name] for name in ("speaker", "time_words", "question", "parent", "length")
    )
    assert scored.score == pytest.approx(0.5 + added)


def test_a_session_lifts_all_its_messages_by_its_best_one() -> None:
    nodes = [sketch(1, session_id="a"), sketch(2, session_id="a"), sketch(3, session_id="b")]
    fused = {node_id(1): 0.9, node_id(2): 0.4, node_id(3): 0.4}

    scored = score_all(nodes, fused, ANYTHING, DEFAULT, NOW)

    assert [each.sketch.id for each in scored] == [node_id(1), node_id(2), node_id(3)]
    assert scored[1].score > scored[2].score


def test_equal_scores_put_the_younger_first() -> None:
    nodes = [sketch(1), sketch(2)]

    scored = score_all(nodes, {node_id(1): 0.4, node_id(2): 0.4}, ANYTHING, SEED_000, NOW)

    assert [each.sketch.position for each in scored] == [2, 1]
