"""Memories that say the same: found by blocks of rare words, confirmed by vectors. Pure.

Not every pair is looked at: a text is compared within the blocks of its rarest words only, and in
a large block with those next to it. That is linear in the number of memories, and may miss two
that share no rare word.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cairn.kernel.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cairn.embedding.port import Vectors
    from cairn.memories.audit.records import MemoryRecord

SAME_COSINE = 0.92
SAME_WORDS = 0.8
"""Without vectors: the share of content words two texts have in common, of all either has."""

LIKE_COSINE = 0.85
LIKE_WORDS = 0.6
"""From here on two texts speak of the same, and may contradict each other."""

RARE_WORDS = 3
BLOCK_NEIGHBOURS = 8
"""How many of those before it in its block a text is compared with."""

EMBED_AT_ONCE = 256


class EmbedTexts(Protocol):
    """Return one row a text, float32, of length 1."""

    def __call__(self, texts: Sequence[str], /) -> Vectors: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Two records by their place, the older first, and how alike they are in [0, 1]."""

    one: int
    other: int
    score: float
    same: bool


def alike(records: Sequence[MemoryRecord], embed: EmbedTexts | None) -> list[Likeness]:
    """Return pairs that speak of the same, in order; only those of one audience are compared."""
    bags = [frozenset(content_words(one.text)) for one in records]
    pairs = sorted(set(_candidates(records, bags)))
    score = _by_vectors(records, pairs, embed) if embed else _by_words(bags)
    same, like = (SAME_COSINE, LIKE_COSINE) if embed else (SAME_WORDS, LIKE_WORDS)
    found = ((one, other, score(one, other)) for one, other in pairs)
    return [
        Likeness(one=one, other=other, score=round(value, 4), same=value >= same)
        for one, other, value in found
        if value >= like
    ]


def _candidates(
    records: Sequence[MemoryRecord], bags: Sequence[frozenset[str]]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of places that share one of their rarest words, or all of their few."""
    frequency = Counter(word for bag in bags for word in bag)
    blocks: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, (record, bag) in enumerate(zip(records, bags, strict=True)):
        shared = [word for word in bag if frequency[word] > 1]
        for word in sorted(shared, key=lambda one: (frequency[one], one))[:RARE_WORDS]:
            block = blocks[record.audience, word]
            for before in block[-BLOCK_NEIGHBOURS:]:
                yield before, place
            block.append(place)


def _by_words(bags: Sequence[frozenset[str]]) -> Callable[[int, int], float]:
    return lambda one, other: len(bags[one] & bags[other]) / len(bags[one] | bags[other])


def _by_vectors(
    records: Sequence[MemoryRecord], pairs: Iterable[tuple[int, int]], embed: EmbedTexts
) -> Callable[[int, int], float]:
    """Embed each text that is in any pair once; return what compares two of them."""
    import numpy as np

    places = sorted({place for pair in pairs for place in pair})
    row = {place: at for at, place in enumerate(places)}
    vectors: Vectors | None = None
    for start in range(0, len(places), EMBED_AT_ONCE):
        part = embed([records[place].text for place in places[start : start + EMBED_AT_ONCE]])
        if vectors is None:
            vectors = np.zeros((len(places), part.shape[1]), dtype=np.float32)
        vectors[start : start + len(part)] = part

    def cosine(one: int, other: int) -> float:
        return float(vectors[row[one]] @ vectors[row[other]]) if vectors is not None else 0.0

    return cosine
