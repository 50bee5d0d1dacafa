"""When memories are the same, replace one another, or are each other's context. Pure; no rows.

Identity always includes the audience: a caller must neither learn from a "duplicate" that someone
else's memory exists, nor replace what it may not see.
"""

import hashlib
import json
from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from cairn.kernel.access import Scope
from cairn.memories.draft import MemoryDraft
from cairn.memories.kinds import LIFECYCLES, MemoryKind
from cairn.writing.audience import Audience


def dedup_key(draft: MemoryDraft) -> str:
    """Return the identity for exact dedup: 32 hex characters.

    Content, client and kind within one audience, and what the memory is about (key, subject,
    status value). Events are append-only, so when and where they happened is part of them.
    """
    parts: list[object] = [
        *_audience(draft),
        draft.content_hash,
        draft.key,
        draft.subject,
        draft.status_value,
    ]
    if draft.kind is MemoryKind.EVENT:
        parts += [draft.occurred_at.isoformat(), draft.session_id, draft.sequence]
    return _digest([*parts, *_item(draft)])


def chain_key(draft: MemoryDraft) -> str | None:
    """Return the identity of the supersede chain, or None when nothing can replace the memory."""
    by = LIFECYCLES[draft.kind].superseded_by
    name = draft.key if by == "key" else draft.subject if by == "subject" else None
    within = [draft.namespace] if draft.namespace else []
    return _digest([*_audience(draft), name, *within]) if name else None


def _item(draft: MemoryDraft) -> list[object]:
    """Return what makes items of a namespace different besides: their metadata are their value."""
    parts: list[object] = []
    if draft.namespace:
        own = {name: value for name, value in draft.metadata.items() if name != "cairn"}
        parts += [draft.namespace, json.dumps(own, sort_keys=True)]
    return [*parts, f"ttl:{draft.ttl_seconds}"] if draft.ttl_seconds else parts


def _audience(draft: MemoryDraft) -> list[object]:
    audience = draft.audience
    return [
        draft.kind,
        draft.client_id,
        audience.scope,
        sorted(audience.agents) if audience.agents is not None else None,
        sorted(str(subject) for subject in audience.data_subjects),
        *_inside(draft),
    ]


def _inside(draft: MemoryDraft) -> list[object]:
    """Return the conversation a memory stays in: what is public, or of nobody by name.

    A visitor sees one conversation, and two visitors without a name are two people.
    """
    stays = draft.audience.scope == Scope.PUBLIC or not draft.audience.data_subjects
    return [str(draft.conversation_id)] if draft.conversation_id and stays else []


def _digest(parts: list[object]) -> str:
    packed = json.dumps(parts, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(packed.encode()).hexdigest()[:32]


CONTEXT_MESSAGES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a session, as far as its neighbours are concerned."""

    id: UUID
    sequence: int
    text: str


class Conversation:
    """The messages of one session and audience, in order. Not all of them need be known: those
    around the one asked about are enough."""

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages = sorted(messages, key=_order)

    def add(self, message: Message) -> None:
        """Take in a new message."""
        insort(self._messages, message, key=_order)

    def remove(self, message_id: UUID) -> None:
        """Let a message go."""
        self._messages = [message for message in self._messages if message.id != message_id]

    def context(self, message: Message) -> tuple[Message, ...]:
        """Return up to CONTEXT_MESSAGES messages before `message`, oldest first."""
        index = bisect_left(self._messages, _order(message), key=_order)
        return tuple(self._messages[max(0, index - CONTEXT_MESSAGES) : index])

    def dependants(self, message: Message) -> tuple[Message, ...]:
        """Return the messages whose context holds `message`: they are enriched again with it."""
        index = bisect_left(self._messages, _order(message), key=_order)
        after = self._messages[index : index + CONTEXT_MESSAGES + 1]
        return tuple(item for item in after if item.id != message.id)[:CONTEXT_MESSAGES]


def _order(message: Message) -> tuple[int, UUID]:
    return (message.sequence, message.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One memory of a chain, as far as the chain is concerned."""

    id: UUID
    valid_from: datetime
    valid_to: datetime | None
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The neighbours a new link gets, and the moment each stops being true."""

    previous: Link | None
    following: Link | None
    valid_to: datetime | None
    previous_valid_to: datetime | None

    @property
    def is_end(self) -> bool:
        """True when the new link is the one that holds now."""
        return self.following is None

    def closed_previous(self) -> Link:
        """Return the link before, as the placement leaves it."""
        if self.previous is None:
            raise ValueError("nothing comes before this link")
        return replace(self.previous, valid_to=self.previous_valid_to)


def place(chain: Iterable[Link], valid_from: datetime, valid_to: datetime | None) -> Placement:
    """Return the place of a link that holds from `valid_from` (until `valid_to` when given).

    Of two that start together, the one recorded later follows.
    """
    ordered = sorted(chain, key=lambda link: (link.valid_from, link.position))
    before = [link for link in ordered if link.valid_from <= valid_from]
    after = [link for link in ordered if link.valid_from > valid_from]
    previous = before[-1] if before else None
    following = after[0] if after else None
    return Placement(
        previous=previous,
        following=following,
        valid_to=_earlier(valid_to, following.valid_from if following else None),
        previous_valid_to=_earlier(previous.valid_to, valid_from) if previous else None,
    )


def _earlier(first: datetime | None, other: datetime | None) -> datetime | None:
    moments = [moment for moment in (first, other) if moment is not None]
    return min(moments) if moments else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation as one audience sees it."""

    session_id: str
    audience: Audience


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMemory:
    """A memory about to be deleted: what the deletion has to know of it."""

    id: UUID
    position: int
    deleted: bool
    data_subjects: tuple[UUID, ...]
    session: Session | None
    sequence: int | None
    text: str
    client_id: str = "global"
