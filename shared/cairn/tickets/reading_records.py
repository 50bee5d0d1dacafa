"""Fields of a help desk's records, read without trusting their types. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping


def text_at(record: Mapping[str, Any], *path: str) -> str:
    """Return a text, a number as one too; "" for anything else."""
    value: Any = record
    for name in path:
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, dict) else None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return str(value)


def time_at(record: Mapping[str, Any], *path: str) -> datetime | None:
    """Return an ISO 8601 time in UTC; one without an offset is taken for UTC. None for no time."""
    text = text_at(record, *path)
    try:
        read = datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None
    except ValueError:
        return None
    if read is None:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
