"""Where new events stand among a session's others: the FOLLOWS edges they make and replace. Pure.

Late events are ordinary: the edge that bridged their place ends, and two new ones begin.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

UNNUMBERED = -1
"""The sequence of an event that has none: before the numbered ones of the same moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEvent:
    """An event's place in its session. `follows_edge` is the open edge to the one before it."""

    id: UUID
    occurred_at: datetime
    sequence: int = UNNUMBERED
    follows_edge: UUID | None = None

    @property
    def place(self) -> tuple[datetime, int, UUID]:
        """Return what a session is ordered by: time, then number, then the order of arrival."""
        return (self.occurred_at, self.sequence, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """A new edge: source FOLLOWS target, `delta_ms` milliseconds later."""

    source_id: UUID
    target_id: UUID
    delta_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Insertion:
    """What one new event does to its session's order."""

    added: tuple[Following, ...] = ()
    closed: tuple[UUID, ...] = ()


class Timeline:
    """One session as one audience sees it, around the events that a batch brings.

    `stored` are the neighbours of every new event's place, `new` the whole batch: edges go
    straight to the final order, so that none is made and ended within a batch.
    """

    def __init__(self, stored: Iterable[TimelineEvent], new: Iterable[TimelineEvent]) -> None:
        fresh = list(new)
        self._new = {one.id for one in fresh}
        everyone = {one.id: one for one in (*stored, *fresh)}
        self._order = sorted(everyone.values(), key=lambda one: one.place)
        self._places = [one.place for one in self._order]

    def insert(self, event: TimelineEvent) -> Insertion:
        """Return the edges of one of the new events."""
        at = bisect_left(self._places, event.place)
        before = self._order[at - 1] if at > 0 else None
        after = self._order[at + 1] if at + 1 < len(self._order) else None
        added = [_following(event, before)] if before else []
        closed: tuple[UUID, ...] = ()
        if after and after.id not in self._new:  # a new one makes its own edge
            added.append(_following(after, event))
            closed = (after.follows_edge,) if after.follows_edge else ()
        return Insertion(added=tuple(added), closed=closed)


def _following(later: TimelineEvent, earlier: TimelineEvent) -> Following:
    delta_ms = (later.occurred_at - earlier.occurred_at) // timedelta(milliseconds=1)
    return Following(source_id=later.id, target_id=earlier.id, delta_ms=delta_ms)
