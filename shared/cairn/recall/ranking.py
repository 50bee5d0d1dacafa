"""From what the legs found to an order: fuse, score, boost, merge duplicates, rerank, cut. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.graph.node import BOOKKEEPING, OF_PEOPLE, Label, State
from cairn.memories.kinds import MemoryKind
from cairn.recall.recipes import GRAPH, KEYWORD, SECOND, SUBSCRIPTIONS, VECTOR, Fusion, Recipe
from cairn.recall.records import Candidate, Sketch
from cairn.recall.scoring import Scored, decay, score_again, score_all
from cairn.recall.second_pass import Measured

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cairn.recall.coverage import Coverage
    from cairn.recall.query import Search
    from cairn.recall.records import FoundNode
    from cairn.recall.relevance import Judgement


COMPILED_TRUTH = 1.15
PINNED = 1.25
BOOSTS = frozenset({"compiled_truth", "backlinks", "pinned"})
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

    A factor f enters with the recipe's share s as 1 + s (f - 1), like decay and access; what a
    person pinned has the whole of its own in every recipe.
    """
    lifted = [_lifted(each, recipe) for each in scored]
    if recipe.compiled_truth or recipe.backlinks or any(each.sketch.pinned for each in lifted):
        lifted.sort(key=lambda each: (-each.score, -each.sketch.position))
    return lifted


def _lifted(each: Scored, recipe: Recipe) -> Scored:
    factors: dict[str, float] = {}
    if recipe.compiled_truth and each.sketch.compiled_truth:
        factors["compiled_truth"] = 1.0 + recipe.compiled_truth * (COMPILED_TRUTH - 1.0)
    if recipe.backlinks and each.sketch.backlink_count:
        boost = backlink_boost(each.sketch.backlink_count)
        factors["backlinks"] = 1.0 + recipe.backlinks * (boost - 1.0)
    if each.sketch.pinned:
        factors["pinned"] = PINNED
    if not factors:
        return each
    return each._replace(
        score=each.score * math.prod(factors.values()), signals={**each.signals, **factors}
    )


