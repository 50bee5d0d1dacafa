"""Fits the constants of relevance for an embedder, and draws how honest they are. No searching.

A candidate is one of the first results of a question: its cosine, its share of words, its late
interaction, the logarithm of how many candidates there were, and whether it is evidence. The first
three count in fixed proportions (`SHAPE`); how much they count together, and the size, is fitted by
a logistic regression, in which each conversation is scored by constants fitted on the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[numpy.float64]

np = cast("Any", numpy)  # its stubs leave types of arrays half unknown

LOST = 0.005
"""What recall at 10 may lose to the bound of answerable questions."""
BELOW = 1.2
"""How far `least` is below `answerable`, in logits: a good question keeps its weaker results."""
SHAPE = (1.0, 1.77, 0.59)
"""What cosine, words and late interaction count to each other, each by its standard deviation.

A free fit weighs the cosine more: it tells evidence from the other results of a question best, and
less well a question that is answered from one that only has the right names.
"""
RIDGE = 1e-3
STEPS = 60
BINS = (0.0, 0.01, 0.03, 0.06, 0.1, 0.2, 0.3, 0.45, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The first results of one question. `evidence` is how many turns answer it, 0 for none.

    `whole` says that all of the conversation was searched, not a part of it.
    """

    conversation: str
    features: Floats  # a row a result: cosine, words, late interaction, ln(candidates)
    relevant: Floats  # 1 or 0 a result
    evidence: int
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Results whose relevance lies between two bounds: what was told, and what was seen."""

    told: float
    seen: float
    results: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The constants, how they do on all, and by `bins` on conversations they were not fitted on."""

    intercept: float
    cosine: float
    words: float
    late: float
    size: float
    answerable: float
    least: float
    bins: tuple[Bin, ...]
    lost: float
    answered_with_nothing: float

    def constants(self, model: str) -> dict[str, Any]:
        """Return what `recall.calibration` of a workspace takes."""
        return {
            "model": model,
            "intercept": round(self.intercept, 2),
            "cosine": round(self.cosine, 2),
            "words": round(self.words, 2),
            "late": round(self.late, 2),
            "size": round(self.size, 2),
            "answerable": round(self.answerable, 4),
            "least": round(self.least, 4),
        }


def calibrate(asked: Sequence[Candidates]) -> Fit:
    """Return the mean of the fits that leave one conversation out, and their reliability.

    The bounds belong to the mean.
    """
    names = sorted({each.conversation for each in asked})
    fits = {name: _fit([each for each in asked if each.conversation != name]) for name in names}
    scored = [_scores(each, fits[each.conversation]) for each in asked]
    mean = np.mean(list(fits.values()), axis=0)
    shipped = [_scores(each, mean) for each in asked]
    bound, lost = _bound(asked, shipped)
    silent = [
        not _answered(scores, bound)
        for each, scores in zip(asked, shipped, strict=True)
        if each.whole and not each.evidence
    ]
    intercept, cosine, words, late, size = (float(each) for each in mean)
    return Fit(
        intercept=intercept,
        cosine=cosine,
        words=words,
        late=late,
        size=size,
        answerable=_sigmoid(bound),
        least=_sigmoid(bound - BELOW),
        bins=_reliability(asked, scored),
        lost=lost,
        answered_with_nothing=float(np.mean(silent)) if silent else 0.0,
    )


def _fit(asked: Sequence[Candidates]) -> Floats:
    """Return the intercept and the weights of the features."""
    features = np.concatenate([each.features for each in asked])
    relevant = np.concatenate([each.relevant for each in asked])
    spread = features[:, :3].std(axis=0)
    shape = np.where(spread > 0, np.array(SHAPE) / np.maximum(spread, 1e-9), 0.0)
    both = np.column_stack([features[:, :3] @ shape, features[:, 3]])
    intercept, much, size = _logistic(both, relevant)
    return np.array([intercept, *(much * shape), size])


