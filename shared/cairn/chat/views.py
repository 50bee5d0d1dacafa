"""Turns, their events and what waits, as readers see them. Records: what was forgotten is empty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.chat.rows import AnsweredBy, ChatActionState, TurnState


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An event as its reader gets it."""

    seq: int
    name: str
    data: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionView:
    """What a person is asked, or was. `arguments` are empty once they were forgotten."""

    id: UUID
    turn_id: UUID
    tool: str
    arguments: Mapping[str, Any]
    arguments_hash: str
    state: ChatActionState
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None = None
    result: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """A turn as its reader sees it. `source` is what answered: a model, or rules."""

    id: UUID
    session_id: str
    state: TurnState
    source: AnsweredBy | None
    answer: str | None
    citations: Sequence[str]
    conversation_id: UUID | None
    message_id: UUID | None
    labels: Mapping[str, Any]
    title: str | None
    suggestions: Sequence[str]
    actions: Sequence[ActionView]
    error: str | None
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEvents:
    """Events after a number. `ended`: nothing follows `after` any more."""

    items: Sequence[Told]
    after: int
    ended: bool
