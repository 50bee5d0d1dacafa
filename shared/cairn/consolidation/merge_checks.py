"""Duplicates to merge, and what a merge must be: sources, text, what it supersedes. Pure.

A merge keeps every number, unit, date, name and negation of its sources, and adds none. Sources
that differ in one contradict each other: they are never merged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.consolidation.plan import Add, Batch, BatchMemory, Clash, Flag, Refusal, Supersede
from cairn.consolidation.tokens import TokenKind, difference, invented, lost, tokens
from cairn.consolidation.wording import Wording, opposed, same_text, says_all, wording
from cairn.graph.entity_names import name_key
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.memories.kinds import MemoryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.writing.audience import Audience


MAX_MERGED_CHARS = 32_000
"""What a memory may have, so a merged one too."""

MAX_REASON_CHARS = 500

MERGEABLE = frozenset({MemoryKind.FACT, MemoryKind.STATUS})
"""Events and decisions are linked, never superseded."""

_CLASHES: Mapping[TokenKind, Clash] = MappingProxyType(
    {
        TokenKind.NUMBER: Clash.NUMBER,
        TokenKind.DATE: Clash.DATE,
        TokenKind.NAME: Clash.VALUE,
        TokenKind.NEGATION: Clash.NEGATION,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A merge that may not be; `flags` are the contradictions found among its sources."""

    reason: Refusal
    flags: tuple[Flag, ...] = ()


def same_audience(audience: Audience, other: Audience) -> bool:
    """Return whether two audiences are one: scope, agents and data subjects, in any order."""
    return (
        audience.scope == other.scope
        and _set(audience.agents) == _set(other.agents)
        and set(audience.data_subjects) == set(other.data_subjects)
    )


def names_of(batch: Batch, memories: Iterable[BatchMemory]) -> Mapping[str, str]:
    """Return what other names stand for in these memories: `name_key` -> the entity's name."""
    record: dict[str, str] = {}
    for memory in memories:
        for alias, (name, _) in batch.aliases_of(memory.audience).items():
            record[alias] = name
        for entity in memory.entities:
            if entity.name in memory.text:
                record.setdefault(name_key(entity.name), entity.name)
    return record


def _clash(wording: Wording, other: Wording) -> tuple[Clash, str] | None:
    """Return in what two texts differ that may not be merged over, and the reason in words."""
    differs = difference(wording.tokens, other.tokens)
    if differs is not None:
        return _CLASHES[differs], f"They differ in a {differs.value}."
    words = opposed(wording, other)
    if words is not None:
        return Clash.OPPOSITE, f"One says {words[0]}, the other {words[1]}."
    return None


def cyclic(supersedes: Sequence[Supersede]) -> frozenset[int]:
    """Return the places of those that replace, in the end, what replaces them.

    A memory that is superseded by what it is a source of is such a cycle too.
    """
    results: set[int] = set()
    while True:
        graph: dict[str, set[str]] = {}
        for at, supersede in enumerate(supersedes):
            if at not in results:
                graph.setdefault(supersede.by, set()).update(
                    str(source) for source in supersede.sources
                )
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as exc:
            ring = set(map(str, exc.args[1]))
            results |= {at for at, supersede in enumerate(supersedes) if supersede.by in ring}
        else:
            return frozenset(results)


def checked_merge(add: Add, batch: Batch, memories: Mapping[UUID, BatchMemory]) -> Add | Refused:
    """Return the merge with the identity of its sources filled in, or why it may not be."""
    if any(source not in memories for source in add.sources):
        return Refused(reason=Refusal.UNKNOWN_ID)
    of = [memories[source] for source in sorted(set(add.sources))]
    reason = _unfit(add, of)
    if reason is not None:
        return Refused(reason=reason)
    identified = _identified(add, of)
    if identified is None:
        return Refused(reason=Refusal.IDENTITY)
    return _keeping(identified, batch, of)


def _unfit(add: Add, of: Sequence[BatchMemory]) -> Refusal | None:
    if len(of) < 2:
        return Refusal.TOO_FEW
    first = of[0]
    if any(memory.client_id != first.client_id for memory in of):
        return Refusal.CLIENT
    if not all(same_audience(memory.audience, first.audience) for memory in of):
        return Refusal.AUDIENCE
    if add.kind not in MERGEABLE or any(memory.kind is not add.kind for memory in of):
        return Refusal.KIND
    if any(memory.valid_to != first.valid_to for memory in of) or _ended(of):
        return Refusal.VALIDITY
    if all(memory.known for memory in of):
        return Refusal.REPEATED
    return None if is_text(add.text, MAX_MERGED_CHARS) else Refusal.TEXT


def _ended(of: Sequence[BatchMemory]) -> bool:
    """Return whether one of them stops being true before all of them have begun to be."""
    until = of[0].valid_to
    return until is not None and until <= max(memory.valid_from for memory in of)


def is_text(text: object, most: int) -> bool:
    """Return whether a text can be kept: 1 to `most` characters, no NUL, no lone surrogate."""
    try:
        clean_text(text, field="text", max_chars=most)
    except ValidationFailed:
        return False
    return True


