"""A search done again from what was kept of it: the same ids in the same order, reading nothing.

Pure. It uses the very functions the search used, over stored candidates, signals and scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cairn.recall.ranking import above_words, best_fused, fuse, leg_points
from cairn.recall.recipes import LEGS, SUBSCRIPTIONS, Fusion, Recipe, SignalWeights
from cairn.recall.records import Candidate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.recall.records import ScoredNode, SearchRun

FUSED = "fused"
FACTORS = ("decay_factor", "access_boost", "compiled_truth", "backlinks")
"""Signals that multiply what the others add up to, in the order they are applied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """A candidate scored again: its score from the signals that were kept."""

    node: ScoredNode
    score: float


def replay(run: SearchRun) -> tuple[UUID, ...]:
    """Return the ids the search returned, made again from its candidates, signals and scores."""
    recipe = recipe_of(run.recipe_used)
    fused = fuse(legs_of(run), recipe)
    considered = frozenset(best_fused(fused, recipe, run.wanted))
    again = [
        Again(node=one, score=score_of(one.signals, fused[one.node_id]))
        for one in run.scored
        if one.node_id in considered
    ]
    again.sort(key=lambda one: (-one.score, -one.node.position))
    gone = {other for others in run.merged.values() for other in others}
    kept = [one for one in again if one.node.node_id not in gone]
    if run.reranked:
        kept.sort(key=lambda one: -run.reranked.get(one.node.node_id, -math.inf))
    if recipe.threshold is not None:
        kept = [one for one in kept if one.score >= recipe.threshold]
    return tuple(one.node.node_id for one in kept[: run.wanted])


def score_of(signals: Mapping[str, float], fused: float) -> float:
    """Return (fused + what the signals add) x the factors, as the score was made."""
    added = [value for name, value in signals.items() if name not in FACTORS and name != FUSED]
    score = sum([fused, *added])
    for name in FACTORS[:2]:
        score *= signals.get(name, 1.0)
    return score * math.prod(signals[name] for name in FACTORS[2:] if name in signals)


def legs_of(run: SearchRun) -> dict[str, Sequence[Candidate]]:
    """Return the candidates by leg, in the order in which the legs were fused."""
    return {
        leg: [Candidate(node_id, score) for node_id, score in run.candidates[leg]]
        for leg in LEGS
        if leg in run.candidates
    }


def recipe_of(kept: Mapping[str, Any]) -> Recipe:
    """Return the recipe a run kept; a field it does not know takes its default."""
    values: dict[str, Any] = {
        name: value for name, value in kept.items() if name in Recipe.__slots__
    }
    weights = {
        name: value for name, value in kept["signals"].items() if name in SignalWeights.__slots__
    }
    values["fusion"] = Fusion(kept["fusion"])
    values["weights"] = MappingProxyType(dict(kept["weights"]))
    values["signals"] = SignalWeights(**weights)
    values["labels"] = tuple(kept["labels"])
    values["with_kinds"] = tuple(kept.get("with_kinds", ()))
    return Recipe(**values)


def leg_parts(run: SearchRun) -> dict[UUID, dict[str, float]]:
    """Return what each leg gave to each node's fused score; the parts sum to it."""
    recipe, legs = recipe_of(run.recipe_used), legs_of(run)
    parts: dict[UUID, dict[str, float]] = {}
    for leg, candidates in legs.items():
        given = leg_points(leg, candidates, recipe)
        if leg == SUBSCRIPTIONS:
            given = above_words(legs, recipe)
        for node_id, part in given.items():
            parts.setdefault(node_id, {})[leg] = part
    return parts
