"""From what the legs found to an order: fuse, score, boost, merge duplicates, rerank, cut. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cairn.recall.boosts import BOOSTS, boosted
from cairn.recall.dedup import Deduped, deduped
from cairn.recall.fusion import comparable, reciprocal_rank, weighted_sum
from cairn.recall.recipes import GRAPH, KEYWORD, SUBSCRIPTIONS, VECTOR, Fusion, Recipe
from cairn.recall.scoring import Scored, decay, score_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.recall.fusion import Legs
    from cairn.recall.in_flight import Search
    from cairn.recall.records import Candidate, Sketch

STRETCHED = frozenset({KEYWORD, GRAPH})
"""Legs whose scores have no fixed scale: a weighted sum stretches them to [0, 1] first."""
LOWERED = frozenset({VECTOR})
"""Legs whose scores have a scale but no zero of their own: the margin counts from their least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate that is shown, with its scores by signal."""

    scored: Scored
    scores: Mapping[str, float]

    @property
    def id(self) -> UUID:
        """Return the node's id."""
        return self.scored.sketch.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Candidates in order, and how they got there.

    `scored` is the order before duplicates were merged, `kept` after. `reranked` has the
    reranker's scores of the best, when there is one.
    """

    fused: int = 0
    scored: tuple[Scored, ...] = ()
    kept: tuple[Scored, ...] = ()
    merged: Mapping[UUID, tuple[UUID, ...]] = field(
        default_factory=dict["UUID", "tuple[UUID, ...]"]
    )
    reranked: Mapping[UUID, float] = field(default_factory=dict["UUID", float])
    boosted: int = 0


def fuse(legs: Legs, recipe: Recipe) -> dict[UUID, float]:
    """Return the fused score of every node a leg found, as the recipe's fusion says."""
    own = {leg: candidates for leg, candidates in legs.items() if leg != SUBSCRIPTIONS}
    if recipe.fusion is Fusion.RECIPROCAL_RANK:
        fused = reciprocal_rank(own, recipe.weights, k=recipe.rrf_k)
    else:
        lowered = lowered_by(recipe)
        fused = weighted_sum(own, recipe.weights, normalised=STRETCHED, lowered=lowered)
    for node_id, points in above_words(legs, recipe).items():
        fused[node_id] = fused.get(node_id, 0.0) + points
    return fused


def above_words(legs: Legs, recipe: Recipe) -> dict[UUID, float]:
    """Return what subscriptions give each node beyond what the keyword leg gave it.

    Both look for words, so a node has the greater of the two and not their sum.
    """
    by_words = leg_points(KEYWORD, legs.get(KEYWORD, ()), recipe)
    found = leg_points(SUBSCRIPTIONS, legs.get(SUBSCRIPTIONS, ()), recipe)
    return {
        node_id: max(0.0, points - by_words.get(node_id, 0.0)) for node_id, points in found.items()
    }


def leg_points(leg: str, candidates: Sequence[Candidate], recipe: Recipe) -> dict[UUID, float]:
    """Return what one leg by itself gives to each node's fused score."""
    weight = recipe.weights.get(leg, 0.0)
    scores = [score for _, score in candidates]
    if recipe.fusion is Fusion.RECIPROCAL_RANK:
        given = [weight / (recipe.rrf_k + rank) for rank in range(1, len(scores) + 1)]
    else:
        lowered = lowered_by(recipe)
        counted = comparable(leg, scores, normalised=STRETCHED, lowered=lowered)
        given = [weight * score for score in counted]
    return {one.node_id: part for one, part in zip(candidates, given, strict=True)}


def lowered_by(recipe: Recipe) -> frozenset[str]:
    """Return the legs whose scores the recipe's weighted sum counts from their least."""
    return LOWERED if recipe.fusion is Fusion.WEIGHTED_MARGIN else frozenset()


def best_fused(fused: Mapping[UUID, float], recipe: Recipe, limit: int) -> list[UUID]:
    """Return the ids worth scoring, best first: as many as the recipe says, at least `limit`."""
    return sorted(fused, key=fused.__getitem__, reverse=True)[: max(recipe.scored, limit)]


def rank(sketches: Sequence[Sketch], fused: Mapping[UUID, float], search: Search) -> Ranking:
    """Return the candidates the principal can see: scored, boosted, duplicates merged."""
    recipe = search.recipe
    scored = score_all(sketches, fused, search.asked.understanding, recipe, search.at)
    scored = boosted(scored, recipe)
    unique = deduped(scored) if recipe.dedup else Deduped(kept=tuple(scored), merged={})
    return Ranking(
        fused=len(fused),
        scored=tuple(scored),
        kept=unique.kept,
        merged=unique.merged,
        boosted=sum(not BOOSTS.isdisjoint(one.signals) for one in scored),
    )


def reordered(ranking: Ranking, scores: Mapping[UUID, float]) -> Ranking:
    """Return the ranking with the nodes in `scores` first, by those scores; the rest follow.

    Equal scores keep their order.
    """
    read = [one for one in ranking.kept if one.sketch.id in scores]
    rest = [one for one in ranking.kept if one.sketch.id not in scores]
    read.sort(key=lambda one: -scores[one.sketch.id])
    return replace(ranking, kept=(*read, *rest), reranked=scores)


def cut(ranking: Ranking, recipe: Recipe, limit: int) -> tuple[Scored, ...]:
    """Return at most `limit` candidates whose own score reaches the recipe's threshold."""
    least = recipe.threshold
    if least is None:
        return ranking.kept[:limit]
    return tuple(one for one in ranking.kept if one.score >= least)[:limit]


def explained(
    best: Sequence[Scored],
    legs: Mapping[str, Mapping[UUID, float]],
    reranked: Mapping[UUID, float],
    search: Search,
) -> tuple[Ranked, ...]:
    """Return what is shown with its scores: the final one, the legs' own, each signal's part."""
    return tuple(Ranked(scored=each, scores=_scores(each, legs, reranked, search)) for each in best)


def _scores(
    each: Scored,
    legs: Mapping[str, Mapping[UUID, float]],
    reranked: Mapping[UUID, float],
    search: Search,
) -> dict[str, float]:
    node_id = each.sketch.id
    found_by = {name: scores[node_id] for name, scores in legs.items() if node_id in scores}
    read = {"rerank": reranked[node_id]} if node_id in reranked else {}
    return {
        "relevance_score": each.score,
        **read,
        **found_by,
        **each.signals,
        "decay_score": decay(each.sketch, search.at, search.recipe.decay_factor),
    }