_HAPPENED, _EVENT_KIND = frozenset({Label.EVENT, Label.MESSAGE}), MemoryKind.EVENT.value
"""What happened is itself: the same words at another time are another event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deduped:
    """What is left, in order, and by kept id the ids it stands for besides its own."""

    kept: tuple[Scored, ...]
    merged: Mapping[UUID, tuple[UUID, ...]]


def deduped(ranked: Sequence[Scored]) -> Deduped:
    """Keep the first of each thing in `ranked`.

    Two candidates are one thing when they share any of four layers: the node's id; the slug; the
    canonical name, casefolded, of the same label and client; the content hash (of events with
    their time and session, since an event is append-only).
    """
    seen: dict[object, UUID] = {}
    unique: list[Scored] = []
    merged: dict[UUID, tuple[UUID, ...]] = {}
    for each in ranked:
        layers = _layers(each.sketch)
        first = next((seen[layer] for layer in layers if layer in seen), None)
        if first is None:
            unique.append(each)
            first = each.sketch.id
        elif first != each.sketch.id:
            merged[first] = (*merged.get(first, ()), each.sketch.id)
        for layer in layers:
            seen.setdefault(layer, first)
    return Deduped(kept=tuple(unique), merged=merged)


def _layers(node: Sketch) -> list[object]:
    """Return what the node is known by; keys of different layers are never equal."""
    layers: list[object] = [node.id.int]  # an int hashes ten times as fast
    if node.slug:
        layers.append(("slug", node.slug))
    if node.canonical_name:
        layers.append(("name", node.label, node.client_id, node.canonical_name.casefold()))
    if node.content_hash:
        content = ("content", node.label, node.client_id, node.content_hash)
        happened = node.label in _HAPPENED or node.kind == _EVENT_KIND
        when = (node.occurred_at, node.session_id, node.source_agent) if happened else ()
        layers.append((*content, *when))
    return layers


BELOW = 0.01
LEAST_OF_GRAIN = 0.5
"""A part stands for the section or document around it from this share of its match on."""

_ID = re.compile(r"[A-Za-z_]+:\S+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_COARSE = frozenset({Label.DOCUMENT, Label.SECTION, Label.MESSAGE})
_PARTS = frozenset({Label.SECTION, Label.CHUNK, Label.MEMORY})


def bookkeeping(label: str, text: str, kind: str | None = None) -> bool:
    """Return whether a node stands for a record kept elsewhere, or says nothing but an id."""
    if of_people(label, kind) or label in BOOKKEEPING:
        return True
    return label not in _OWN_LABELS and _ID.fullmatch(text) is not None


def of_people(label: str, kind: str | None) -> bool:
    """Return whether a node stands for what is held of a person."""
    return label == Label.SUMMARY and kind in OF_PEOPLE


_OWN_LABELS = frozenset(Label)


def without_bookkeeping(sketches: Sequence[Sketch], labels: Sequence[str]) -> Sequence[Sketch]:
    """Return the candidates that may be results: bookkeeping only when labels were asked for."""
    if labels:
        return [sketch for sketch in sketches if not of_people(sketch.label, sketch.kind)]
    return [each for each in sketches if not bookkeeping(each.label, each.text, each.kind)]


class Validity(StrEnum):
    """Whether what a node says holds at a moment."""

    CURRENT = "current"
    SUPERSEDED = "superseded"  # something newer stands in its place
    ENDED = "ended"  # past its `valid_to`


def validity(node: Sketch | FoundNode, at: datetime) -> Validity:
    """Return whether a node holds at a moment."""
    if node.state == State.SUPERSEDED:
        return Validity.SUPERSEDED
    return Validity.ENDED if node.valid_to is not None and node.valid_to <= at else Validity.CURRENT


def present_first(ranked: Sequence[Scored], at: datetime) -> list[Scored]:
    """Return the candidates, what holds no more below all that holds at `at`; order stays in both.

    The signal `past` takes from each of the former as much as the best is ahead of the last, and
    a little more.
    """
    past = {each.sketch.id for each in ranked if validity(each.sketch, at) is not Validity.CURRENT}
    if not past or len(past) == len(ranked):
        return list(ranked)
    distance = ranked[-1].score - ranked[0].score - BELOW
    return _in_order(
        _moved(each, "past", distance) if each.sketch.id in past else each for each in ranked
    )


def newer_first(ranked: Sequence[Scored]) -> list[Scored]:
    """Return the candidates, what stands in the place of a message at least just above it.

    The signal `newer` gives it what it lacks: "we moved to Render" has few words of the question
    that "we host on Heroku" has all of.
    """
    least: dict[UUID, float] = {}
    for each in ranked:
        if (newer := each.sketch.replaced_by) is not None:
            least[newer] = max(each.score + BELOW, least.get(newer, 0.0))
    if not least:
        return list(ranked)
    return _in_order(
        _moved(each, "newer", lacks)
        if (lacks := least.get(each.sketch.id, each.score) - each.score) > 0
        else each
        for each in ranked
    )


def one_text(unique: Deduped) -> Deduped:
    """Return one hit for a document, section and chunk of the same text: the finest that is good.

    A section or document that is among the candidates with a part of it gives its place to its
    best part (signal `grain`), when that matches `LEAST_OF_GRAIN` as well; else the part merges
    into it, as all its others. Passages of a document that are not around each other stay apart.
    A memory is a part of the message it was drawn from.
    """
    parts_of = _parts_of(each.sketch for each in unique.kept)
    if not parts_of:
        return unique
    hits = {each.sketch.id: each for each in unique.kept}
    merged = dict(unique.merged)
    for coarse in [each for each in unique.kept if each.sketch.label in _COARSE]:
        whole = hits.get(coarse.sketch.id)
        parts = [hits[part] for part in parts_of.get(coarse.sketch.id, ()) if part in hits]
        if whole is None or not parts:
            continue
        best = max(parts, key=lambda each: each.score)
        if _match(best) >= LEAST_OF_GRAIN * _match(whole):
            _merge(best, [whole], hits, merged)
            if whole.score > best.score:
                hits[best.sketch.id] = _moved(best, "grain", whole.score - best.score)
        else:
            _merge(whole, parts, hits, merged)
    return Deduped(kept=tuple(_in_order(hits.values())), merged=merged)


def _match(hit: Scored) -> float:
    """Return a score without what a part and the whole around it have alike."""
    return hit.score - sum(hit.signals.get(name, 0.0) for name in ("length", "parent"))


def _parts_of(nodes: Iterable[Sketch]) -> dict[UUID, list[UUID]]:
    """Return the parts by the section and the document around them."""
    parts: dict[UUID, list[UUID]] = {}
    for node in nodes:
        if node.label in _PARTS:
            for around in dict.fromkeys((node.parent_id, node.document_id)):
                if around is not None and around != node.id:
                    parts.setdefault(around, []).append(node.id)
    return parts


def _merge(
    into: Scored,
    others: Sequence[Scored],
    hits: dict[UUID, Scored],
    merged: dict[UUID, tuple[UUID, ...]],
) -> None:
    """Take `others` out of the hits; what they stand for goes to `into`."""
    taken = [
        node_id for each in others for node_id in (each.sketch.id, *merged.pop(each.sketch.id, ()))
    ]
    merged[into.sketch.id] = (*merged.get(into.sketch.id, ()), *taken)
    for each in others:
        del hits[each.sketch.id]


def _moved(each: Scored, signal: str, points: float) -> Scored:
    return each._replace(score=each.score + points, signals={**each.signals, signal: points})


def _in_order(scored: Iterable[Scored]) -> list[Scored]:
    return sorted(scored, key=lambda each: (-each.score, -each.sketch.position))


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
        weight, scores_of_leg = weights[leg], [candidate.score for candidate in candidates]
        scores = comparable(leg, scores_of_leg, normalised=normalised, lowered=lowered)
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


STRETCHED = frozenset({KEYWORD, GRAPH})
"""Legs whose scores have no fixed scale: a weighted sum stretches them to [0, 1] first."""
LOWERED = frozenset({VECTOR})
"""Legs whose scores have a scale but no zero of their own: the margin counts from their least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate that is shown, with its scores by signal, and its relevance where it is known."""

    scored: Scored
    scores: Mapping[str, float]
    relevance: float | None = None

    @property
    def id(self) -> UUID:
        """Return the node's id."""
        return self.scored.sketch.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Candidates in order, and how they got there.

    `scored` is the order before duplicates were merged, `kept` after. `measured` is what the second
    pass measured, if there was one, and `reranked` has the reranker's scores of the best, when
    there is one. `judgement` is what `relevance` makes of it, `coverage` what came of the
    question's parts.
    """

    fused: int = 0
    scored: tuple[Scored, ...] = ()
    kept: tuple[Scored, ...] = ()
    merged: Mapping[UUID, tuple[UUID, ...]] = field(
        default_factory=dict["UUID", "tuple[UUID, ...]"]
    )
    measured: Mapping[UUID, Measured] = field(default_factory=dict["UUID", Measured])
    reranked: Mapping[UUID, float] = field(default_factory=dict["UUID", float])
    boosted: int = 0
    judgement: Judgement | None = None
    coverage: Coverage | None = None


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
    points_by_node = leg_points(SUBSCRIPTIONS, legs.get(SUBSCRIPTIONS, ()), recipe)
    return {
        node_id: max(0.0, points - by_words.get(node_id, 0.0))
        for node_id, points in points_by_node.items()
    }


def leg_points(leg: str, candidates: Sequence[Candidate], recipe: Recipe) -> dict[UUID, float]:
    """Return what one leg by itself gives to each node's fused score."""
    weight = recipe.weights.get(leg, 0.0)
    scores = [score for _, score in candidates]
    if recipe.fusion is Fusion.RECIPROCAL_RANK:
        points = [weight / (recipe.rrf_k + rank) for rank in range(1, len(scores) + 1)]
    else:
        lowered = lowered_by(recipe)
        counted = comparable(leg, scores, normalised=STRETCHED, lowered=lowered)
        points = [weight * score for score in counted]
    return {candidate.node_id: part for candidate, part in zip(candidates, points, strict=True)}


