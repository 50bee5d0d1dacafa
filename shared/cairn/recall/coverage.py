"""Whether the first results have something for each facet of a question, and sets of them. Pure.

A facet that none of the first results speaks of gets the best that speaks of it, at their end: in
the place of the last that no facet needs. So what answers the whole question stays where it is.
What a question wants a set of is taken from everything that was ranked. Not ranking by facets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.stems import stem
from cairn.kernel.text.words import words
from cairn.recall.questions.facets import Order, SetRule
from cairn.recall.questions.understanding import nearness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.recall.questions.facets import Facet, Parts, WantedSet
    from cairn.recall.questions.understanding import TimeHint
    from cairn.recall.ranking import Ranking
    from cairn.recall.records import Sketch
    from cairn.recall.scoring import Scored

    Bound = tuple[Order, datetime]

READ = 100
"""How many of the best are looked at for a facet."""
MOST_OF_SET = 100
"""Members of a set that are listed; further ones are counted."""
HALF, MOST = 0.5, 2 / 3
"""The share of a facet's own words that speaks of it, and of a set's matter that belongs to it."""
NEAR = 0.75
"""The first or last of a set goes first when it has this share of the best result's score."""

_STEP = 1e-6
FACET = "facet"
"""The signal of what was moved for a facet or for the first or last of a set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """A facet and what speaks of it among the first results; `moved` when it was put there.

    `whole` says that it speaks of what the facets have in common, too.
    """

    facet: Facet
    node_id: UUID | None = None
    whole: bool = False
    moved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSet:
    """What was found of a wanted set, in order of time: when by node. `counted` is how many."""

    wanted: WantedSet
    members: tuple[tuple[UUID, datetime], ...]
    counted: int
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What came of a question's parts. `second_round` says that bare facets were searched for."""

    parts: Parts
    covered: tuple[Covered, ...] = ()
    second_round: bool = False
    found: FoundSet | None = None

    def facets_json(self) -> dict[str, Any] | None:
        """Return what `meta.facets` says; None for a question without facets."""
        parts = self.parts
        if not parts.facets or parts.rule is None:
            return None
        return {
            "rule": parts.rule.value,
            "source": parts.source.value,
            "second_round": self.second_round,
            "facets": [
                {
                    "question": each.facet.question,
                    "order": each.facet.order.value if each.facet.order else None,
                    "node_id": str(each.node_id) if each.node_id else None,
                    "whole": each.whole,
                    "moved": each.moved,
                }
                for each in self.covered
            ],
        }

    def set_json(self) -> dict[str, Any] | None:
        """Return what `meta.set` says; None for a question that asks about no set."""
        if self.found is None:
            return None
        asked_set, members = self.found.wanted, self.found.members
        return {
            "rule": asked_set.rule.value,
            "said": asked_set.said,
            "found": self.found.counted,
            "complete": self.found.complete,
            "members": [
                {"node_id": str(node_id), "occurred_at": format_timestamp(at)}
                for node_id, at in members
            ],
        }


def covering(ranked: Sequence[Scored], parts: Parts, depth: int) -> list[Covered]:
    """Return for each facet the first of the best `depth` that speaks of it, the fuller first."""
    return [
        _best(ranked[:depth], facet, bound_of(ranked, parts, at))
        for at, facet in enumerate(parts.facets)
    ]


def bare(ranking: Ranking, parts: Parts) -> tuple[tuple[Facet, Bound | None], ...]:
    """Return the facets of which nothing ranked speaks, with what they share and in their time."""
    return tuple(
        (each.facet, bound_of(ranking.kept, parts, at))
        for at, each in enumerate(covering(ranking.kept, parts, READ))
        if not each.whole
    )


def cover(ranking: Ranking, parts: Parts, depth: int) -> tuple[Ranking, tuple[Covered, ...]]:
    """Return the ranking with something for each facet among the first `depth`, where there is."""
    ranked = ranking.kept
    covered = covering(ranked, parts, depth)
    moved: list[Scored] = []
    places: list[int] = []
    for at, each in enumerate(covered):
        if each.whole:
            continue
        better = _best(ranked[depth:READ], each.facet, bound_of(ranked, parts, at))
        if better.node_id is None or (each.node_id is not None and not better.whole):
            continue
        if better.node_id not in {candidate.sketch.id for candidate in moved}:
            place = _free_place(ranked[:depth], places, covered, parts)
            if place is None:
                break
            places.append(place)
            moved.append(
                next(candidate for candidate in ranked if candidate.sketch.id == better.node_id)
            )
        covered[at] = replace(better, moved=True)
    return moved_by(ranking, _points(ranked, moved, places)), tuple(covered)


def found_set(
    nodes: Iterable[Sketch],
    asked_set: WantedSet,
    hint: TimeHint | None,
    *,
    at_entity: frozenset[UUID] = frozenset(),
    complete: bool,
) -> FoundSet:
    """Return the nodes that belong to the set, the earliest first.

    Those `at_entity` are about what the question names, whatever they call it.
    """
    members = sorted(
        (each.occurred_at, each.position, each.id)
        for each in nodes
        if _belongs(each, asked_set, hint, is_named=each.id in at_entity)
    )
    listed = members[-MOST_OF_SET:] if asked_set.rule is SetRule.LAST else members[:MOST_OF_SET]
    return FoundSet(
        wanted=asked_set,
        members=tuple((node_id, at) for at, _, node_id in listed),
        counted=len(members),
        complete=complete,
    )


