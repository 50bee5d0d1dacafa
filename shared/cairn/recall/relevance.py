"""Whether what was found bears on the question: a probability for each result, and a floor. Pure.

Relevance is a logistic function of three things about a candidate: its cosine, the share of the
question's rare words it has (the keyword leg's score), and of how many it is the best, because the
nearest of a thousand unrelated texts is nearer than the nearest of ten. How it was fitted and what
it tells is in docs/use/recall.md. Not the order of the results: nothing here ranks.
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
from cairn.recall.questions.understanding import MAX_TERMS, WEAK_WORDS
from cairn.recall.recipes import GRAPH, KEYWORD, VECTOR
from cairn.recall.scoring import TIME_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Legs = Mapping[str, Sequence[tuple[UUID, float]]]

    from cairn.recall.legs import LegOutcome
    from cairn.recall.query import Search
    from cairn.recall.ranking import Ranking
    from cairn.recall.recipes import Recipe
    from cairn.workspace.settings import RecallSettings

MOST_CANDIDATES = 600
"""The size counted where a leg returned as many candidates as it may: the largest ever fitted."""

HELD_TO = "held_to"
"""The name of the floor in what is kept of a search's recipe."""

UNKNOWN_COSINE = 0.55
"""The cosine assumed of a text that has the question's words and no vector yet."""

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

    A candidate's relevance is sigmoid(intercept + cosine x its cosine + words x its keyword score
    + size x ln(how many candidates there are)). A question is answerable when one candidate
    reaches `answerable`; results below `least` are left out.
    """

    model: str
    intercept: float
    cosine: float
    words: float
    size: float
    answerable: float
    least: float

    def relevance(self, cosine: float, share: float, candidates: int) -> float:
        """Return the probability, in [0, 1], that such a candidate bears on the question."""
        size = math.log(min(MOST_CANDIDATES, max(1, candidates)))
        return _sigmoid(
            self.intercept + self.cosine * cosine + self.words * share + self.size * size
        )


CALIBRATIONS: Mapping[str, Calibration] = MappingProxyType(
    {
        each.model: each
        for each in (
            Calibration(
                model=BGE_SMALL.name,
                intercept=-8.2,
                cosine=9.19,
                words=4.86,
                size=-0.336,
                answerable=0.0113,
                least=0.0042,
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
    NO_CALIBRATION = "no_calibration"  # nobody fitted constants for this embedder
    NO_LEGS = "no_legs"  # the vector or the keyword leg did not run, or failed
    OTHER_INDEX = "other_index"  # the keyword leg's scores are not shares of the question's words
    LANGUAGE = "language"  # the constants are for English
    LONG = "long"  # more words than the keyword leg looks for
    LABELS = "labels"  # nodes were asked for by label
    LISTING = "listing"  # the question names no matter


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """What results are held to: `least` each of them, `enough` one of them.

    `without_vector` are nodes that were not embedded yet. Kept of a search, so that it can be
    done again.
    """

    calibration: Calibration
    enough: float
    least: float
    without_vector: tuple[UUID, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self) | {"without_vector": [each.hex for each in self.without_vector]}


def floor_of(kept: Mapping[str, Any]) -> Floor:
    """Return the floor that `Floor.json` was made of."""
    return Floor(
        calibration=Calibration(**kept["calibration"]),
        enough=kept["enough"],
        least=kept["least"],
        without_vector=tuple(UUID(each) for each in kept["without_vector"]),
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
    floor = _floor(search, calibration, reason, tuple(without_vector))
    legs = {leg: found.candidates for leg, found in outcomes.items()}
    relevance = relevance_of(legs, ranking.merged, search.recipe, floor)
    ids = above(floor, [each.sketch.id for each in ranking.kept], relevance, legs)
    judgement = Judgement(
        relevance=relevance,
        answerable=bool(ids),
        unjudged=reason,
        floor=floor,
        left_out=len(ranking.kept) - len(ids),
        calibration=calibration,
    )
    kept = tuple(each for each in ranking.kept if each.sketch.id in ids)
    return replace(ranking, kept=kept, judgement=judgement)


def _floor(
    search: Search,
    calibration: Calibration,
    unjudged: Unjudged | None,
    without_vector: tuple[UUID, ...],
) -> Floor:
    enough, least = calibration.answerable, calibration.least
    if search.min_relevance is not None:
        enough = least = search.min_relevance
    if unjudged is not None:
        enough = least = 0.0
    return Floor(calibration=calibration, enough=enough, least=least, without_vector=without_vector)


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


def candidates_of(legs: Legs, recipe: Recipe) -> int:
    """Return how many nodes the text legs found; MOST_CANDIDATES when one found all it may."""
    texts = [legs[leg] for leg in (VECTOR, KEYWORD)]
    if any(len(found) >= recipe.candidates for found in texts):
        return MOST_CANDIDATES
    return len({node_id for found in texts for node_id, _ in found})


def found_by_words_alone(outcomes: Mapping[str, LegOutcome], recipe: Recipe) -> Sequence[UUID]:
    """Return nodes of which the vector leg might know nothing, because it lacks their vector."""
    vector, keyword = outcomes.get(VECTOR), outcomes.get(KEYWORD)
    if vector is None or keyword is None or len(vector.candidates) >= recipe.candidates:
        return []
    known = {each.node_id for each in vector.candidates}
    return [each.node_id for each in keyword.candidates if each.node_id not in known]


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
    if not _TEXTS.issuperset(search.request.labels):
        return Unjudged.LABELS
    return Unjudged.LISTING if names_no_matter(question) else None


def names_no_matter(question: str) -> bool:
    """Return whether a question has only words that match anything, or that name a time."""
    small = STOP_WORDS | QUESTION_WORDS | LISTING_WORDS
    return all(word in small or word.isdigit() for word in words(question))


def relevance_of(
    legs: Legs, merged: Mapping[UUID, Sequence[UUID]], recipe: Recipe, floor: Floor
) -> dict[UUID, float]:
    """Return the relevance of every node a text leg found; a merged one's is that of the best."""
    cosines, shares = dict(legs[VECTOR]), dict(legs[KEYWORD])
    lowest = recipe.minimum_cosine
    if len(cosines) >= recipe.candidates:
        lowest = min(cosines.values())
    unknown = dict.fromkeys(floor.without_vector, UNKNOWN_COSINE)
    size = candidates_of(legs, recipe)
    relevance = {
        node_id: floor.calibration.relevance(
            cosines.get(node_id, unknown.get(node_id, lowest)), shares.get(node_id, 0.0), size
        )
        for node_id in {**cosines, **shares}
    }
    for node_id, others in merged.items():
        told = [relevance[each] for each in (node_id, *others) if each in relevance]
        if told:
            relevance[node_id] = max(told)
    return relevance


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value))))
