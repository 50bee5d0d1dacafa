"""What lifts a node whatever was asked: a compiled truth, and others that point to it. Pure."""

import math
from collections.abc import Iterable
from dataclasses import replace

from cairn.recall.recipes import Recipe
from cairn.recall.scoring import Scored

COMPILED_TRUTH = 1.15
BOOSTS = frozenset({"compiled_truth", "backlinks"})
LEAST_LIFT, LIFT_A_DECADE, MOST_LIFT = 0.05, 0.05, 0.25


def backlink_boost(count: int) -> float:
    """Return 1 + clamp(0.05 + 0.05 log10(count), 0.05, 0.25); 1.0 below one backlink.

    1, 10, 100, 1000 and 10000 backlinks give 1.05, 1.10, 1.15, 1.20 and 1.25.
    """
    if count < 1:
        return 1.0
    lift = LEAST_LIFT + LIFT_A_DECADE * math.log10(count)
    return 1.0 + min(MOST_LIFT, max(LEAST_LIFT, lift))


def boosted(scored: Iterable[Scored], recipe: Recipe) -> list[Scored]:
    """Return the candidates with the boosts the recipe takes, best first again.

    A factor f enters with the recipe's share s as 1 + s (f - 1), like decay and access.
    """
    lifted = [_lifted(each, recipe) for each in scored]
    if recipe.compiled_truth or recipe.backlinks:
        lifted.sort(key=lambda each: (-each.score, -each.sketch.position))
    return lifted


def _lifted(each: Scored, recipe: Recipe) -> Scored:
    factors: dict[str, float] = {}
    if recipe.compiled_truth and each.sketch.compiled_truth:
        factors["compiled_truth"] = 1.0 + recipe.compiled_truth * (COMPILED_TRUTH - 1.0)
    if recipe.backlinks and each.sketch.backlink_count:
        boost = backlink_boost(each.sketch.backlink_count)
        factors["backlinks"] = 1.0 + recipe.backlinks * (boost - 1.0)
    if not factors:
        return each
    return replace(
        each, score=each.score * math.prod(factors.values()), signals={**each.signals, **factors}
    )
