"""How far polling a help desk got: the time of the last change seen, and what was seen at its edge.

A help desk's list is late by seconds and its clock is coarse, so each poll begins a little before
the last change it knows; `seen` spares reading again what was read then.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import format_timestamp, parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable

OVERLAP = timedelta(minutes=2)
MAX_SEEN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """`since` is where the next list begins, `start` how many of it to pass over.

    `seen` are (id, time of change) of what the list's beginning held the last time.
    """

    since: datetime
    start: int = 0
    seen: frozenset[tuple[str, str]] = frozenset()

    def __str__(self) -> str:
        """Return it as a source keeps it."""
        seen = sorted(self.seen)[:MAX_SEEN]
        return json.dumps([format_timestamp(self.since), self.start, seen], separators=(",", ":"))

    def after(self, listed: Iterable[tuple[str, datetime]], *, full: bool, size: int) -> Cursor:
        """Return where to go on after a list of (id, time of change), by that time.

        A `full` list has more behind it; `size` is how long it was. When all of it changed at one
        moment the next begins behind it, else at the last moment it holds.
        """
        found = list(listed)
        newest = max((at for _, at in found), default=self.since)
        every = {(one, format_timestamp(at)) for one, at in found} | self.seen
        if full and newest <= self.since:
            return Cursor(since=self.since, start=self.start + size, seen=frozenset(every))
        since = newest if full else max(self.since, newest - OVERLAP)
        edge = frozenset(each for each in every if each[1] >= format_timestamp(since))
        return Cursor(since=since, seen=edge)

    def has_seen(self, external_id: str, changed_at: datetime) -> bool:
        """Return whether this form of a ticket was read before."""
        return (external_id, format_timestamp(changed_at)) in self.seen


def read_cursor(kept: str | None, begin: datetime) -> Cursor:
    """Return a kept cursor; one that begins at `begin` when there is none, or none of ours."""
    if kept is None:
        return Cursor(since=begin)
    try:
        since, start, seen = json.loads(kept)
        pairs = frozenset((str(one), str(at)) for one, at in seen)
        return Cursor(since=parse_timestamp(since), start=int(start), seen=pairs)
    except (ValueError, TypeError, ValidationFailed):
        return Cursor(since=begin)
