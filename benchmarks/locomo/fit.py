"""Weights fitted to questions: what makes their evidence likely among the results.

A listwise softmax. Convex, so there is one summit and it does not matter where one begins. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from benchmarks.locomo.weights import Answered

    Floats = NDArray[np.float64]

RIDGE = 0.005
"""What the square of a standardised weight costs."""
STEPS = 60
SMALL = 1e-9
TIED = {"keyword": "words", "whole": "vector"}
"""Points that are one term's in two parts, and get one weight."""
UNIT = "vector"
"""Its weight stays what it is: only proportions rank."""


def fitted(answered: Sequence[Answered]) -> dict[str, float]:
    """Return what the points of each name are multiplied with, 1.0 for `vector`.

    A question counts whose evidence is among its results. Empty when there is none.
    """
    import numpy as np

    names = sorted(
        {TIED.get(name, name) for one in answered for each in one.results for name in each.points}
    )
    lists = [each for one in answered if (each := _list(one, names)) is not None]
    if not lists or UNIT not in names:
        return {}
    every = np.array([row for points, _ in lists for row in points])
    scale = np.maximum(every.std(axis=0), SMALL)
    weights = _climb([(points / scale, target) for points, target in lists], len(names)) / scale
    unit = float(weights[names.index(UNIT)])
    if unit <= 0.0:
        return {}
    found = {name: float(weight) / unit for name, weight in zip(names, weights, strict=True)}
    return found | {name: found[other] for name, other in TIED.items() if other in found}


def _list(one: Answered, names: Sequence[str]) -> tuple[Floats, Floats] | None:
    """Return a question's points (results, names) and the share of its evidence each result is."""
    import numpy as np

    target = np.array([float(not each.turns.isdisjoint(one.evidence)) for each in one.results])
    if not target.any():
        return None
    rows = [_tied(each.points) for each in one.results]
    points = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    factors = np.array([each.factor for each in one.results])
    return points * factors[:, None], target / target.sum()


def _tied(points: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in points.items():
        name = TIED.get(name, name)
        found[name] = found.get(name, 0.0) + value
    return found


def _climb(lists: Sequence[tuple[Floats, Floats]], size: int) -> Floats:
    """Return the weights where the mean log-likelihood less the ridge is greatest (Newton)."""
    import numpy as np

    weights = np.zeros(size)
    for _ in range(STEPS):
        slope, bend = -2.0 * RIDGE * weights, 2.0 * RIDGE * np.eye(size)
        for points, target in lists:
            scores = points @ weights
            share = np.exp(scores - scores.max())
            share /= share.sum()
            mean = share @ points
            slope += (target @ points - mean) / len(lists)
            bend += ((points.T * share) @ points - np.outer(mean, mean)) / len(lists)
        step = np.linalg.solve(bend, slope)
        weights = weights + step / max(1.0, float(abs(step).max()))
        if float(abs(step).max()) < SMALL:
            break
    return weights
