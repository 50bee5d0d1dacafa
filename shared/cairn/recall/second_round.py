"""A second round of search: for facets that the first left bare, and for all of a wanted set.

Over the same legs, once, within a second. What it finds is no better than the middle of what the
whole question found, so it cannot push that down. Not deciding what is bare (`coverage`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from statistics import median
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.kernel.errors import Unavailable
from cairn.recall.coverage import found_set
from cairn.recall.questions.facets import Order
from cairn.recall.ranking import bookkeeping, deduped, one_text
from cairn.recall.recipes import GRAPH, KEYWORD, VECTOR
from cairn.recall.records import Candidate
from cairn.recall.scoring import Scored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.stores import Stores
    from cairn.recall.coverage import Bound, FoundSet
    from cairn.recall.legs import LegOutcome, Legs
    from cairn.recall.query import Search
    from cairn.recall.questions.facets import Facet, WantedSet
    from cairn.recall.records import Filters

SECONDS = 1.0
MOST_NEW = 20
"""Candidates a leg may add for a facet."""
MOST_MEMBERS = 400
"""Candidates of a set that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Ids that may belong to a set; those `at_entity` hang on what the question names."""

    node_ids: tuple[UUID, ...] = ()
    at_entity: frozenset[UUID] = frozenset()
    complete: bool = False


def widened(
    legs: Legs,
    search: Search,
    first: Mapping[str, LegOutcome],
    bare: Sequence[tuple[Facet, Bound | None]],
    *,
    answered: bool,
) -> tuple[dict[str, LegOutcome], tuple[str, ...]]:
    """Return the first round's outcomes with candidates for each bare facet, and what failed.

    When the whole question has no answer (`answered` False), facets count by themselves.
    """
    outcomes, trouble = dict(first), dict[str, None]()
    recipe = replace(search.recipe, weights=_only(search, VECTOR, KEYWORD), candidates=MOST_NEW)
    end = legs.stopwatch() + SECONDS
    for facet, bound in bare:
        left_ms = int((end - legs.stopwatch()) * 1000)
        if left_ms < 1:
            trouble["facets: late"] = None
            break
        wider = replace(
            search,
            recipe=recipe,
            wordings=(facet.question,),
            filters=_bounded(search.filters, bound),
        )
        try:
            second = replace(legs, timeout_ms=min(legs.timeout_ms, left_ms)).run(wider)
        except Unavailable as error:
            trouble[f"facets: {error.reason}"] = None
            continue
        for leg, outcome in second.items():
            if outcome.failure:
                trouble[f"facets: {leg} {outcome.failure}"] = None
            limit = search.limit if answered else None
            outcomes[leg] = _joined(first[leg], outcomes[leg], outcome, limit=limit)
    return outcomes, tuple(trouble)


def gathered(legs: Legs, search: Search, asked_set: WantedSet) -> tuple[Gathered, tuple[str, ...]]:
    """Return what the index of words and the entities that are named have for a set."""
    names = " ".join(asked_set.names)
    running = {KEYWORD: 1.0, **({GRAPH: 1.0} if names and legs.graph is not None else {})}
    members_search = replace(
        search,
        recipe=replace(search.recipe, weights=MappingProxyType(running), candidates=MOST_MEMBERS),
        asked=replace(search.asked, question=names),
        wordings=(" ".join(asked_set.matter or asked_set.names),),
        workspace=search.workspace.model_copy(update={"max_depth": 1}),
    )
    timeout = min(legs.timeout_ms, int(SECONDS * 1000))
    try:
        outcomes = replace(legs, timeout_ms=timeout).run(members_search)
    except Unavailable as error:
        return Gathered(), (f"set: {error.reason}",)
    trouble = tuple(
        f"set: {leg} {outcome.failure}" for leg, outcome in outcomes.items() if outcome.failure
    )
    ids = dict.fromkeys(
        each.node_id for outcome in outcomes.values() for each in outcome.candidates
    )
    graph = outcomes.get(GRAPH)
    cut = any(len(outcome.candidates) >= MOST_MEMBERS for outcome in outcomes.values())
    walked_all = graph is None or graph.graph is None or not graph.graph.truncated
    return Gathered(
        node_ids=tuple(ids),
        at_entity=frozenset(each.node_id for each in graph.candidates) if graph else frozenset(),
        complete=not trouble and not cut and walked_all and len(ids) <= MOST_MEMBERS,
    ), trouble


def read_set(stores: Stores, search: Search, asked_set: WantedSet, ids: Gathered) -> FoundSet:
    """Return what of the gathered ids belongs to the set, one thing once."""
    sketches = stores.node_reader.sketch(ids.node_ids[:MOST_MEMBERS], search.filters)
    nodes = [
        Scored(sketch=each, score=0.0, signals={})
        for each in sketches
        if not bookkeeping(each.label, each.text, each.kind)
    ]
    unique = one_text(deduped(nodes))
    return found_set(
        (each.sketch for each in unique.kept),
        asked_set,
        search.asked.understanding.hint,
        at_entity=ids.at_entity,
        complete=ids.complete,
    )


def _only(search: Search, *legs: str) -> Mapping[str, float]:
    weights = search.recipe.weights
    return MappingProxyType({leg: weights[leg] for leg in legs if weights.get(leg)})


def _bounded(filters: Filters, bound: Bound | None) -> Filters:
    """Return the filters with what lies before or after a moment only."""
    if bound is None:
        return filters
    order, moment = bound
    if order is Order.BEFORE:
        until = filters.occurred_to
        return replace(filters, occurred_to=min(until, moment) if until else moment)
    later = moment + timedelta(microseconds=1)
    since = filters.occurred_from
    return replace(filters, occurred_from=max(since, later) if since else later)


def _joined(
    first: LegOutcome, so_far: LegOutcome, outcome: LegOutcome, *, limit: int | None
) -> LegOutcome:
    """Return a leg's outcome with what it found for a facet.

    With a `limit` scores stay between the leg's least and the middle of its best `limit`.
    """
    by_id = {each.node_id: each.score for each in so_far.candidates}
    scores = [each.score for each in first.candidates]
    least, most = (
        (min(scores), median(scores[:limit])) if limit and scores else (-1.0, float("inf"))
    )
    for node_id, score in outcome.candidates:
        by_id[node_id] = max(by_id.get(node_id, least), min(score, most))
    ranked = sorted(by_id.items(), key=lambda each: -each[1])
    return replace(so_far, candidates=tuple(Candidate(node_id, score) for node_id, score in ranked))
