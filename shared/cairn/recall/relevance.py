"""Whether what was found bears on the question: a probability for each result, and a floor. Pure.

Relevance is a logistic function of a candidate's cosine, of the share of the question's rare words
it has (the keyword leg's score; a time is met by what happened then), of late interaction (how near
its words come to each of the question's), and of how many candidates there are, because the nearest
of a thousand unrelated texts is nearer than the nearest of ten. How it was fitted and what it tells
is in docs/use/recall.md. Not the order of the results: nothing here ranks.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.embedding.models import BGE_SMALL
from cairn.graph.node import Label
from cairn.kernel.text.language import language_of
from cairn.kernel.text.words import QUESTION_WORDS, STOP_WORDS, words
from cairn.recall.questions.understanding import MAX_TERMS, TIME_WORDS, WEAK_WORDS
from cairn.recall.recipes import GRAPH, KEYWORD, VECTOR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Legs = Mapping[str, Sequence[tuple[UUID, float]]]
    Signals = Mapping[str, float]  # what a score is made of, by name

    from cairn.recall.legs import LegOutcome
    from cairn.recall.query import Search
    from cairn.recall.ranking import Ranking
    from cairn.recall.recipes import Recipe
    from cairn.workspace.settings import RecallSettings

MOST_CANDIDATES = 600
"""The size counted where a leg returned as many candidates as it may: the largest ever fitted."""

HELD_TO = "held_to"
"""The name of the floor in what is kept of a search's recipe."""

FEWEST_OWN = 40
"""How many texts of the asker at least a question about them is taken to choose from."""

UNKNOWN_COSINE = 0.55
"""The cosine assumed of a text that has the question's words and no vector yet."""

USUAL_LATE = (-0.237, 0.95)
"""Late interaction of a text without token vectors: this, and this times its cosine."""

_LISTING = """
    all everything happen happened happening happens history info information know known knowledge
    last latest list memories memory new newest news note notes now recent remember remembered
    something stored summary today update updates up
"""
LISTING_WORDS = frozenset(_LISTING.split()) | WEAK_WORDS | TIME_WORDS
"""Words that name no matter: a question of nothing else asks for a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The constants that belong to an embedder, by the name of its model.

    A candidate's relevance is sigmoid(intercept + cosine x its cosine + words x its share of words
    + late x its late interaction + size x ln(how many candidates there are)). A question is
    answerable when one candidate reaches `answerable`; results below `least` are left out.
    `estimated` constants are another embedder's (`estimate`).
    """

    model: str
    intercept: float
    cosine: float
    words: float
    size: float
    answerable: float
    least: float
    late: float = 0.0
    estimated: bool = False

    def relevance(
        self, cosine: float, share: float, candidates: int, late: float | None = None
    ) -> float:
        """Return the probability, in [0, 1], that such a candidate bears on the question.

        Without token vectors, `late` is what is usual at that cosine.
        """
        near = USUAL_LATE[0] + USUAL_LATE[1] * cosine if late is None else late
        size = math.log(min(MOST_CANDIDATES, max(1, candidates)))
        return _sigmoid(
            self.intercept
            + self.cosine * cosine
            + self.words * share
            + self.late * near
            + self.size * size
        )


CALIBRATIONS: Mapping[str, Calibration] = MappingProxyType(
    {
        each.model: each
        for each in (
            Calibration(
                model=BGE_SMALL.name,
                intercept=-6.5,
                cosine=4.22,
                words=4.57,
                late=2.18,
                size=-0.26,
                answerable=0.0155,
                least=0.0047,
            ),
        )
    }
)
"""By model, as `cairn bench calibrate` fits them. A model that is not here has none."""


def calibration_of(model: str, workspace: RecallSettings) -> Calibration | None:
    """Return the constants for an embedder: the workspace's own, else those that ship."""
    own = workspace.calibration
    if own is not None and own.model == model:
        return Calibration(**own.model_dump())
    return CALIBRATIONS.get(model)


