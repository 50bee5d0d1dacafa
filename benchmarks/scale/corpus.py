"""Made-up memories with vectors: as many as asked for, the same ones each time.

Words are drawn as they are in prose, a few often and most rarely (Zipf). A vector is a mixture of
two real ones and some noise: embedding every text would take minutes and measure the embedder.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cairn.embedding.port import Vectors

VOCABULARY = 20_000
MOTIFS = 1_500
QUESTIONS = 100
WORDS = (8, 40)
MIX = 0.6
NOISE = 0.02
SEED = 20_260_501

_WHO = ("Ada", "Bo", "Carla", "Dev", "Elif", "Femi", "Greta", "Hugo", "Ines", "Jun", "Kofi", "Lena")
_DID = ("moved", "repaired", "ordered", "cancelled", "reviewed", "shipped", "refused", "tested")
_WHAT = (
    "the invoice export",
    "the login page",
    "a delivery of pumps",
    "the backup job",
    "the spring schedule",
    "a contract draft",
    "the water heater",
    "the search index",
    "two server racks",
    "the travel budget",
    "a customer's complaint",
    "the payment gateway",
)
_WHY = (
    "because the supplier was late",
    "after the audit",
    "before the holidays",
    "for the new branch",
    "since the tests had failed",
    "when the licence ran out",
    "to save costs",
    "on the client's request",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One memory: its text and its vector, of length 1."""

    text: str
    vector: Vectors


def motifs(count: int = MOTIFS) -> list[str]:
    """Return sentences that the vectors are mixed from; deterministic."""
    chance = random.Random(SEED)
    pick = chance.choice
    return [f"{pick(_WHO)} {pick(_DID)} {pick(_WHAT)} {pick(_WHY)}" for _ in range(count)]


def questions(count: int = QUESTIONS) -> list[str]:
    """Return what is asked: about people and things of the motifs, some with a rarer word."""
    chance = random.Random(SEED + 1)
    pick, vocabulary = chance.choice, _vocabulary()
    return [
        f"What did {pick(_WHO)} do about {pick(_WHAT)} {pick(vocabulary[: 50 * (1 + at % 20)])}?"
        for at in range(count)
    ]


def rows(count: int, vectors: Vectors, seed: int) -> Iterator[Row]:
    """Yield `count` rows; `vectors` are the motifs', of shape (motifs, dimensions)."""
    import numpy as np

    chance, noise = random.Random(seed), np.random.default_rng(seed)
    sentences, vocabulary = motifs(len(vectors)), _vocabulary()
    weights = _cumulative(len(vocabulary))
    for _ in range(count):
        first, second = chance.randrange(len(vectors)), chance.randrange(len(vectors))
        mixed: Vectors = vectors[first] + MIX * vectors[second]
        mixed += NOISE * noise.standard_normal(mixed.shape)
        more = chance.choices(vocabulary, cum_weights=weights, k=chance.randint(*WORDS))
        yield Row(
            text=f"{sentences[first]}; {' '.join(more)}",
            vector=mixed / float(np.sqrt(mixed @ mixed)),
        )


def _vocabulary() -> list[str]:
    chance = random.Random(SEED + 2)
    syllables = [a + b for a in "bcdfghklmnprstvz" for b in "aeiou"]
    found = dict.fromkeys("".join(chance.choices(syllables, k=3)) for _ in range(3 * VOCABULARY))
    return list(found)[:VOCABULARY]


def _cumulative(count: int) -> Sequence[float]:
    total, sums = 0.0, list[float]()
    for rank in range(1, count + 1):
        total += 1 / rank
        sums.append(total)
    return sums