def _logistic(features: Floats, relevant: Floats) -> Floats:
    """Return intercept and weights of a logistic regression, by Newton's method."""
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    rows = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    found = np.zeros(rows.shape[1])
    ridge = np.full(rows.shape[1], RIDGE)
    ridge[0] = 0.0
    for _ in range(STEPS):
        told = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (told - relevant) / len(rows) + ridge * found
        curve = (rows * (told * (1 - told))[:, None]).T @ rows / len(rows) + np.diag(ridge + 1e-9)
        found = found - np.linalg.solve(curve, slope)
    weights = found[1:] / spread
    return np.concatenate([[found[0] - float(weights @ mean)], weights])


def _scores(asked: Candidates, constants: Floats) -> Floats:
    return constants[0] + asked.features @ constants[1:]


def _bound(asked: Sequence[Candidates], scored: Sequence[Floats]) -> tuple[float, float]:
    """Return the greatest logit that costs at most `LOST` of recall at 10, and what it costs."""
    true = sorted(
        (float(scores.max(initial=-math.inf)), float(each.relevant[:10].sum()) / each.evidence)
        for each, scores in zip(asked, scored, strict=True)
        if each.whole and each.evidence
    )
    lost = 0.0
    for best, recall in true:
        if (lost + recall) / len(true) > LOST:
            return best, lost / len(true)
        lost += recall
    return true[-1][0], lost / len(true)


def _answered(scores: Floats, bound: float) -> bool:
    return bool(len(scores)) and float(scores.max()) >= bound


def _reliability(asked: Sequence[Candidates], scored: Sequence[Floats]) -> tuple[Bin, ...]:
    told = 1 / (1 + np.exp(-np.concatenate(scored)))
    seen = np.concatenate([each.relevant for each in asked])
    bins: list[Bin] = []
    for low, high in pairwise(BINS):
        chosen = (told >= low) & (told < high)
        if chosen.any():
            bins.append(
                Bin(
                    told=float(told[chosen].mean()),
                    seen=float(seen[chosen].mean()),
                    results=int(chosen.sum()),
                )
            )
    return tuple(bins)


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


SIDE, EDGE = 360, 48


def drawing(bins: Sequence[Bin], title: str) -> str:
    """Return the reliability plot as SVG: what was told against what was seen, both logarithmic."""
    low = min(0.001, *(min(each.told, each.seen or 0.001) for each in bins))

    def at(value: float) -> float:
        share = math.log(max(value, low) / low) / math.log(1 / low)
        return SIDE * share

    def point(told: float, seen: float) -> tuple[float, float]:
        return EDGE + at(told), EDGE + SIDE - at(seen)

    ticks = [value for value in (0.001, 0.01, 0.1, 1.0) if value >= low]
    marks: list[str] = []
    for value in ticks:
        x, y = point(value, value)
        marks.append(_text(x, EDGE + SIDE + 18, f"{value:g}", "middle"))
        marks.append(_text(EDGE - 8, y + 4, f"{value:g}", "end"))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (point(b.told, b.seen) for b in bins))
    for each in bins:
        x, y = point(each.told, each.seen)
        marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#1668b8"/>')
        marks.append(_text(x + 8, y + 14, f"{each.results:,}", "start"))
    size = SIDE + 2 * EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" '
        'font-family="sans-serif" font-size="11" fill="#333">\n'
        f'<rect width="{size}" height="{size}" fill="#fff"/>\n'
        f'<rect x="{EDGE}" y="{EDGE}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#999"/>\n'
        f'<line x1="{EDGE}" y1="{EDGE + SIDE}" x2="{EDGE + SIDE}" y2="{EDGE}" stroke="#999" '
        'stroke-dasharray="4 4"/>\n'
        f'<polyline points="{line}" fill="none" stroke="#1668b8"/>\n'
        + "\n".join(marks)
        + "\n"
        + _text(size / 2, 24, title, "middle")
        + "\n"
        + _text(size / 2, size - 8, "told: relevance", "middle")
        + "\n"
        + f'<g transform="translate(12 {size / 2}) rotate(-90)">'
        + _text(0, 0, "seen: share that is evidence", "middle")
        + "</g>\n</svg>\n"
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