class Unjudged(StrEnum):
    """Why results were not held to a floor."""

    OFF = "off"  # the recipe, the workspace or the request has no relevance
    NO_CALIBRATION = "no_calibration"  # this embedder has no constants, and none can be estimated
    ESTIMATED = "estimated"  # nobody fitted constants for this embedder, and no floor was asked for
    NO_LEGS = "no_legs"  # the vector or the keyword leg did not run, or failed
    OTHER_INDEX = "other_index"  # the keyword leg's scores are not shares of the question's words
    LANGUAGE = "language"  # the constants are for English
    LONG = "long"  # more words than the keyword leg looks for
    LABELS = "labels"  # nodes were asked for by label
    LISTING = "listing"  # the question names no matter


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """What results are held to: `least` each of them, `enough` one of them.

    `without_vector` are nodes that were not embedded yet, `without_late` those without token
    vectors; the least late interaction of the others is `late_from`, None where there is none.
    `time_share` is the part of the question's weight that names its time. A question `of_asker`
    chooses among what they said, so that of these only as many count as there are. All of it is
    kept of a search, so that it can be done again.
    """

    calibration: Calibration
    enough: float
    least: float
    without_vector: tuple[UUID, ...] = ()
    without_late: tuple[UUID, ...] = ()
    late_from: float | None = None
    time_share: float = 0.0
    of_asker: bool = False

    def json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self) | {
            "without_vector": [each.hex for each in self.without_vector],
            "without_late": [each.hex for each in self.without_late],
        }


