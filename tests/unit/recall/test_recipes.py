"""Recipes are data, and a wrong name is the caller's mistake."""

import pytest

from cairn.kernel.errors import ValidationFailed
from cairn.recall.recipes import DEFAULT, KEYWORD, RECIPES, VECTOR, Fusion, recipe_named


def test_no_name_means_the_default() -> None:
    assert recipe_named(None) is DEFAULT


def test_the_published_weights_of_the_first_seed_hold() -> None:
    seed = recipe_named("seed-000")

    assert seed.fusion is Fusion.WEIGHTED_SUM
    assert seed.weights == {VECTOR: 0.7, KEYWORD: 0.3}
    assert (seed.decay, seed.access) == (0.0, 0.0)


def test_the_second_seed_fuses_by_rank_above_a_cosine_of_three_tenths() -> None:
    seed = recipe_named("seed-001")

    assert seed.fusion is Fusion.RECIPROCAL_RANK
    assert seed.minimum_cosine == 0.3
    assert (seed.decay, seed.access) == (1.0, 1.0)


def test_an_unknown_recipe_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValidationFailed, match="default, knowledge, memory, seed-000, seed-001"):
        recipe_named("best")


def test_each_recipe_is_found_by_its_own_name() -> None:
    assert all(recipe_named(name).name == name for name in RECIPES)
