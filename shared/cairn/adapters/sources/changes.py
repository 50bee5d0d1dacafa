"""What a source was when it was read last, where only what changed since is listed. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from cairn.sources.reader import Limits

WHOLE_EVERY = timedelta(hours=24)
"""After this a source is listed whole again: only then is it seen what is gone without a trace."""

LISTS_AN_ITEM, LISTS_SPARE = 10, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Where this run begins. `since` is when the one before began; None: all is listed."""

    began: datetime
    since: datetime | None
    listed: datetime

    @classmethod
    def of(cls, limits: Limits) -> Changes:
        """Return what a run lists, by what the version of the source says."""
        try:
            before = json.loads(limits.since or "")
            since, listed = (datetime.fromisoformat(before[name]) for name in ("since", "listed"))
        except (ValueError, TypeError, KeyError):
            since, listed = None, limits.began
        if since is None or since > limits.began or limits.began - listed >= WHOLE_EVERY:
            return cls(began=limits.began, since=None, listed=limits.began)
        return cls(began=limits.began, since=since, listed=listed)

    def version(self) -> str:
        """Return what the next run begins with, when this one has come to its end."""
        return json.dumps({"since": self.began.isoformat(), "listed": self.listed.isoformat()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far a listing is: which part of it, the service's own cursor and lists so far there."""

    part: str
    next: str | None = None
    lists: int = 0

    @classmethod
    def of(cls, cursor: str | None) -> Place | None:
        """Return what a cursor says; None at the beginning."""
        return None if cursor is None else cls(**json.loads(cursor))

    def after(self, part: str | None, next_: str | None, most: int) -> str | None:
        """Return the cursor of what follows; None at the end.

        Raises ValidationFailed where a service gives the same place again, or never ends.
        """
        if part is None:
            return None
        if (part, next_) == (self.part, self.next) or self.lists >= most:
            raise ValidationFailed("The service lists without end.", reason="endless-list")
        lists = self.lists + 1 if part == self.part else 0
        return Place(part=part, next=next_, lists=lists).cursor()

    def cursor(self) -> str:
        """Return it as a cursor."""
        return json.dumps({"part": self.part, "next": self.next, "lists": self.lists})


def most_lists(limits: Limits) -> int:
    """Return how many lists a source of so many items may have."""
    return limits.items // LISTS_AN_ITEM + LISTS_SPARE


def moment(value: Any) -> datetime | None:
    """Return a time of a service; None for what is none."""
    try:
        parsed = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return parsed if parsed.tzinfo is not None else None


def plain(value: Any, most: int) -> str:
    """Return text of a service as one printable line of at most `most` characters."""
    text = value if isinstance(value, str) else ""
    return " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * most]).split())[:most]
