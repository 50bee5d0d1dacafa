"""Sources cut into episodes, and the records that summarising reads and writes."""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from cairn.conversations.messages import OWN_METADATA
from cairn.kernel.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.node import State


GAP = timedelta(minutes=30)
"""A session that is silent for longer goes on with another episode."""

SIDE = 6
"""Of a session's run so many items before and after a place say whether the topic changes there."""

SIDE_WORDS = 20
"""Different content words that either side needs to have a topic."""

SHARED = 0.05
"""Sides that share less than this part of the smaller one's words are of different topics."""

ENOUGH, MOST = 24, 48
"""An episode that has enough items ends before the next id that says so, and at the most here."""

_ENDS_ONE_IN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Something that happened or was said, as far as a summary needs it; also a lower summary.

    `event_count` is how many events, messages and memories it stands for, `last_at` when the last
    of them happened; `agents` are those who said it.
    """

    id: UUID
    text: str
    content_hash: str
    occurred_at: datetime
    sequence: int = -1
    trace_id: str | None = None
    agents: tuple[str, ...] = ()
    importance: int = 5
    event_count: int = 1
    last_at: datetime | None = None

    @property
    def place(self) -> Place:
        """Return where it stands among the sources of its group."""
        return (self.trace_id or "", self.occurred_at, self.sequence, self.id)


Place = tuple[str, "datetime", int, "UUID"]
"""(trace, moment, sequence, id): the order of a group's sources, those without a trace first."""


@dataclass(frozen=True, slots=True)
class _Read:
    source: Source
    words: frozenset[str]


def episodes(sources: Iterable[Source]) -> Iterator[tuple[Source, ...]]:
    """Yield the episodes of one group's sources, given in the order of their places.

    At most `MOST` + `SIDE` sources are held at a time. O(words) in all.
    """
    stream = (_Read(source, frozenset(content_words(source.text))) for source in sources)
    ahead = deque(islice(stream, SIDE))
    current: list[_Read] = []
    while ahead:
        if current and _ends(current, ahead):
            yield tuple(read.source for read in current)
            current = []
        current.append(ahead.popleft())
        ahead.extend(islice(stream, 1))
    if current:
        yield tuple(read.source for read in current)


def _ends(current: Sequence[_Read], ahead: deque[_Read]) -> bool:
    last, following = current[-1].source, ahead[0].source
    if last.trace_id != following.trace_id or len(current) >= MOST:
        return True
    if len(current) >= ENOUGH and following.id.int % _ENDS_ONE_IN == 0:
        return True
    if following.trace_id is not None:
        return False
    return following.occurred_at - last.occurred_at > GAP or _is_new_topic(current[-SIDE:], ahead)


def _is_new_topic(before: Iterable[_Read], after: Iterable[_Read]) -> bool:
    """Return whether hardly a word of one side is said on the other (after TextTiling's gaps)."""
    earlier = {word for each in before for word in each.words}
    other = {word for each in after for word in each.words}
    least = min(len(earlier), len(other))
    return least >= SIDE_WORDS and len(earlier & other) < SHARED * least


def fingerprint(contents: Iterable[tuple[UUID, str]]) -> str:
    """Return what tells sets of (id, content hash) apart, in any order: "<count>:<16 hex digits>".

    The exclusive or of the first 64 bits of MD5 over "<id>:<content hash>"; PostgreSQL computes
    the same. Not against somebody who wants two sets to look alike: both are their own.
    """
    count, mixed = 0, 0
    for node_id, content_hash in contents:
        text = f"{node_id}:{content_hash}".encode()
        digest = hashlib.md5(text, usedforsecurity=False).digest()
        count, mixed = count + 1, mixed ^ int.from_bytes(digest[:8])
    return f"{count}:{mixed:016x}"


class Scope(StrEnum):
    """What a summary is of; `kind` of its node."""

    EPISODE = "episode"  # scope_id: the trace, or the session it is a run of
    SESSION = "session"
    AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Whose sources are summarised together: one session, trace or agent, and one audience.

    `conversation_id` is set for the messages of a conversation. One of `session_id`, `trace_id`
    (of events without a session) and `agent` names it.
    """

    client_id: str
    scope: str
    agents: tuple[str, ...] | None
    data_subjects: tuple[UUID, ...]
    session_id: str | None = None
    trace_id: str | None = None
    agent: str | None = None
    conversation_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupState:
    """A group and what its sources are now: how many, and their `episodes.fingerprint`."""

    group: Group
    sources: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSummary:
    """A summary as it stands. `covers` and `made_of` say of what, as `entries.Draft`s."""

    id: UUID
    kind: str
    state: State
    covers: str
    made_of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldEdge:
    """An open SUMMARIZES or DERIVED_FROM edge of a derived node."""

    id: UUID
    relation: str
    source_id: UUID
    target_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityState:
    """An entity, what is held true of it, and what its sources are now, as in `GroupState`."""

    id: UUID
    data_subjects: tuple[UUID, ...]
    metadata: Mapping[str, Any]
    compiled_truth: str | None = None
    sources: int = 0
    fingerprint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartState:
    """A document or section as it is stored. `content_hash` is that of what it is a summary of."""

    id: UUID
    label: str
    document_id: UUID
    data_subjects: tuple[UUID, ...]
    content_hash: str
    metadata: Mapping[str, Any]

    @property
    def own_metadata(self) -> Mapping[str, Any]:
        """Return what Cairn keeps beside what the caller gave, {} without."""
        own = self.metadata.get(OWN_METADATA)
        return cast("Mapping[str, Any]", own) if isinstance(own, dict) else {}

    @property
    def covers(self) -> str | None:
        """Return what its summary was asked of; None when no model was asked."""
        return self.own_metadata.get("summary", {}).get("covers")


MOST_PARTS = 500
"""Chunks or sections that a document's or section's summary is made of at the most."""

PART_CHARS = 8_000
"""Characters of one of them; a chunk of prose has fewer."""

SOURCE_CHARS = 2_000
"""Characters of one source that a summary is made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRequest:
    """A text to be written: of what, out of which texts, for whose account."""

    scope: str
    texts: tuple[str, ...]
    workspace_id: UUID
    run_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensed:
    """A short text and who made it. `is_extract`: sentences of the sources, nothing reworded.

    `refused` names why a model's answer was not taken, and rules answered instead.
    """

    text: str
    provider: str
    model: str
    is_extract: bool
    refused: str | None = None


Condense: TypeAlias = "Callable[[TextRequest], Condensed]"
"""Makes a short text of longer ones; says nothing they do not say, and falls back to rules."""