def floor_of(stored: Mapping[str, Any]) -> Floor:
    """Return the floor that `Floor.json` was made of."""
    return Floor(
        calibration=Calibration(**stored["calibration"]),
        enough=stored["enough"],
        least=stored["least"],
        without_vector=tuple(UUID(each) for each in stored["without_vector"]),
        without_late=tuple(UUID(each) for each in stored.get("without_late", ())),
        late_from=stored.get("late_from"),
        time_share=stored.get("time_share", 0.0),
        of_asker=stored.get("of_asker", False),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a search's results are worth. `answerable` is None where nothing could be told.

    `relevance` is by node, of every candidate of a text leg. `floor` is None where it cannot be
    told; where nothing is left out for another reason, its bounds are 0.
    """

    relevance: Mapping[UUID, float] = field(default_factory=dict[UUID, float])
    answerable: bool | None = None
    unjudged: Unjudged | None = None
    floor: Floor | None = None
    left_out: int = 0
    calibration: Calibration | None = None

    def json(self) -> dict[str, Any]:
        """Return what `meta.relevance` says."""
        return {
            "best": round(max(self.relevance.values()), 4) if self.relevance else None,
            "least": self.floor.least if self.floor else None,
            "enough": self.floor.enough if self.floor else None,
            "left_out": self.left_out,
            "unjudged": self.unjudged.value if self.unjudged else None,
            "calibration": self.calibration.model if self.calibration else None,
            "estimated": self.calibration is not None and self.calibration.estimated,
        }


def judged(
    ranking: Ranking,
    outcomes: Mapping[str, LegOutcome],
    search: Search,
    calibration: Calibration | None,
    *,
    without_vector: Sequence[UUID] = (),
) -> Ranking:
    """Return the ranking without what does not bear on the question, and its judgement."""
    reason = _unjudged(outcomes, search, calibration)
    if calibration is None or reason in _UNTOLD:
        return replace(ranking, judgement=Judgement(unjudged=reason, calibration=calibration))
    floor = _floor(search, calibration, reason, ranking, tuple(without_vector))
    legs = {leg: outcome.candidates for leg, outcome in outcomes.items()}
    signals = {each.sketch.id: each.signals for each in ranking.scored}
    relevance = relevance_of(legs, ranking.merged, search.recipe, floor, signals)
    ids = above(floor, [each.sketch.id for each in ranking.kept], relevance, legs)
    judgement = Judgement(
        relevance=relevance,
        answerable=None if reason is Unjudged.ESTIMATED else bool(ids),
        unjudged=reason,
        floor=floor,
        left_out=len(ranking.kept) - len(ids),
        calibration=calibration,
    )
    relevant = tuple(each for each in ranking.kept if each.sketch.id in ids)
    return replace(ranking, kept=relevant, judgement=judgement)


def _floor(
    search: Search,
    calibration: Calibration,
    unjudged: Unjudged | None,
    ranking: Ranking,
    without_vector: tuple[UUID, ...],
) -> Floor:
    enough, least = calibration.answerable, calibration.least
    if search.min_relevance is not None:
        enough = least = search.min_relevance
    if unjudged is not None:
        enough = least = 0.0
    late = {node_id: each.late for node_id, each in ranking.measured.items()}
    time_share = next((each.time_share for each in ranking.measured.values()), 0.0)
    return Floor(
        calibration=calibration,
        enough=enough,
        least=least,
        without_vector=without_vector,
        without_late=tuple(node_id for node_id, near in late.items() if near is None),
        late_from=min((near for near in late.values() if near is not None), default=None),
        time_share=time_share,
        of_asker=search.asked.understanding.of_asker,
    )


def above(
    floor: Floor, ids: Sequence[UUID], relevance: Mapping[UUID, float], legs: Legs
) -> frozenset[UUID]:
    """Return which of the ranked ids may be shown: none when the question is not answerable.

    A node that only another leg found (a walk of the graph, a subscription) has no relevance and
    stays as long as the question is answerable; a walk makes it so, since it began at what the
    question names.
    """
    best = max((relevance.get(node_id, 0.0) for node_id in ids), default=0.0)
    if best < floor.enough and not legs.get(GRAPH):
        return frozenset()
    return frozenset(each for each in ids if relevance.get(each, 1.0) >= floor.least)


def not_refuted(ids: Sequence[UUID], reranked: Mapping[UUID, float]) -> frozenset[UUID]:
    """Return what stays after a reranker read the best: what it gave 0 bears on nothing asked.

    When it gave 0 to all that it read, nothing stays: the others were less likely than these.
    """
    read = [reranked[each] for each in ids if each in reranked]
    if read and not any(read):
        return frozenset()
    return frozenset(each for each in ids if reranked.get(each, 1.0) > 0.0)


def second_look(ranking: Ranking) -> Ranking:
    """Return the reranked results without those refuted, where results are held to a floor."""
    judgement = ranking.judgement
    if judgement is None or judgement.floor is None or not judgement.floor.enough:
        return ranking
    ids = not_refuted([each.sketch.id for each in ranking.kept], ranking.reranked)
    rest = tuple(each for each in ranking.kept if each.sketch.id in ids)
    left_out = judgement.left_out + len(ranking.kept) - len(rest)
    judged_again = replace(judgement, answerable=bool(rest), left_out=left_out)
    return replace(ranking, kept=rest, judgement=judged_again)


def candidates_of(legs: Legs, recipe: Recipe) -> int:
    """Return how many nodes the text legs found; MOST_CANDIDATES when one found all it may."""
    texts = [legs[leg] for leg in (VECTOR, KEYWORD)]
    if any(len(candidates) >= recipe.candidates for candidates in texts):
        return MOST_CANDIDATES
    return len({node_id for candidates in texts for node_id, _ in candidates})


def found_by_words_alone(outcomes: Mapping[str, LegOutcome], recipe: Recipe) -> Sequence[UUID]:
    """Return nodes of which the vector leg might know nothing, because it lacks their vector."""
    vector, keyword = outcomes.get(VECTOR), outcomes.get(KEYWORD)
    if vector is None or keyword is None or len(vector.candidates) >= recipe.candidates:
        return []
    vector_ids = {each.node_id for each in vector.candidates}
    return [each.node_id for each in keyword.candidates if each.node_id not in vector_ids]


_TEXTS = frozenset(
    {
        Label.MEMORY,
        Label.EVENT,
        Label.MESSAGE,
        Label.DOCUMENT,
        Label.SECTION,
        Label.CHUNK,
        Label.REPORT,
    }
)
"""Labels of what is searched for what it says; others are asked for to have them listed."""

_UNTOLD = frozenset(
    {
        Unjudged.OFF,
        Unjudged.NO_CALIBRATION,
        Unjudged.NO_LEGS,
        Unjudged.OTHER_INDEX,
        Unjudged.LANGUAGE,
        Unjudged.LONG,
    }
)
"""Reasons for which no relevance can be told at all, not even of a single result."""


def _unjudged(
    outcomes: Mapping[str, LegOutcome], search: Search, calibration: Calibration | None
) -> Unjudged | None:
    """Return why the results are not held to a floor; None when they are.

    A floor that the request names holds for lists, too.
    """
    if not search.recipe.relevance:
        return Unjudged.OFF
    if calibration is None:
        return Unjudged.NO_CALIBRATION
    legs = [outcomes.get(VECTOR), outcomes.get(KEYWORD)]
    if any(leg is None or leg.failure for leg in legs):
        return Unjudged.NO_LEGS
    if any(leg is not None and leg.by_index for leg in legs):
        return Unjudged.OTHER_INDEX
    question = search.asked.question
    if language_of(question) not in (None, "en"):
        return Unjudged.LANGUAGE
    if len(search.asked.understanding.terms) >= MAX_TERMS:
        return Unjudged.LONG
    if search.request.min_relevance is not None:
        return None
    if calibration.estimated and search.min_relevance is None:
        return Unjudged.ESTIMATED
    if not _TEXTS.issuperset(search.request.labels):
        return Unjudged.LABELS
    return Unjudged.LISTING if names_no_matter(question) else None


def names_no_matter(question: str) -> bool:
    """Return whether a question has only words that match anything, or that name a time."""
    small = STOP_WORDS | QUESTION_WORDS | LISTING_WORDS
    return all(word in small or word.isdigit() for word in words(question))


def relevance_of(
    legs: Legs,
    merged: Mapping[UUID, Sequence[UUID]],
    recipe: Recipe,
    floor: Floor,
    signals: Mapping[UUID, Signals],
) -> dict[UUID, float]:
    """Return the relevance of every node a text leg found; a merged one's is that of the best."""
    cosines, words = dict(legs[VECTOR]), dict(legs[KEYWORD])
    lowest = recipe.minimum_cosine
    if len(cosines) >= recipe.candidates:
        lowest = min(cosines.values())
    unknown = dict.fromkeys(floor.without_vector, UNKNOWN_COSINE)
    late = late_of(signals, recipe, floor)
    size = candidates_of(legs, recipe)
    own = {node_id for node_id, parts in signals.items() if floor.of_asker and "speaker" in parts}
    own_size = min(size, max(FEWEST_OWN, len(own)))
    relevance = {
        node_id: floor.calibration.relevance(
            cosines.get(node_id, unknown.get(node_id, lowest)),
            share_of(words.get(node_id, 0.0), signals.get(node_id, {}), recipe, floor),
            own_size if node_id in own else size,
            late.get(node_id),
        )
        for node_id in {**cosines, **words}
    }
    for node_id, others in merged.items():
        scores = [relevance[each] for each in (node_id, *others) if each in relevance]
        if scores:
            relevance[node_id] = max(scores)
    return relevance


def share_of(words: float, signals: Signals, recipe: Recipe, floor: Floor) -> float:
    """Return the share of the question that a candidate's words meet, and when it happened."""
    second = recipe.second_pass
    if not floor.time_share or second is None or not second.time:
        return words
    return min(1.0, words + floor.time_share * signals.get("time", 0.0) / second.time)


def late_of(signals: Mapping[UUID, Signals], recipe: Recipe, floor: Floor) -> dict[UUID, float]:
    """Return the late interaction of the nodes that have one, from their points in the score.

    The second pass counts it from the least of them, so a node without points has the least.
    """
    weight = recipe.second_pass.late if recipe.second_pass else 0.0
    if not weight or floor.late_from is None:
        return {}
    lacking = {*floor.without_late, *floor.without_vector}
    return {
        node_id: floor.late_from + parts.get("late", 0.0) / weight
        for node_id, parts in signals.items()
        if node_id not in lacking
    }


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value))))
