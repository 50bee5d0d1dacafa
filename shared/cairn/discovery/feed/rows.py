"""Rows of feeds: what a model worded, and how each member's feed does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedRow:
    """What a model said of an opportunity, or of a member's cards together, at a version."""

    id: UUID
    member_id: UUID
    subject_id: UUID
    version: str
    data_subjects: tuple[UUID, ...]
    body: bytes
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRow:
    """How a member's feed did when it was looked at last, and what was done."""

    member_id: UUID
    score: float
    connections: int
    introductions: int
    expired: int
    looked_at: datetime
    rediscovered_at: datetime | None
    intents: int
    introduced: int