def _identified(add: Add, of: Sequence[BatchMemory]) -> Add | None:
    """Return the merge under the one key, subject and status value its sources have, if one."""
    record: dict[str, str | None] = {}
    for name in ("key", "subject", "status_value"):
        values = {getattr(memory, name) for memory in of} - {None}
        value = getattr(add, name)
        if len(values | {value} - {None}) > 1:
            return None
        record[name] = next(iter(values), None)
        if value is not None and not values:
            return None
    sources = tuple(memory.id for memory in of)
    return replace(
        add,
        why=add.why if is_text(add.why, MAX_REASON_CHARS) else "",
        sources=sources,
        key=record["key"],
        subject=record["subject"],
        status_value=record["status_value"],
    )


def _keeping(add: Add, batch: Batch, of: Sequence[BatchMemory]) -> Add | Refused:
    names = names_of(batch, of)
    read = {memory.id: wording(memory.text, names) for memory in of}
    flags = [
        Flag(one=memory.id, other=other.id, clash=clash[0], why=clash[1])
        for memory, other in combinations(of, 2)
        if (clash := _clash(read[memory.id], read[other.id]))
    ]
    if flags:
        return Refused(reason=Refusal.CONTRADICTS, flags=tuple(flags))
    sources, merged = [read[memory.id].tokens for memory in of], tokens(add.text, names)
    if any(lost(source, merged) for source in sources):
        return Refused(reason=Refusal.LOST)
    if invented(sources, merged):
        return Refused(reason=Refusal.INVENTED)
    return add


def _set(agents: tuple[str, ...] | None) -> frozenset[str] | None:
    return None if agents is None else frozenset(agents)


MIN_COSINE = 0.90
"""Two memories whose vectors (bge-small) are less alike are not compared as duplicates. Light
paraphrases of the labelled set lie from 0.92 on, their near misses up to 0.99."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A memory and what it is compared by."""

    memory: BatchMemory
    wording: Wording


def duplicates(reading: Reading, other: Reading, cosine: float | None) -> bool:
    """Return whether two memories may be merged; `cosine` None when it was not asked for."""
    a, b = reading.memory, other.memory
    if a.kind is not b.kind or a.kind not in MERGEABLE or a.valid_to != b.valid_to:
        return False
    if not same_audience(a.audience, b.audience) or not _same_identity(a, b):
        return False
    if same_text(reading.wording, other.wording):
        return True
    near = cosine is not None and cosine >= MIN_COSINE
    return near and (
        says_all(reading.wording, other.wording) or says_all(other.wording, reading.wording)
    )


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
        id_, other = sorted(pair)
        if other in group.get(id_, ()):
            continue
        joined = group.get(id_, frozenset({id_})) | group.get(other, frozenset({other}))
        if _all_alike(joined, readings, pairs) and chosen([readings[id_] for id_ in joined]):
            group.update(dict.fromkeys(joined, joined))
    return sorted(tuple(sorted(id_)) for id_ in set(group.values()))


def merged(readings: Sequence[Reading], ref: str) -> tuple[Add, Supersede] | None:
    """Return the merge of memories that say the same: the most complete of their texts."""
    best = chosen(readings)
    if best is None:
        return None
    of = sorted((reading.memory for reading in readings), key=lambda item: item.id)
    sources = tuple(item.id for item in of)
    add = Add(
        ref=ref,
        text=best.memory.text.strip(),
        sources=sources,
        kind=best.memory.kind,
        key=_first(item.key for item in of),
        subject=_first(item.subject for item in of),
        status_value=_first(item.status_value for item in of),
        why="They say the same in other words.",
    )
    return add, Supersede(by=ref, sources=sources)


def chosen(readings: Sequence[Reading]) -> Reading | None:
    """Return the memory whose text says all that the others say; the longer, then the older one."""
    fit = [reading for reading in readings if all(_covers(reading, other) for other in readings)]
    return min(
        fit,
        key=lambda item: (-len(item.wording.sentences), -len(item.memory.text), item.memory.id),
        default=None,
    )


def _covers(reading: Reading, other: Reading) -> bool:
    same = same_text(other.wording, reading.wording) or says_all(other.wording, reading.wording)
    return reading is other or (same and not lost(other.wording.tokens, reading.wording.tokens))


def _alike(pair: frozenset[UUID], readings: Mapping[UUID, Reading], cosine: float) -> bool:
    """Return whether a pair with something new in it may be merged."""
    reading, other = (readings[id_] for id_ in sorted(pair))
    if reading.memory.known and other.memory.known:
        return False
    return duplicates(reading, other, cosine)


def _all_alike(
    ids: frozenset[UUID],
    readings: Mapping[UUID, Reading],
    pairs: Mapping[frozenset[UUID], float],
) -> bool:
    ordered = sorted(ids)
    return all(
        duplicates(readings[id_], readings[other], pairs.get(frozenset((id_, other))))
        for at, id_ in enumerate(ordered)
        for other in ordered[at + 1 :]
    )


def _equal(readings: Mapping[UUID, Reading]) -> set[frozenset[UUID]]:
    """Return the pairs of one text."""
    by: dict[str, list[UUID]] = {}
    for id_, reading in readings.items():
        by.setdefault(reading.wording.plain, []).append(id_)
    return {
        frozenset((id_, other))
        for ids in by.values()
        for at, id_ in enumerate(sorted(ids))
        for other in sorted(ids)[at + 1 :]
    }


def _same_identity(memory: BatchMemory, other: BatchMemory) -> bool:
    """Return whether neither has a key, a subject or a status value that the other contradicts."""
    return all(
        mine is None or its is None or mine == its
        for mine, its in (
            (memory.key, other.key),
            (memory.subject, other.subject),
            (memory.status_value, other.status_value),
        )
    )


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value is not None), None)