def extreme_first(ranking: Ranking, members: FoundSet, depth: int) -> Ranking:
    """Return the ranking with the set's first or last in front, if it is among the first `depth`.

    And near the best result: otherwise it is another matter.
    """
    rule, top = members.wanted.rule, ranking.kept[:depth]
    if rule not in (SetRule.FIRST, SetRule.LAST) or len(top) < 2:
        return ranking
    least = top[0].score * NEAR
    good = {each.sketch.id for each in top if each.score >= least and "past" not in each.signals}
    times = [(at, node_id) for node_id, at in members.members if node_id in good]
    if not times:
        return ranking
    _, chosen = min(times) if rule is SetRule.FIRST else max(times)
    candidate = next(each for each in top if each.sketch.id == chosen)
    if candidate is top[0]:
        return ranking
    return moved_by(ranking, {chosen: top[0].score - candidate.score + _STEP})


def moved_by(ranking: Ranking, moved: Mapping[UUID, float]) -> Ranking:
    """Return the ranking with these points added, as a signal, and everything in order again."""
    if not moved:
        return ranking

    def placed(items: Iterable[Scored]) -> tuple[Scored, ...]:
        changed = [
            each._replace(
                score=each.score + points,
                signals={**each.signals, FACET: each.signals.get(FACET, 0.0) + points},
            )
            if (points := moved.get(each.sketch.id))
            else each
            for each in items
        ]
        return tuple(sorted(changed, key=lambda each: (-each.score, -each.sketch.position)))

    return replace(ranking, scored=placed(ranking.scored), kept=placed(ranking.kept))


def bound_of(ranked: Sequence[Scored], parts: Parts, at: int) -> Bound | None:
    """Return before or after which moment a facet of a sequence must lie."""
    order = parts.facets[at].order
    if order is None:
        return None
    anchor = _best(ranked[:READ], parts.facets[0], None)
    moments = [each.sketch.occurred_at for each in ranked if each.sketch.id == anchor.node_id]
    return (order, moments[0]) if moments else None


def _best(items: Sequence[Scored], facet: Facet, bound: Bound | None) -> Covered:
    partly: UUID | None = None
    for each in items:
        if "past" in each.signals or not _lies(each.sketch, bound):
            continue
        node_stems = _stems(each.sketch)
        if _share(facet.terms, node_stems) < HALF:
            continue
        if not facet.matter or _share(facet.matter, node_stems) > 0:
            return Covered(facet=facet, node_id=each.sketch.id, whole=True)
        partly = partly or each.sketch.id
    return Covered(facet=facet, node_id=partly)


def _lies(node: Sketch, bound: Bound | None) -> bool:
    if bound is None:
        return True
    order, moment = bound
    return node.occurred_at < moment if order is Order.BEFORE else node.occurred_at > moment


def _free_place(
    top: Sequence[Scored], taken: Sequence[int], covered: Sequence[Covered], parts: Parts
) -> int | None:
    """Return the last place whose result no facet needs and that does not speak of them all."""
    needed = {each.node_id for each in covered}
    for place in range(len(top) - 1, 0, -1):
        candidate = top[place]
        if place in taken or candidate.sketch.id in needed:
            continue
        node_stems = _stems(candidate.sketch)
        if not all(_share(facet.terms, node_stems) >= HALF for facet in parts.facets):
            return place
    return None


def _points(
    ranked: Sequence[Scored], moved: Sequence[Scored], places: Sequence[int]
) -> dict[UUID, float]:
    """Return what each needs to stand before the first whose place is taken, in their order."""
    if not moved:
        return {}
    first = min(places)
    low, high = ranked[first].score, ranked[first - 1].score
    step = (high - low) / (len(moved) + 1) or _STEP
    return {
        candidate.sketch.id: low + step * (len(moved) - number) - candidate.score
        for number, candidate in enumerate(moved)
    }


def _belongs(node: Sketch, asked_set: WantedSet, hint: TimeHint | None, *, is_named: bool) -> bool:
    if hint is not None and nearness(hint, node.occurred_at) < 1.0:
        return False
    node_stems = _stems(node)
    if not is_named and _share(asked_set.names, node_stems, empty=1.0) < HALF:
        return False
    return _share(asked_set.matter, node_stems, empty=1.0) >= MOST


def _share(terms: Sequence[str], node_stems: frozenset[str], *, empty: float = 0.0) -> float:
    if not terms:
        return empty
    return sum(stem(term) in node_stems for term in terms) / len(terms)


def _stems(node: Sketch) -> frozenset[str]:
    """Return the stems of a text's words, and of who said it or whom it is about."""
    around = (node.source_agent, node.subject, node.canonical_name)
    texts = (node.text, *(name for name in around if name))
    return frozenset(stem(word) for text in texts for word in words(text))
