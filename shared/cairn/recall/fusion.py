"""Making one ranking of several. Pure functions over ranked lists; no thresholds, no boosts."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from cairn.recall.records import Candidate

RRF_K = 60
"""Reciprocal rank fusion's constant: Cormack, Clarke and Buettcher (SIGIR 2009)."""

Legs = Mapping[str, Sequence[Candidate]]


def reciprocal_rank(
    legs: Legs, weights: Mapping[str, float], *, k: int = RRF_K
) -> dict[UUID, float]:
    """Return sum over legs of weight / (k + rank), ranks from 1; a leg that lacks a node adds 0."""
    fused: dict[UUID, float] = {}
    for leg, candidates in legs.items():
        weight = weights[leg]
        for rank, candidate in enumerate(candidates, start=1):
            fused[candidate.node_id] = fused.get(candidate.node_id, 0.0) + weight / (k + rank)
    return fused


def weighted_sum(
    legs: Legs,
    weights: Mapping[str, float],
    *,
    normalised: frozenset[str],
    lowered: frozenset[str] = frozenset(),
) -> dict[UUID, float]:
    """Return sum over legs of weight x score, each leg's scores made `comparable` first."""
    fused: dict[UUID, float] = {}
    for leg, candidates in legs.items():
        weight, found = weights[leg], [candidate.score for candidate in candidates]
        scores = comparable(leg, found, normalised=normalised, lowered=lowered)
        for candidate, score in zip(candidates, scores, strict=True):
            fused[candidate.node_id] = fused.get(candidate.node_id, 0.0) + weight * score
    return fused


def comparable(
    leg: str, scores: list[float], *, normalised: frozenset[str], lowered: frozenset[str]
) -> list[float]:
    """Return a leg's scores as a weighted sum adds them, in their order.

    Legs named in `normalised` go through `min_max`, those in `lowered` through `above_least`:
    models differ in the cosine of texts that have nothing in common, and a candidate only another
    leg found would otherwise be as far behind as if it were the opposite of the question.
    """
    if leg in normalised:
        return min_max(scores)
    return above_least(scores) if leg in lowered else scores


def above_least(scores: Sequence[float]) -> list[float]:
    """Return each score less the least of them, in their order."""
    least = min(scores, default=0.0)
    return [score - least for score in scores]


def min_max(scores: Sequence[float]) -> list[float]:
    """Return the scores stretched to [0, 1], in their order; 1.0 for each when all are equal."""
    if not scores:
        return []
    low, high = min(scores), max(scores)
    if low == high:
        return [1.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]
