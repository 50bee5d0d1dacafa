"""The same thing said again: a true duplicate, or another agent's corroboration."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

MAX_OBSERVED_BY = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMemory:
    """A memory with the identity of the one being written, active or superseded.

    `position` is that of the entry that made it; later ones, such as enrichments, do not move it.
    """

    id: UUID
    position: int
    observed_by: tuple[str, ...]
    valid_from: datetime
    active: bool

    def retired(self) -> "KnownMemory":
        """Return the memory once it is superseded."""
        return replace(self, active=False)


def same_assertion(memories: Iterable[KnownMemory], valid_from: datetime) -> KnownMemory | None:
    """Return the memory that already says this: the active one, or one from the same moment.

    A fact that was replaced and then holds again is a new assertion; the old one told again, with
    the moment it had then, is not.
    """
    results = sorted(memories, key=lambda memory: (not memory.active, memory.position))
    return next((item for item in results if item.active or item.valid_from == valid_from), None)


def observers_after(memory: KnownMemory, agent: str) -> tuple[str, ...] | None:
    """Return who has observed the memory once `agent` has, or None when nothing is to be written.

    None for an agent that said it before, for a memory no longer active, and past
    MAX_OBSERVED_BY: that is acknowledged in the answer, not recorded.
    """
    if (
        not memory.active
        or agent in memory.observed_by
        or len(memory.observed_by) >= MAX_OBSERVED_BY
    ):
        return None
    return (*memory.observed_by, agent)
