"""Weights chosen without a conversation: the arithmetic against values worked out by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from rich.console import Console

from benchmarks.locomo.folds import Fold, answered, leave_one_out, weights_of
from benchmarks.locomo.show import show
from benchmarks.locomo.weights import (
    CUTS,
    GRID,
    Answered,
    Trial,
    Weighed,
    ascend,
    chosen,
    ranked,
    weighed,
)
from benchmarks.metrics import recall_at

EXPECTED = 1e-12


def result(turn: str, factor: float = 1.0, **points: float) -> Weighed:
    return Weighed(turns=frozenset({turn} if turn else ()), points=points, factor=factor)


def question(evidence: str, *results: Weighed) -> Answered:
    return Answered(evidence=frozenset(evidence), results=results)


def noisy(evidence: str) -> Answered:
    """Six results: `noise` puts five before the evidence, `words` knows better."""
    others = [result(f"x{number}", noise=0.5, words=0.1) for number in range(5)]
    return question(evidence, *others, result(evidence, noise=0.0, words=0.5))


def names_of(found: Sequence[frozenset[str]]) -> str:
    return "".join("".join(item) for item in found)


def test_points_and_factor_of_a_result_make_its_score_again() -> None:
    # (0.8 + 0.2) x 0.9 x 1.5: the factors gave -0.1 and then +0.45
    contributions = {"vector": 0.8, "length": 0.2, "decay_factor": -0.1, "access_boost": 0.45}

    found = weighed(contributions, frozenset({"a"}))

    assert found.points == {"vector": 0.8, "length": 0.2}
    assert found.factor == pytest.approx(1.35)
    assert found.score({}) == pytest.approx(1.35)
    assert found.score({"vector": 0.5, "length": 2.0}) == pytest.approx(0.8 * 1.35)


def test_a_result_whose_points_sum_to_nothing_keeps_the_factor_one() -> None:
    assert weighed({}, frozenset()).factor == 1.0
    assert weighed({"length": 0.5, "question": -0.5}, frozenset()).factor == 1.0


def test_results_are_ranked_by_their_multiplied_points_and_factor() -> None:
    asked = question(
        "c",
        result("a", vector=1.0),
        result("b", vector=0.5, words=0.4),
        result("c", factor=2.0, vector=0.1, words=0.3),
    )

    assert names_of(ranked(asked, {})) == "abc"
    assert names_of(ranked(asked, {"vector": 0.5})) == "cba"  # 0.7, 0.65, 0.5
    assert names_of(ranked(asked, {"words": 0.0})) == "abc"  # 1.0, 0.5, 0.2


def test_equal_scores_keep_the_order_they_were_returned_in() -> None:
    # 0.1 + 0.2 is not 0.3 in floating point
    asked = question("a", result("a", one=0.3), result("b", one=0.1, two=0.2))

    assert names_of(ranked(asked, {})) == "ab"


@pytest.mark.parametrize("multipliers", [{}, {"noise": 0.0}, {"words": 0.0}, {"noise": 0.75}])
def test_a_trial_is_the_mean_of_recall_at_the_three_cuts(multipliers: Mapping[str, float]) -> None:
    asked = [
        noisy("e"),
        question("ab", result("a", words=0.2), result("", noise=0.1)),
        question("abc", *(result(turn, words=place / 5) for place, turn in enumerate("xbycza"))),
    ]
    each = [
        recall_at(cut, ranked(item, multipliers), item.evidence) for item in asked for cut in CUTS
    ]

    found = Trial(asked, ["noise", "words"])(multipliers)

    assert found == pytest.approx(sum(each) / len(each), abs=EXPECTED)


def test_a_trial_by_hand() -> None:
    trial = Trial([noisy("e"), question("ab", result("a", words=1.0))], ["noise", "words"])

    assert trial({}) == pytest.approx(((0 + 1 + 1) / 3 + 1 / 2) / 2)
    assert trial({"noise": 0.0}) == pytest.approx((1 + 1 / 2) / 2)


def test_a_result_with_a_negative_score_comes_before_none_at_all() -> None:
    many = [result(f"x{number}", words=1.0) for number in range(5)]
    asked = [question("e", result("e", asks=-1.0)), question("x", *many, result("x", words=2.0))]

    assert Trial(asked, ["asks", "words"])({}) == 1.0


def test_the_ascent_finds_the_best_of_names_that_do_not_touch_each_other() -> None:
    found = ascend(
        lambda at: -((at["a"] - 0.3) ** 2) - abs(at["b"] - 2) - abs(at["c"] - 0.9), ["a", "b", "c"]
    )

    assert found == {"a": 0.25, "b": 2.0, "c": 1.0}


def test_the_ascent_goes_round_until_nothing_gains() -> None:
    # a goes to 0.5 first; once b is 2, a is worth the more the higher it is
    def value(at: Mapping[str, float]) -> float:
        if at["b"] == 2.0:
            return 2.0 + at["a"]
        return 1.0 if at["a"] == 0.5 else 0.0

    assert ascend(value, ["a", "b"]) == {"a": 2.0, "b": 2.0}


def test_what_changes_nothing_keeps_its_weight() -> None:
    assert ascend(lambda at: 0.0, ["a", "b"]) == {"a": 1.0, "b": 1.0}


def test_of_equal_steps_the_nearest_to_the_default_is_taken() -> None:
    assert ascend(lambda at: float(at["a"] < 1.0), ["a"]) == {"a": 0.75}


def test_the_chosen_multipliers_are_of_the_grid_and_rank_the_evidence_higher() -> None:
    asked = [noisy("e"), noisy("f")]

    multipliers = chosen(asked)

    assert set(multipliers) == {"noise", "words"}
    assert set(multipliers.values()) <= set(GRID)
    assert names_of(ranked(asked[0], multipliers)).startswith("e")


def test_questions_without_any_result_leave_nothing_to_choose() -> None:
    assert chosen([question("e"), question("f")]) == {}


def test_a_conversation_is_ranked_by_what_the_others_taught_and_nothing_of_its_own() -> None:
    # In the one conversation noise is noise. In the other, it is the only thing that helps.
    others = [result(f"x{number}", noise=0.0, words=0.7) for number in range(5)]
    odd = question("o", *others, result("o", noise=0.6, words=0.0))
    seen: list[int] = []

    found = leave_one_out(
        [Fold(name="plain", answered=(noisy("e"),)), Fold(name="odd", answered=(odd,))],
        {"noise": 2.0, "words": 0.4},
        seen.append,
    )

    plain_fold, odd_fold = found["folds"]
    assert plain_fold["held_out"] == "plain"
    assert plain_fold["multipliers"] == chosen([odd])
    assert odd_fold["multipliers"] == chosen([noisy("e")])
    assert odd_fold["weights"]["noise"] == 2.0 * odd_fold["multipliers"]["noise"]
    assert (plain_fold["default"]["recall_at_5"], plain_fold["chosen"]["recall_at_5"]) == (0, 0)
    assert (found["chosen"]["recall_at_5"], found["chosen"]["recall_at_10"]) == (0.0, 1.0)
    assert found["chosen"]["questions"] == 2
    assert sum(seen) == 2


def test_what_comes_after_the_results_of_a_plain_search_counts_for_nothing() -> None:
    late = question("e", *(result(f"x{at}", words=1.0) for at in range(20)), result("e"))

    found = leave_one_out(
        [Fold(name=item, answered=(late,)) for item in "ab"], {}, lambda steps: None
    )

    assert found["default"]["mrr"] == 0.0


def test_an_explained_search_becomes_results_with_the_turns_of_its_nodes() -> None:
    explained = {
        "results": [
            {"node_id": "n1", "contributions": {"vector": 0.5}},
            {"node_id": "other", "contributions": {"vector": 0.4}},
        ]
    }

    found = answered(explained, frozenset({"a"}), {"n1": frozenset({"a", "b"})})

    assert [result.turns for result in found.results] == [{"a", "b"}, frozenset()]
    assert found.results[0].points == {"vector": 0.5}


def test_the_weights_of_a_recipe_are_its_legs_and_signals_that_are_not_zero() -> None:
    recipe: dict[str, Any] = {"weights": {"vector": 1.6}, "signals": {"time": 1, "speaker": 0.0}}

    assert weights_of(recipe) == {"vector": 1.6, "time": 1.0}


def test_the_tables_show_what_was_chosen_and_what_it_changed() -> None:
    folds = leave_one_out(
        [Fold(name=name, answered=(noisy("e"),)) for name in ("one", "two")],
        {"noise": 2.0, "words": 0.4},
        lambda steps: None,
    )
    times = dict.fromkeys(
        ("ingest_per_s", "embedder_per_s", "search_ms_p50", "search_ms_p95", "floor_ms_p50"), 1.0
    )
    console = Console(record=True, width=120, quiet=False, file=None)
    with console.capture() as captured:
        show(console, {**folds["default"], **times, "by_category": {}, "leave_one_out": folds})
    said = " ".join(captured.get().split())

    assert "each in turn 2 1.0 (+100.0) 1.0 (+0.0) 1.0 (+0.0)" in said
    assert "(default weights) 2 0.0 1.0 1.0" in said
    assert f"noise 2 {2 * folds['folds'][0]['multipliers']['noise']:g}" in said
