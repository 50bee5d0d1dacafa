"""What is done by a sentence, where its meaning can be read: a linear model beside the rules.

Multinomial logistic regression over the sentence's vector, the forms that the rules know and its
frequent words (decision 0075). Trained on `samples/discovery/sentences.txt` by
`python -m benchmarks.discovery.speech --write`, for the vectors of one embedding model.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.discovery.intents.statements import (
    Act,
    Side,
    Statement,
    forms,
    is_of_others,
    is_order,
    judged,
    of_side,
)
from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from cairn.discovery.intents.statements import Part
    from cairn.embedding.port import Embedder, Vectors

FILE = "speech.json"
VECTOR_SCALE = 4.0
"""Of rows of length 1, so that they weigh about as much as the forms."""

GRAM_SCALE = 0.5
SIGNS = 11
"""How many `forms` a sentence may have."""

_TOKEN = re.compile(r"[a-z]+|'[a-z]+|[?!:;,]")


class Kind(StrEnum):
    """What is done by a sentence."""

    SEEKING = "seeking"
    OFFERING = "offering"
    OVER = "over"  # says that what was sought or offered is no longer
    FEELING = "feeling"
    FACT = "fact"


KINDS = tuple(Kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A trained model: (features + 1, kinds), the last row the bias; features as `features`."""

    model: str
    grams: tuple[str, ...]
    weights: NDArray[np.float64]


@cache
def bundled() -> Weights:
    """Return the model that Cairn ships."""
    import numpy as np

    stored = json.loads(Path(__file__).with_name(FILE).read_text(encoding="utf-8"))
    return Weights(
        model=stored["model"],
        grams=tuple(stored["grams"]),
        weights=np.array(stored["weights"], dtype=np.float64),
    )


@dataclass(frozen=True, slots=True)
class Speech:
    """Says what is done by sentences; by rules where vectors are another model's or none."""

    embedder: Embedder

    def judged(self, parts: Sequence[Part]) -> tuple[Statement, ...]:
        """Return what is done by each part."""
        by_rules = judged(parts)
        open_ones = [
            at for at, part in enumerate(parts) if part.side is None and not is_order(part.text)
        ]
        if not open_ones or self.embedder.model.name != bundled().model:
            return by_rules
        texts = [parts[at].text for at in open_ones]
        try:
            vectors = self.embedder.embed(texts)
        except Unavailable:
            return by_rules
        results = list(by_rules)
        for at, (kind, share) in zip(open_ones, kinds_of(texts, vectors), strict=True):
            if kind not in (Kind.SEEKING, Kind.OFFERING) or not is_of_others(parts[at].text):
                results[at] = _statement(parts[at].text, kind, share)
        return tuple(results)


def kinds_of(texts: Sequence[str], vectors: Vectors) -> list[tuple[Kind, float]]:
    """Return the likeliest kind of each text and its probability; `vectors` (texts, dimensions)."""
    import numpy as np

    model = bundled()
    scores = features(texts, vectors, model.grams) @ model.weights
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    likely /= likely.sum(axis=1, keepdims=True)
    best = likely.argmax(axis=1)
    return [(KINDS[at], round(float(row[at]), 2)) for at, row in zip(best, likely, strict=True)]


def features(
    texts: Sequence[str], vectors: Vectors, vocabulary: Sequence[str]
) -> NDArray[np.float64]:
    """Return (texts, dimensions + 11 + len(vocabulary) + 1): vector, forms, words, and a 1."""
    import numpy as np

    size = vectors.shape[1]
    rows = np.ones((len(texts), size + SIGNS + len(vocabulary) + 1), dtype=np.float64)
    rows[:, :size] = vectors * VECTOR_SCALE
    rows[:, size : size + SIGNS] = [forms(text) for text in texts]
    has = [grams(text) for text in texts]
    rows[:, size + SIGNS : -1] = [[gram in each for gram in vocabulary] for each in has]
    rows[:, size + SIGNS : -1] *= GRAM_SCALE
    return rows


def grams(text: str) -> frozenset[str]:
    """Return a text's words, pairs of words, how it begins (`^`) and its last character (`$`)."""
    words = _TOKEN.findall(text.lower().replace("\u2019", "'"))
    starts = {f"^{' '.join(words[:length])}" for length in (1, 2, 3) if len(words) >= length}
    pairs = {f"{first} {second}" for first, second in pairwise(words)}
    return frozenset({*words, *pairs, *starts, f"${text.strip()[-1:]}"})


def _statement(text: str, kind: Kind, share: float) -> Statement:
    if kind in (Kind.SEEKING, Kind.OFFERING):
        return of_side(text, Side(kind), share)
    act = {Kind.OVER: Act.DECLARATION, Kind.FEELING: Act.EXPRESSIVE}.get(kind, Act.ASSERTIVE)
    return Statement(text=text, act=act, side=None, closes=kind is Kind.OVER, confidence=share)
