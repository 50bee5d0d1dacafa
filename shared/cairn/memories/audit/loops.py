"""Signs that what was recalled went in again, and sentences that many memories restate. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from cairn.kernel.text.hashes import sha256
from cairn.kernel.text.words import sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    found = _RECALLED.search(text)
    return found.group(0)[:60] if found else None


def said_in_turns(records: Sequence[MemoryRecord]) -> Iterator[tuple[int, ...]]:
    """Yield the places of one content that agents said in a cycle: A, then B, then A again."""
    said: defaultdict[tuple[str, bytes], list[int]] = defaultdict(list)
    for place, record in enumerate(records):
        if record.source is not None:
            said[record.audience, fingerprint(record.text)].append(place)
    for places in said.values():
        sources = [records[place].source for place in places]
        turns = [one for at, one in enumerate(sources) if at == 0 or one != sources[at - 1]]
        if len(turns) > len(set(turns)):
            yield tuple(places)


def quoted_whole(records: Sequence[MemoryRecord]) -> Iterator[tuple[int, int]]:
    """Yield (older, younger) where all of the older text stands inside the longer younger one.

    Found by the older one's first words: each text is looked at once a word.
    """
    beginnings: defaultdict[tuple[str, tuple[str, ...]], list[tuple[int, str]]] = defaultdict(list)
    for place, record in enumerate(records):
        said = words(record.text)
        whole = " ".join(said)
        for older in _inside(record.audience, said, whole, beginnings):
            yield older, place
        if len(said) >= QUOTED_WORDS:
            beginnings[record.audience, tuple(said[:QUOTED_WORDS])].append((place, whole))


def _inside(
    audience: str,
    said: Sequence[str],
    whole: str,
    beginnings: defaultdict[tuple[str, tuple[str, ...]], list[tuple[int, str]]],
) -> Iterator[int]:
    for at in range(len(said) - QUOTED_WORDS + 1):
        known = beginnings.get((audience, tuple(said[at : at + QUOTED_WORDS])), ())
        for older, text in known:
            if len(text) < len(whole) and f" {text} " in f" {whole} ":
                yield older


def restated(records: Sequence[MemoryRecord]) -> dict[int, str]:
    """Return by place a sentence that stands in at least RESTATED memories of one audience."""
    counts: Counter[tuple[str, bytes]] = Counter()
    found: list[list[tuple[bytes, str]]] = []
    for record in records:
        marks = {
            fingerprint(one): one
            for one in sentences(record.text)
            if len(words(one)) >= SHORTEST_SENTENCE
        }
        found.append(list(marks.items()))
        counts.update((record.audience, mark) for mark in marks)
    return {
        place: next(
            text for mark, text in marks if counts[records[place].audience, mark] >= RESTATED
        )
        for place, marks in enumerate(found)
        if any(counts[records[place].audience, mark] >= RESTATED for mark, _ in marks)
    }


def fingerprint(text: str) -> bytes:
    """Return what two texts share that differ in case, spaces and punctuation only."""
    return sha256(" ".join(words(text)).encode())[:12]
