"""Which weights rank some questions best: results ranked again, weights chosen by trying. Pure.

Nothing is asked here: results come with what each leg and signal gave them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.recall.searches.explain import FACTORS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

GRID = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
"""What a weight may be multiplied with."""
CUTS = (5, 10, 20)
"""The weights are chosen for the mean of recall at these."""
ROUNDS = 10
LEAST_GAIN = 1e-9
DECIMALS = 12  # sums in another order differ beyond these; equal scores keep their order


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A result: the turns it stands for, and (sum of `points` by leg and signal) x `factor`."""

    turns: frozenset[str]
    points: Mapping[str, float]
    factor: float

    def score(self, multipliers: Mapping[str, float]) -> float:
        """Return the score with each leg's and signal's points multiplied; 1.0 unless named."""
        points = sum(value * multipliers.get(name, 1.0) for name, value in self.points.items())
        return round(points * self.factor, DECIMALS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question's evidence and its results, best first."""

    evidence: frozenset[str]
    results: tuple[Weighed, ...]


def weighed(contributions: Mapping[str, float], turns: frozenset[str]) -> Weighed:
    """Return a result from the contributions of an explained search.

    Those of factors are points too there: what multiplying changed. The factor on the sum is 1.0
    when the sum is 0, as nothing can be said of it.
    """
    points = {name: value for name, value in contributions.items() if name not in FACTORS}
    total = sum(points.values())
    factor = sum(contributions.values()) / total if total else 1.0
    return Weighed(turns=turns, points=points, factor=factor)


def ranked(answered: Answered, multipliers: Mapping[str, float]) -> tuple[frozenset[str], ...]:
    """Return the results' turns, best first with these multipliers; ties keep their order."""
    best = sorted(answered.results, key=lambda result: -result.score(multipliers))
    return tuple(item.turns for item in best)


class Trial:
    """Measures the same questions with many multipliers: arrays (questions, results, names).

    Each turn is held by one result of a question at most, as equal turns are stored once.
    """

    def __init__(self, answered: Sequence[Answered], names: Sequence[str]) -> None:
        import numpy as np

        self._names = tuple(names)
        shape = (len(answered), max(len(each.results) for each in answered))
        self._points = np.zeros((*shape, len(self._names)))
        self._factors = np.ones(shape)
        self._found = np.zeros(shape)  # the share of the evidence each result is
        self._missing = np.ones(shape, dtype=bool)
        for row, each in enumerate(answered):
            for place, result in enumerate(each.results):
                self._points[row, place] = [result.points.get(name, 0.0) for name in self._names]
                self._factors[row, place] = result.factor
                hits = len(result.turns & each.evidence)
                self._found[row, place] = hits / len(each.evidence)
                self._missing[row, place] = False

    def __call__(self, multipliers: Mapping[str, float]) -> float:
        """Return the mean over questions and `CUTS` of evidence recall."""
        import numpy as np

        by_name = np.array([multipliers.get(name, 1.0) for name in self._names])
        scores: Floats = np.round((self._points @ by_name) * self._factors, DECIMALS)
        scores[self._missing] = -np.inf
        order = (-scores).argsort(axis=1, kind="stable")[:, : max(CUTS)]
        found = np.take_along_axis(self._found, order, axis=1)
        return sum(float(found[:, :cut].sum(axis=1).mean()) for cut in CUTS) / len(CUTS)


def chosen(answered: Sequence[Answered]) -> dict[str, float]:
    """Return the multiplier of each leg and signal that ranks these questions best."""
    names = sorted({name for each in answered for result in each.results for name in result.points})
    if not names:
        return {}
    return ascend(Trial(answered, names), names)


def ascend(value: Callable[[Mapping[str, float]], float], names: Sequence[str]) -> dict[str, float]:
    """Return multipliers from `GRID` found by coordinate ascent from 1.0 for each name.

    One name after the other takes what raises `value` most, the nearest to 1.0 of equals, until a
    round changes nothing. That is a summit, not always the highest.
    """
    best = dict.fromkeys(names, 1.0)
    reached = value(best)
    steps = sorted(GRID, key=lambda step: abs(step - 1.0))
    for _ in range(ROUNDS):
        before = reached
        for name in names:
            for step in steps:
                tried = {**best, name: step}
                if (found := value(tried)) > reached + LEAST_GAIN:
                    best, reached = tried, found
        if reached == before:
            break
    return best
