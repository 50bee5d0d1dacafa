"""Why each result of a search is where it is: legs, signals, and what each is worth. Pure.

Each contribution is in points of the final score and they sum to it: a leg gives its part of the
fused score, a signal what it adds, a factor what multiplying by it changes, in their order.
A search is done again from what was kept of it to see that the same ids come out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cairn.kernel.text.canonical import format_timestamp
from cairn.recall.personal import PERSONAL
from cairn.recall.ranking import above_words, best_fused, fuse, leg_points
from cairn.recall.recipes import LEGS, SUBSCRIPTIONS, Fusion, Recipe, SignalWeights
from cairn.recall.records import Candidate
from cairn.recall.relevance import HELD_TO, above, floor_of, not_refuted, relevance_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.recall.records import ScoredNode, SearchRun


FUSED = "fused"
FACTORS = ("decay_factor", "access_boost", "compiled_truth", "backlinks")
"""Signals that multiply what the others add up to, in the order they are applied."""
MOVES = ("past", "newer", "grain", "facet")
"""Signals that move a candidate after all of this, in their order."""


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
        Again(node=item, score=score_of(item.signals, fused[item.node_id]))
        for item in run.scored
        if item.node_id in considered
    ]
    again.sort(key=lambda item: (-item.score, -item.node.position))
    gone = {other for others in run.merged.values() for other in others}
    remaining = [item for item in again if item.node.node_id not in gone]
    if run.reranked:
        remaining.sort(key=lambda item: -run.reranked.get(item.node.node_id, -math.inf))
        remaining.sort(key=lambda item: "past" in item.node.signals)
    if held := run.recipe_used.get(HELD_TO):
        floor = floor_of(held)
        signals = {item.node_id: item.signals for item in run.scored}
        relevance = relevance_of(run.candidates, run.merged, recipe, floor, signals)
        ids = above(floor, [item.node.node_id for item in remaining], relevance, run.candidates)
        ids &= not_refuted([item.node.node_id for item in remaining], run.reranked)
        remaining = [item for item in remaining if item.node.node_id in ids]
    if recipe.threshold is not None:
        remaining = [item for item in remaining if item.score >= recipe.threshold]
    return tuple(item.node.node_id for item in remaining[: run.wanted])


def score_of(signals: Mapping[str, float], fused: float) -> float:
    """Return (fused + what the signals add) x the factors, as the score was made."""
    added = [value for name, value in signals.items() if name not in (*FACTORS, *MOVES, FUSED)]
    score = sum([fused, *added])
    for name in FACTORS[:2]:
        score *= signals.get(name, 1.0)
    score *= math.prod(signals[name] for name in FACTORS[2:] if name in signals)
    for name in MOVES:
        score += signals.get(name, 0.0)
    return score


def legs_of(run: SearchRun) -> dict[str, Sequence[Candidate]]:
    """Return the candidates by leg, in the order in which the legs were fused."""
    return {
        leg: [Candidate(node_id, score) for node_id, score in run.candidates[leg]]
        for leg in (*LEGS, PERSONAL)
        if leg in run.candidates
    }


def recipe_of(stored: Mapping[str, Any]) -> Recipe:
    """Return the recipe a run kept; a field it does not know takes its default."""
    values: dict[str, Any] = {
        name: value for name, value in stored.items() if name in Recipe.__slots__
    }
    second = stored.get("second_pass")
    values["second_pass"] = _signals_of(second) if second else None
    values["fusion"] = Fusion(stored["fusion"])
    values["weights"] = MappingProxyType(dict(stored["weights"]))
    values["signals"] = _signals_of(stored["signals"])
    values["labels"] = tuple(stored["labels"])
    values["with_kinds"] = tuple(stored.get("with_kinds", ()))
    return Recipe(**values)


def _signals_of(stored: Mapping[str, float]) -> SignalWeights:
    fields = {name: value for name, value in stored.items() if name in SignalWeights.__slots__}
    return SignalWeights(**fields)


def leg_parts(run: SearchRun) -> dict[UUID, dict[str, float]]:
    """Return what each leg gave to each node's fused score; the parts sum to it."""
    recipe, legs = recipe_of(run.recipe_used), legs_of(run)
    parts: dict[UUID, dict[str, float]] = {}
    for leg, candidates in legs.items():
        points = leg_points(leg, candidates, recipe)
        if leg == SUBSCRIPTIONS:
            points = above_words(legs, recipe)
        for node_id, part in points.items():
            parts.setdefault(node_id, {})[leg] = part
    return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a leg had a node, from 1, and the leg's own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One candidate. `rank` is its place among the results, None when it was not returned.

    `contributions` by leg and signal sum to `score`; `rerank` is what the reranker said, whose
    order then went before the score's. `merged` are the ids it stands for.
    """

    node_id: UUID
    rank: int | None
    score: float
    legs: Mapping[str, Place]
    contributions: Mapping[str, float]
    rerank: float | None = None
    merged: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A whole search: its results first, then what was scored and not returned."""

    run: SearchRun
    replayed: bool
    results: tuple[Explanation, ...]
    others: tuple[Explanation, ...] = field(default_factory=tuple)


