"""Memories that say the same (blocks of rare words, then vectors), and loops of them. Pure.

Not every pair is looked at: a text is compared within the blocks of its rarest words only, and in
a large block with those next to it. That is linear in the number of memories, and may miss two
that share no rare word.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cairn.kernel.text.hashes import sha256
from cairn.kernel.text.words import content_words, sentences, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cairn.embedding.port import Vectors
    from cairn.memories.audit.records import MemoryRecord


RESTATED = 5
"""In so many memories a sentence is boilerplate."""

SHORTEST_SENTENCE = 5
"""Words; shorter sentences recur without being copied."""

_RECALLED = re.compile(
    r"<source cite=\"|<text>.*</text>|\bcairn://"  # Cairn's context block
    r"|^\[[A-Z][A-Za-z]+\] \([0-9a-f-]{36}\)"  # its results as text
    r"|--\[[A-Z_]+\]-->"
    r"|\b(?:relevant|retrieved|recalled|past|previous) memories(?: from| about|:)"
    r"|\b(?:according to|based on) (?:my|your|the|stored) memor(?:y|ies)\b"
    r"|\bi (?:recalled|remember) (?:that )?you (?:told|said|mentioned)\b"
    r"|\bmemory context\b|<memor(?:y|ies)>",
    re.IGNORECASE | re.MULTILINE,
)
QUOTED_WORDS = 8
"""A memory of at least so many words that stands whole inside a younger one was copied into it."""


def recalled_marks(text: str) -> str | None:
    """Return what in a text looks like the output of a recall, None when nothing does."""
    match = _RECALLED.search(text)
    return match.group(0)[:60] if match else None


def said_in_turns(records: Sequence[MemoryRecord]) -> Iterator[tuple[int, ...]]:
    """Yield the places of one content that agents said in a cycle: A, then B, then A again."""
    places_by_text: defaultdict[tuple[str, bytes], list[int]] = defaultdict(list)
    for place, record in enumerate(records):
        if record.source is not None:
            places_by_text[record.audience, fingerprint(record.text)].append(place)
    for places in places_by_text.values():
        sources = [records[place].source for place in places]
        turns = [
            source for at, source in enumerate(sources) if at == 0 or source != sources[at - 1]
        ]
        if len(turns) > len(set(turns)):
            yield tuple(places)


def quoted_whole(records: Sequence[MemoryRecord]) -> Iterator[tuple[int, int]]:
    """Yield (older, younger) where all of the older text stands inside the longer younger one.

    Found by the older one's first words: each text is looked at once a word.
    """
    beginnings: defaultdict[tuple[str, tuple[str, ...]], list[tuple[int, str]]] = defaultdict(list)
    for place, record in enumerate(records):
        tokens = words(record.text)
        whole = " ".join(tokens)
        for older in _inside(record.audience, tokens, whole, beginnings):
            yield older, place
        if len(tokens) >= QUOTED_WORDS:
            beginnings[record.audience, tuple(tokens[:QUOTED_WORDS])].append((place, whole))


def _inside(
    audience: str,
    spoken: Sequence[str],
    whole: str,
    beginnings: defaultdict[tuple[str, tuple[str, ...]], list[tuple[int, str]]],
) -> Iterator[int]:
    for at in range(len(spoken) - QUOTED_WORDS + 1):
        candidates = beginnings.get((audience, tuple(spoken[at : at + QUOTED_WORDS])), ())
        for older, text in candidates:
            if len(text) < len(whole) and f" {text} " in f" {whole} ":
                yield older


def restated(records: Sequence[MemoryRecord]) -> dict[int, str]:
    """Return by place a sentence that stands in at least RESTATED memories of one audience."""
    counts: Counter[tuple[str, bytes]] = Counter()
    results: list[list[tuple[bytes, str]]] = []
    for record in records:
        marks = {
            fingerprint(sentence): sentence
            for sentence in sentences(record.text)
            if len(words(sentence)) >= SHORTEST_SENTENCE
        }
        results.append(list(marks.items()))
        counts.update((record.audience, mark) for mark in marks)
    return {
        place: next(
            text for mark, text in marks if counts[records[place].audience, mark] >= RESTATED
        )
        for place, marks in enumerate(results)
        if any(counts[records[place].audience, mark] >= RESTATED for mark, _ in marks)
    }


def fingerprint(text: str) -> bytes:
    """Return what two texts share that differ in case, spaces and punctuation only."""
    return sha256(" ".join(words(text)).encode())[:12]


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


EmbedTexts: TypeAlias = "Callable[[Sequence[str]], Vectors]"
"""Returns one row a text, float32, of length 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Two records by their place, the older first, and how alike they are in [0, 1]."""

    one: int
    other: int
    score: float
    same: bool


def alike(records: Sequence[MemoryRecord], embed: EmbedTexts | None) -> list[Likeness]:
    """Return pairs that speak of the same, in order; only those of one audience are compared."""
    bags = [frozenset(content_words(record.text)) for record in records]
    pairs = sorted(set(_candidates(records, bags)))
    score = _by_vectors(records, pairs, embed) if embed else _by_words(bags)
    same, like = (SAME_COSINE, LIKE_COSINE) if embed else (SAME_WORDS, LIKE_WORDS)
    results = ((first, other, score(first, other)) for first, other in pairs)
    return [
        Likeness(one=first, other=other, score=round(value, 4), same=value >= same)
        for first, other, value in results
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
        for word in sorted(shared, key=lambda item: (frequency[item], item))[:RARE_WORDS]:
            block = blocks[record.audience, word]
            for before in block[-BLOCK_NEIGHBOURS:]:
                yield before, place
            block.append(place)


def _by_words(bags: Sequence[frozenset[str]]) -> Callable[[int, int], float]:
    return lambda first, other: len(bags[first] & bags[other]) / len(bags[first] | bags[other])


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

    def cosine(first: int, other: int) -> float:
        return float(vectors[row[first]] @ vectors[row[other]]) if vectors is not None else 0.0

    return cosine