def lowered_by(recipe: Recipe) -> frozenset[str]:
    """Return the legs whose scores the recipe's weighted sum counts from their least."""
    return LOWERED if recipe.fusion is Fusion.WEIGHTED_MARGIN else frozenset()


def best_fused(fused: Mapping[UUID, float], recipe: Recipe, limit: int) -> list[UUID]:
    """Return the ids worth scoring, best first: as many as the recipe says, at least `limit`."""
    return sorted(fused, key=fused.__getitem__, reverse=True)[: max(recipe.scored, limit)]


Measure = Callable[["Sequence[UUID]"], Mapping["UUID", Measured]]
"""Reads what the second pass needs of these candidates and measures it."""


def rank(
    sketches: Sequence[Sketch],
    fused: Mapping[UUID, float],
    search: Search,
    legs: Legs = MappingProxyType({}),
    measure: Measure | None = None,
) -> Ranking:
    """Return the candidates that may be results: scored, boosted, duplicates merged.

    With `measure`, and a recipe of two passes, the best of the first are measured and scored again.
    """
    recipe = search.recipe
    shown = without_bookkeeping(sketches, search.filters.labels)
    scored = score_all(shown, fused, search.asked.understanding, recipe, search.at)
    measured: Mapping[UUID, Measured] = {}
    if recipe.second_pass is not None and measure is not None:
        scored = scored[: max(SECOND, search.limit)]
        measured = measure([each.sketch.id for each in scored])
        by_keyword = leg_points(KEYWORD, legs.get(KEYWORD, ()), recipe)
        scored = score_again(scored, measured, fused, by_keyword, recipe)
    scored = boosted(scored, recipe)
    if recipe.present_first and not search.asks_for_a_time:
        scored = newer_first(present_first(scored, search.at))
    unique = deduped(scored) if recipe.dedup else Deduped(kept=tuple(scored), merged={})
    if recipe.one_text and (unified := one_text(unique)) is not unique:
        unique = unified
        by_id = {each.sketch.id: each for each in unique.kept}
        scored = _in_order(by_id.get(each.sketch.id, each) for each in scored)
    return Ranking(
        fused=len(fused) - (len(sketches) - len(shown)),
        scored=tuple(scored),
        kept=unique.kept,
        merged=unique.merged,
        measured=measured,
        boosted=sum(not BOOSTS.isdisjoint(item.signals) for item in scored),
    )


