"""The published formulas on the published recipes, against values worked out by hand."""

import math
from datetime import timedelta

import pytest
from tests.unit.recall.fakes import NOW, node_id, ranked, search_of, sketch

from cairn.recall.query import SearchRequest
from cairn.recall.ranking import backlink_boost, best_fused, boosted, cut, fuse, rank, reordered
from cairn.recall.recipes import (
    GRAPH,
    KEYWORD,
    KNOWLEDGE,
    SEED_000,
    SEED_001,
    SUBSCRIPTIONS,
    VECTOR,
    Recipe,
)
from cairn.recall.searches.explain import FACTORS, contributions_of, score_of
from cairn.recall.switches import switched


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
