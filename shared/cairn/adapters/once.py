"""Finding one's own writes again in services that know no idempotency keys: a mark in the text.

A write looks for its mark first. Two calls under one key at the same moment may both find none;
Cairn calls one action at a time, and a repeat comes after a crash, not beside it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Mapping

LEEWAY = timedelta(days=1)
"""How far the clocks of two services may be apart; generous, since it costs a longer look only."""


def mark(key: str) -> str:
    """Return what is written into a text so that it is found again."""
    return f"cairn:{key}"


def has_mark(record: Mapping[str, object], key: str, *fields: str) -> bool:
    """Return whether one of a record's texts holds the mark of `key`."""
    return any(mark(key) in str(record.get(field) or "") for field in fields)


def not_before(key: str) -> datetime | None:
    """Return when a write under `key` can have happened at the earliest, None when it is unknown.

    Keys of Cairn's are UUIDs of version 7, which begin with the milliseconds they were made at.
    """
    try:
        uuid = UUID(key)
        if uuid.version != 7:
            return None
        return datetime.fromtimestamp((uuid.int >> 80) / 1000, UTC) - LEEWAY
    except (ValueError, OverflowError):  # no UUID, or one of a time beyond any calendar
        return None
