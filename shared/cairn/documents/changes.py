"""What changed between two ingestions of one source. Not the writing: ids are only compared."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from cairn.documents.parsed import ChunkPart, DocumentTree, SectionPart


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPart:
    """A stored chunk or section, as far as a comparison needs it."""

    id: UUID
    ordinal: int
    content_hash: str
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptChunk:
    """A stored chunk whose text is in the new version too.

    `renumbered`: its ordinal differs (something before it came or went). `moved`: it changed its
    place relative to the other kept chunks. `reheaded`: the path of headings above it differs.
    """

    id: UUID
    chunk: ChunkPart
    renumbered: bool
    moved: bool
    reheaded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSection:
    """A stored section with the same path of headings; `changed` when any chunk of it differs."""

    id: UUID
    section: SectionPart
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """`kept` and `added` in the new order, `removed` in the old one; together they name all."""

    kept: tuple[KeptChunk, ...]
    added: tuple[ChunkPart, ...]
    removed: tuple[UUID, ...]

    @property
    def nothing(self) -> bool:
        """Return whether text, order and headings are all the same."""
        quiet = not any(item.renumbered or item.moved or item.reheaded for item in self.kept)
        return quiet and not self.added and not self.removed


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChanges:
    """As `Changes`, for sections."""

    kept: tuple[KeptSection, ...]
    added: tuple[SectionPart, ...]
    removed: tuple[UUID, ...]


def diff(old: Sequence[KnownPart], new: DocumentTree) -> Changes:
    """Match stored chunks with those of `new` by content hash, so that unchanged text keeps its id.

    Of several stored chunks with one hash, one under the same headings is preferred, then the first
    in order. `old` may come in any order. Time O(n log n).
    """
    chunks = new.chunks
    ordered = sorted(old, key=lambda part: part.ordinal)
    matches = _match_chunks(ordered, chunks)
    in_order = [(matches[chunk.ordinal], chunk) for chunk in chunks if chunk.ordinal in matches]
    stayed = _longest_increasing([part.ordinal for part, _ in in_order])
    unchanged = tuple(
        KeptChunk(
            id=part.id,
            chunk=chunk,
            renumbered=part.ordinal != chunk.ordinal,
            moved=index not in stayed,
            reheaded=part.headings != chunk.headings,
        )
        for index, (part, chunk) in enumerate(in_order)
    )
    used = {item.id for item in unchanged}
    return Changes(
        kept=unchanged,
        added=tuple(chunk for chunk in chunks if chunk.ordinal not in matches),
        removed=tuple(part.id for part in ordered if part.id not in used),
    )


def diff_sections(old: Sequence[KnownPart], new: DocumentTree) -> SectionChanges:
    """Match stored sections with those of `new` by headings, the n-th of a path with the n-th.

    A renamed section is a removed and an added one; its chunks still keep their ids in `diff`.
    """
    waiting: dict[tuple[str, ...], list[KnownPart]] = defaultdict(list)
    for part in sorted(old, key=lambda part: part.ordinal, reverse=True):
        waiting[part.headings].append(part)
    sections: list[KeptSection] = []
    added: list[SectionPart] = []
    for section in new.sections:
        if not waiting[section.headings]:
            added.append(section)
            continue
        part = waiting[section.headings].pop()
        changed = part.content_hash != section.content_hash
        sections.append(KeptSection(id=part.id, section=section, changed=changed))
    left = [part for parts in waiting.values() for part in parts]
    removed = tuple(part.id for part in sorted(left, key=lambda part: part.ordinal))
    return SectionChanges(kept=tuple(sections), added=tuple(added), removed=removed)


class _Hashed(Protocol):
    @property
    def content_hash(self) -> str: ...
    @property
    def headings(self) -> tuple[str, ...]: ...


def _match_chunks(
    ordered: Sequence[KnownPart], chunks: Sequence[ChunkPart]
) -> Mapping[int, KnownPart]:
    """Return new ordinal -> stored part: first pairs with equal headings, then any left over."""
    matches: dict[int, KnownPart] = {}
    used: set[UUID] = set()
    for key in (_hash_and_headings, _hash_only):
        waiting: dict[object, list[KnownPart]] = defaultdict(list)
        for part in reversed(ordered):
            if part.id not in used:
                waiting[key(part)].append(part)
        for chunk in chunks:
            candidates = waiting.get(key(chunk))
            if chunk.ordinal not in matches and candidates:
                matches[chunk.ordinal] = candidates.pop()
                used.add(matches[chunk.ordinal].id)
    return matches


def _hash_and_headings(part: _Hashed) -> object:
    return part.content_hash, part.headings


def _hash_only(part: _Hashed) -> object:
    return part.content_hash


def _longest_increasing(values: Iterable[int]) -> set[int]:
    """Return the indexes of one longest increasing subsequence (patience sorting)."""
    tails: list[int] = []
    tail_indexes: list[int] = []
    previous: list[int | None] = []
    for index, value in enumerate(values):
        place = bisect_left(tails, value)
        previous.append(tail_indexes[place - 1] if place else None)
        tails[place : place + 1] = [value]
        tail_indexes[place : place + 1] = [index]
    chosen: set[int] = set()
    at = tail_indexes[-1] if tail_indexes else None
    while at is not None:
        chosen.add(at)
        at = previous[at]
    return chosen