def reordered(ranking: Ranking, scores: Mapping[UUID, float]) -> Ranking:
    """Return the ranking with the nodes in `scores` first, by those scores; the rest follow.

    Equal scores keep their order, and what holds no more stays last.
    """
    read = [item for item in ranking.kept if item.sketch.id in scores]
    rest = [item for item in ranking.kept if item.sketch.id not in scores]
    read.sort(key=lambda item: -scores[item.sketch.id])
    ordered = sorted((*read, *rest), key=lambda item: "past" in item.signals)
    return replace(ranking, kept=tuple(ordered), reranked=scores)


def cut(ranking: Ranking, recipe: Recipe, limit: int) -> tuple[Scored, ...]:
    """Return at most `limit` candidates whose own score reaches the recipe's threshold."""
    least = recipe.threshold
    if least is None:
        return ranking.kept[:limit]
    return tuple(item for item in ranking.kept if item.score >= least)[:limit]


def explained(
    best: Sequence[Scored],
    legs: Mapping[str, Mapping[UUID, float]],
    ranking: Ranking,
    search: Search,
) -> tuple[Ranked, ...]:
    """Return what is shown with its scores: the final one, the legs' own, each signal's part."""
    judgement = ranking.judgement
    return tuple(
        Ranked(
            scored=each,
            scores=_scores(each, legs, ranking, search),
            relevance=judgement.relevance.get(each.sketch.id) if judgement else None,
        )
        for each in best
    )


def _scores(
    each: Scored,
    legs: Mapping[str, Mapping[UUID, float]],
    ranking: Ranking,
    search: Search,
) -> dict[str, float]:
    node_id, reranked = each.sketch.id, ranking.reranked
    found_by = {name: scores[node_id] for name, scores in legs.items() if node_id in scores}
    read = {"rerank": reranked[node_id]} if node_id in reranked else {}
    return {
        "relevance_score": each.score,
        **read,
        **found_by,
        **each.signals,
        **_met(ranking.measured.get(node_id)),
        "decay_score": decay(each.sketch, search.at, search.recipe.decay_factor),
    }


def _met(measured: Measured | None) -> dict[str, float]:
    """Return what relevance counts besides the legs' own scores, where the second pass measured."""
    if measured is None:
        return {}
    late = {} if measured.late is None else {"late_interaction": measured.late}
    return late | ({"time_share": measured.time_share} if measured.time_share else {})
