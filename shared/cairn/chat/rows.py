"""Rows of chat: a turn, an event of it, an action that waits for the person."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID


class TurnState(StrEnum):
    """How far a turn is."""

    RUNNING = "running"
    DONE = "done"
    REFUSED = "refused"  # a public message that screening turned away
    ABORTED = "aborted"
    FAILED = "failed"
    PASSED = "passed"  # kept for a person, who answers


class ChatActionState(StrEnum):
    """What became of what a person is asked about."""

    PENDING = "pending"
    RUNNING = "running"  # the person said yes
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"  # shown of a pending one whose time is up


class AnsweredBy(StrEnum):
    """What answered."""

    MODEL = "model"
    RULES = "rules"
    PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """A turn. What was said is sealed under the keys of its data subjects, bound to its id."""

    id: UUID
    principal_id: UUID
    client_id: str | None
    session: bytes
    state: TurnState
    source: AnsweredBy | None
    data_subjects: tuple[UUID, ...]
    question: bytes
    answer: bytes | None
    digest: bytes
    seq: int
    created_at: datetime
    deadline: datetime
    ended_at: datetime | None
    door: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A turn that begins. `door` is by which its session came; None for a chat of a key."""

    id: UUID
    principal_id: UUID
    client_id: str | None
    session: bytes
    address: bytes | None
    data_subjects: tuple[UUID, ...]
    question: bytes
    digest: bytes
    created_at: datetime
    deadline: datetime
    state: TurnState = TurnState.RUNNING
    ended_at: datetime | None = None
    door: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """An event; `data` has no texts, `sealed` has them."""

    seq: int
    name: str
    data: Mapping[str, Any]
    sealed: bytes | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRow:
    """What a person is asked about. `arguments_hash` is of the tool's name and its arguments."""

    id: UUID
    turn_id: UUID
    principal_id: UUID
    session: bytes
    tool: str
    arguments: bytes
    arguments_hash: str
    data_subjects: tuple[UUID, ...]
    state: ChatActionState
    result: bytes | None
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None
