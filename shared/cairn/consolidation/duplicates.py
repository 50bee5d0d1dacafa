"""Which memories say the same, and which text is kept of them. Pure, by rules.

Nearness of vectors alone merges nothing: two bookings a day apart are as near as two wordings of
one. A pair is near (MIN_COSINE) and then compared word by word (`wording`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.consolidation.merge_checks import MERGEABLE, same_audience
from cairn.consolidation.plan import Add, Supersede
from cairn.consolidation.tokens import lost
from cairn.consolidation.wording import Wording, same_text, says_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.consolidation.plan import BatchMemory

MIN_COSINE = 0.90
"""Two memories whose vectors (bge-small) are less alike are not compared as duplicates. Light
paraphrases of the labelled set lie from 0.92 on, their near misses up to 0.99."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A memory and what it is compared by."""

    memory: BatchMemory
    wording: Wording


def duplicates(one: Reading, other: Reading, cosine: float | None) -> bool:
    """Return whether two memories may be merged; `cosine` None when it was not asked for."""
    a, b = one.memory, other.memory
    if a.kind is not b.kind or a.kind not in MERGEABLE or a.valid_to != b.valid_to:
        return False
    if not same_audience(a.audience, b.audience) or not _same_identity(a, b):
        return False
    if same_text(one.wording, other.wording):
        return True
    near = cosine is not None and cosine >= MIN_COSINE
    return near and (says_all(one.wording, other.wording) or says_all(other.wording, one.wording))


def clusters(
    readings: Mapping[UUID, Reading], cosines: Mapping[frozenset[UUID], float]
) -> list[tuple[UUID, ...]]:
    """Return groups of two and more in which each says the same as each other, the nearest first.

    `cosines` holds the near pairs; memories of one text are found without.
    """
    pairs = {pair: cosine for pair, cosine in cosines.items() if len(pair) == 2}
    pairs |= dict.fromkeys(_equal(readings), 1.0)
    alike = {pair: cosine for pair, cosine in pairs.items() if _alike(pair, readings, cosine)}
    group: dict[UUID, frozenset[UUID]] = {}
    for pair in sorted(alike, key=lambda pair: (-alike[pair], sorted(pair))):
        one, other = sorted(pair)
        if other in group.get(one, ()):
            continue
        joined = group.get(one, frozenset({one})) | group.get(other, frozenset({other}))
        if _all_alike(joined, readings, pairs) and chosen([readings[id_] for id_ in joined]):
            group.update(dict.fromkeys(joined, joined))
    return sorted(tuple(sorted(one)) for one in set(group.values()))


def merged(readings: Sequence[Reading], ref: str) -> tuple[Add, Supersede] | None:
    """Return the merge of memories that say the same: the most complete of their texts."""
    best = chosen(readings)
    if best is None:
        return None
    of = sorted((one.memory for one in readings), key=lambda one: one.id)
    sources = tuple(one.id for one in of)
    add = Add(
        ref=ref,
        text=best.memory.text.strip(),
        sources=sources,
        kind=best.memory.kind,
        key=_first(one.key for one in of),
        subject=_first(one.subject for one in of),
        status_value=_first(one.status_value for one in of),
        why="They say the same in other words.",
    )
    return add, Supersede(by=ref, sources=sources)


def chosen(readings: Sequence[Reading]) -> Reading | None:
    """Return the memory whose text says all that the others say; the longer, then the older one."""
    fit = [one for one in readings if all(_covers(one, other) for other in readings)]
    return min(
        fit,
        key=lambda one: (-len(one.wording.sentences), -len(one.memory.text), one.memory.id),
        default=None,
    )


def _covers(one: Reading, other: Reading) -> bool:
    same = same_text(other.wording, one.wording) or says_all(other.wording, one.wording)
    return one is other or (same and not lost(other.wording.tokens, one.wording.tokens))


def _alike(pair: frozenset[UUID], readings: Mapping[UUID, Reading], cosine: float) -> bool:
    """Return whether a pair with something new in it may be merged."""
    one, other = (readings[id_] for id_ in sorted(pair))
    if one.memory.known and other.memory.known:
        return False
    return duplicates(one, other, cosine)


def _all_alike(
    ids: frozenset[UUID],
    readings: Mapping[UUID, Reading],
    pairs: Mapping[frozenset[UUID], float],
) -> bool:
    ordered = sorted(ids)
    return all(
        duplicates(readings[one], readings[other], pairs.get(frozenset((one, other))))
        for at, one in enumerate(ordered)
        for other in ordered[at + 1 :]
    )


def _equal(readings: Mapping[UUID, Reading]) -> set[frozenset[UUID]]:
    """Return the pairs of one text."""
    by: dict[str, list[UUID]] = {}
    for id_, one in readings.items():
        by.setdefault(one.wording.plain, []).append(id_)
    return {
        frozenset((one, other))
        for ids in by.values()
        for at, one in enumerate(sorted(ids))
        for other in sorted(ids)[at + 1 :]
    }


def _same_identity(one: BatchMemory, other: BatchMemory) -> bool:
    """Return whether neither has a key, a subject or a status value that the other contradicts."""
    return all(
        mine is None or its is None or mine == its
        for mine, its in (
            (one.key, other.key),
            (one.subject, other.subject),
            (one.status_value, other.status_value),
        )
    )


def _first(values: Iterable[str | None]) -> str | None:
    return next((one for one in values if one is not None), None)