def explain(run: SearchRun, *, others: int = 20) -> Explained:
    """Return why each result is where it is, and the same of `others` that missed.

    `replayed` says whether the search, done again from what was kept, returns the same ids.
    """
    parts = leg_parts(run)
    places = _places(run)
    by_id = {item.node_id: item for item in run.scored}
    ranks = {node_id: rank for rank, node_id in enumerate(run.returned, start=1)}
    returned = [by_id[node_id] for node_id in run.returned if node_id in by_id]
    missed = [item for item in run.scored if item.node_id not in ranks][:others]

    def explanation_of(node: ScoredNode) -> Explanation:
        contributions = contributions_of(node.signals, parts.get(node.node_id, {}))
        return Explanation(
            node_id=node.node_id,
            rank=ranks.get(node.node_id),
            score=sum(contributions.values()),
            legs=places.get(node.node_id, {}),
            contributions=contributions,
            rerank=run.reranked.get(node.node_id),
            merged=run.merged.get(node.node_id, ()),
        )

    return Explained(
        run=run,
        replayed=replay(run) == run.returned,
        results=tuple(explanation_of(item) for item in returned),
        others=tuple(explanation_of(item) for item in missed),
    )


def contributions_of(signals: Mapping[str, float], legs: Mapping[str, float]) -> dict[str, float]:
    """Return each leg's and each signal's points of the final score, in order; they sum to it.

    A factor f gives running total x (f - 1); a move comes after the factors.
    """
    later = (*FACTORS, *MOVES, FUSED)
    added = {name: value for name, value in signals.items() if name not in later}
    contributions = {**legs, **added}
    total = sum(contributions.values())
    for name in FACTORS:
        if name in signals:
            change = total * (signals[name] - 1.0)
            contributions[name] = change
            total += change
    contributions |= {name: signals[name] for name in MOVES if name in signals}
    return {name: value for name, value in contributions.items() if value}


def explained_json(explained: Explained) -> dict[str, Any]:
    """Return the JSON form. It names nodes by id: a text is read as its reader may see it."""
    run = explained.run
    return {
        "search_id": str(run.id),
        "principal_id": str(run.principal_id),
        "session_id": run.session_id,
        "recipe": run.recipe,
        "recipe_used": dict(run.recipe_used),
        "asked_at": format_timestamp(run.started_at),
        "retrieval_class": run.retrieval_class,
        "intents": dict(run.intents),
        "seeds": [str(seed) for seed in run.seeds],
        "as_of_position": run.as_of_position,
        "counts_as_access": run.counts_as_access,
        "cached_from": str(run.cached_from) if run.cached_from else None,
        "duration_ms": round(run.duration_ms, 3),
        "stages_ms": dict(run.stages_ms),
        "degraded": list(run.degraded),
        "candidates": {leg: len(candidates) for leg, candidates in run.candidates.items()},
        "replayed": explained.replayed,
        "results": [_json(result) for result in explained.results],
        "others": [_json(other) for other in explained.others],
        "edges": [
            {
                "source_id": str(edge.source_id),
                "target_id": str(edge.target_id),
                "view": edge.view,
                "relation": edge.relation,
                "weight": edge.weight,
            }
            for edge in run.edges
        ],
    }


def _json(explanation: Explanation) -> dict[str, Any]:
    return {
        "node_id": str(explanation.node_id),
        "rank": explanation.rank,
        "score": explanation.score,
        "legs": {leg: {"rank": at.rank, "score": at.score} for leg, at in explanation.legs.items()},
        "contributions": dict(explanation.contributions),
        "rerank": explanation.rerank,
        "merged": [str(other) for other in explanation.merged],
    }


def _places(run: SearchRun) -> dict[UUID, dict[str, Place]]:
    places: dict[UUID, dict[str, Place]] = {}
    for leg, candidates in run.candidates.items():
        for rank, (node_id, score) in enumerate(candidates, start=1):
            places.setdefault(node_id, {})[leg] = Place(rank=rank, score=score)
    return places
