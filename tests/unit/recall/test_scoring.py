"""Signals and the score they make."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.unit.recall.fakes import NOW, node_id, ranked, search_of, sketch

from cairn.recall.query import SearchRequest
from cairn.recall.questions.understanding import understand
from cairn.recall.ranking import backlink_boost, best_fused, boosted, cut, fuse, rank, reordered
from cairn.recall.recipes import (
    DEFAULT,
    GRAPH,
    KEYWORD,
    KNOWLEDGE,
    SEED_000,
    SEED_001,
    SUBSCRIPTIONS,
    VECTOR,
    Recipe,
)
from cairn.recall.records import Sketch
from cairn.recall.scoring import (
    access_boost,
    asks,
    decay,
    decayed,
    length,
    names_a_time,
    names_specifics,
    ranking_decay,
    said_by_named,
    score_all,
)
from cairn.recall.searches.explain import FACTORS, contributions_of, score_of
from cairn.recall.switches import switched

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "effective"),
    [(0, 1.000), (7, 0.869), (14, 0.755), (30, 0.545), (60, 0.297), (90, 0.162)],
)
def test_confidence_follows_the_curve_to_two_thousandths(days: int, effective: float) -> None:
    assert decayed(1.0, NOON, NOON + timedelta(days=days)) == pytest.approx(effective, abs=0.002)


def test_a_stored_confidence_below_one_decays_from_where_it_is() -> None:
    assert decayed(0.8, NOON, NOON + timedelta(days=30)) == pytest.approx(0.8 * 0.98**30)


def test_a_clock_behind_the_last_access_takes_and_gives_nothing() -> None:
    assert decayed(0.9, NOON, NOON - timedelta(days=400)) == 0.9


@pytest.mark.parametrize(
    ("count", "boost"),
    [(0, 1.0), (1, 1.05), (2, 1.0651), (10, 1.10), (100, 1.15), (1000, 1.20), (10_000, 1.25)],
)
def test_backlinks_lift_by_their_decades(count: int, boost: float) -> None:
    assert backlink_boost(count) == pytest.approx(boost, abs=1e-4)


def test_backlinks_lift_a_quarter_at_most() -> None:
    assert backlink_boost(10**9) == 1.25


def test_weighted_sum_is_seven_tenths_cosine_and_three_tenths_stretched_rank() -> None:
    legs = {
        VECTOR: ranked(1, 2, scores=[0.9, 0.5]),
        KEYWORD: ranked(2, 3, 4, scores=[8.0, 5.0, 2.0]),
    }
    # 0.7 x 0.9 ; 0.7 x 0.5 + 0.3 x 1 ; 0.3 x (5 - 2) / (8 - 2) ; 0.3 x 0
    assert fuse(legs, SEED_000) == pytest.approx(
        {node_id(1): 0.63, node_id(2): 0.65, node_id(3): 0.15, node_id(4): 0.0}
    )


def test_a_single_keyword_hit_counts_in_full() -> None:
    assert fuse({KEYWORD: ranked(1, scores=[0.01])}, SEED_000) == {node_id(1): 0.3}


def test_reciprocal_ranks_of_three_paths_add_up() -> None:
    legs = {VECTOR: ranked(1, 2), KEYWORD: ranked(2, 3), GRAPH: ranked(3, 1)}
    # 1: 1/61 + 1/62 ; 2: 1/62 + 1/61 ; 3: 1/62 + 1/61
    fused = fuse(legs, SEED_001)
    assert fused == pytest.approx({node_id(n): 0.016393443 + 0.016129032 for n in (1, 2, 3)})


@pytest.mark.parametrize("recipe", [SEED_000, SEED_001])
def test_words_found_twice_count_once_with_the_greater_part(recipe: Recipe) -> None:
    on = switched(recipe, {SUBSCRIPTIONS: True, VECTOR: False, GRAPH: False})
    keyword, subscribed = ranked(1, 2, scores=[8.0, 4.0]), ranked(2, 3, scores=[1.0, 0.5])
    fused = fuse({KEYWORD: keyword, SUBSCRIPTIONS: subscribed}, on)
    if recipe is SEED_000:
        expected = {1: 0.3, 2: 0.3 * max(0.0, 1.0), 3: 0.3 * 0.5}
    else:
        expected = {1: 1 / 61, 2: max(1 / 62, 1 / 61), 3: 1 / 62}
    assert fused == pytest.approx({node_id(n): score for n, score in expected.items()})


def test_the_effective_score_is_fused_times_confidence_times_access() -> None:
    """A fact of 30 unused days keeps 0.545; three accesses lift by 1.6."""
    search = search_of(SearchRequest(query="note", recipe="seed-001"))
    fact = sketch(
        1,
        kind="fact",
        last_accessed_at=NOW - timedelta(days=30),
        recorded_at=NOW - timedelta(days=90),
        access_count=3,
    )
    [scored] = rank([fact], {node_id(1): 1.0}, search).scored
    assert scored.score == pytest.approx(0.545 * 1.6, abs=1e-3)


def test_events_are_history_and_do_not_fade() -> None:
    search = search_of(SearchRequest(query="note", recipe="seed-001"))
    event = sketch(1, kind="event", recorded_at=NOW - timedelta(days=900))
    [scored] = rank([event], {node_id(1): 0.5}, search).scored
    assert scored.score == 0.5


def test_a_compiled_truth_is_worth_fifteen_per_cent_and_boosts_multiply() -> None:
    recipe = switched(SEED_000, {"compiled_truth": True, "backlinks": True})
    search = search_of(SearchRequest(query="note"), recipe=recipe)
    sketches = [sketch(1, compiled_truth=True, backlink_count=10), sketch(2)]
    ranking = rank(sketches, {node_id(1): 0.5, node_id(2): 0.6}, search)
    assert [each.sketch.id for each in ranking.kept] == [node_id(1), node_id(2)]
    assert ranking.kept[0].score == pytest.approx(0.5 * 1.15 * 1.10)
    assert ranking.boosted == 1


def test_the_flags_of_the_first_published_recipe_are_off() -> None:
    plain = [sketch(1, compiled_truth=True, backlink_count=10)]
    search = search_of(SearchRequest(query="note", recipe="seed-000"))
    [scored] = boosted(rank(plain, {node_id(1): 0.5}, search).scored, SEED_000)
    assert scored.score == 0.5
    assert not (SEED_000.dedup or SEED_000.route or SEED_000.expansion or SEED_000.rerank)


def test_knowledge_takes_twenty_and_twenty_by_rank_and_shows_six() -> None:
    assert (KNOWLEDGE.candidates, KNOWLEDGE.limit) == (20, 6)
    fused = {node_id(number): 1 / (60 + number) for number in range(1, 41)}
    assert len(best_fused(fused, KNOWLEDGE, KNOWLEDGE.limit)) == 40
    assert KNOWLEDGE.rerank == 20
    search = search_of(SearchRequest(query="note", recipe="knowledge"))
    assert (search.limit, search.filters.labels) == (6, ("Document", "Section", "Chunk"))


def test_memory_shows_ten() -> None:
    assert search_of(SearchRequest(query="note", recipe="memory")).limit == 10


def test_a_reranker_orders_what_it_read_and_the_rest_follows() -> None:
    search = search_of(SearchRequest(query="note", recipe="seed-000"))
    fused = {node_id(number): 1 - number / 10 for number in (1, 2, 3)}
    ranking = rank([sketch(number) for number in (1, 2, 3)], fused, search)
    again = reordered(ranking, {node_id(1): 0.2, node_id(2): 0.9})
    assert [each.sketch.id for each in again.kept] == [node_id(2), node_id(1), node_id(3)]


def test_a_threshold_is_of_the_recipes_own_score() -> None:
    recipe = switched(SEED_000, {"threshold": True})
    search = search_of(SearchRequest(query="note"), recipe=recipe)
    fused = {node_id(1): 0.5, node_id(2): 0.31, node_id(3): 0.29}
    ranking = rank([sketch(number) for number in (1, 2, 3)], fused, search)
    assert [each.sketch.id for each in cut(ranking, recipe, 10)] == [node_id(1), node_id(2)]
    assert len(cut(ranking, SEED_000, 10)) == 3


def test_contributions_sum_to_the_score() -> None:
    signals = {"fused": 0.5, "speaker": 0.15, "question": -0.1}
    signals |= dict(zip(FACTORS, (0.9, 1.3, 1.15, 1.1), strict=True))
    legs = {"vector": 0.35, "keyword": 0.15}
    parts = contributions_of(signals, legs)
    assert math.fsum(parts.values()) == pytest.approx(0.55 * 0.9 * 1.3 * 1.15 * 1.1)
    assert math.fsum(parts.values()) == pytest.approx(score_of(signals, 0.5))
    assert parts["decay_factor"] == pytest.approx(0.55 * -0.1)


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


def test_a_fact_drawn_from_what_was_said_is_no_worse_for_being_short() -> None:
    fact, event = (sketch(1, text="Yes.", kind=kind, session_id="s") for kind in ("fact", "event"))

    assert length(fact, ANYTHING) == 1.0 > length(event, ANYTHING)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What can the user not eat?", 1.0),
        ("What can users not eat?", 0.0),
        ("What does the assistant say?", 0.0),
    ],
)
def test_the_user_of_a_question_is_who_said_it(question: str, expected: float) -> None:
    drawn = sketch(1, text="User: I am allergic to peanuts.", kind="fact")
    assert said_by_named(drawn, understand(question, NOW)) == expected


@pytest.mark.parametrize(
    ("text", "changes", "client_id", "expected"),
    [
        ("I keep bees.", {}, None, 1.0),
        ("User: I keep bees.", {}, None, 1.0),
        ("The user keeps bees.", {}, None, 1.0),
        ("Bees sleep at night.", {}, None, 0.0),
        ("Ines: I keep bees.", {}, None, 0.0),
        ("Ines: I keep bees.", {"kind": "fact", "parent_id": node_id(9)}, None, 1.0),
        ("Ines: I keep bees.", {"kind": "event", "parent_id": node_id(9)}, None, 0.0),
        ("I keep bees.", {"label": "Message", "kind": "user"}, None, 1.0),
        ("Shall I keep bees?", {"label": "Message", "kind": "user"}, None, 0.0),
        ("I can recommend bees.", {"label": "Message", "kind": "assistant"}, None, 0.0),
        ("We keep bees.", {"label": "Chunk"}, None, 0.0),
        ("Keeps bees.", {"client_id": "ines"}, "ines", 1.0),
        ("I keep bees.", {"client_id": "otto"}, "ines", 0.0),
        ("I keep bees.", {"label": "Message", "kind": "user", "client_id": "ines"}, "ines", 1.0),
        ("I keep bees.", {"label": "Message", "kind": "user", "client_id": "otto"}, "ines", 0.0),
    ],
)
def test_a_question_about_its_asker_goes_to_what_they_said(
    text: str, changes: dict[str, Any], client_id: str | None, expected: float
) -> None:
    asked = replace(understand("Which animals do I keep?", NOW), client_id=client_id)
    assert said_by_named(sketch(1, text=text, **changes), asked) == expected
    assert said_by_named(sketch(1, text=text, **changes), ANYTHING) == 0.0


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
