"""The same thing said again: a true duplicate, or another agent's corroboration."""

from dataclasses import dataclass
from uuid import UUID

MAX_OBSERVED_BY = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An active memory with the identity of the one being written."""

    id: UUID
    position: int
    observed_by: tuple[str, ...]


def observers_after(known: Known, agent: str) -> tuple[str, ...] | None:
    """Return who has observed the memory once `agent` has, or None when nothing is to be written.

    None for an agent that said it before, and past MAX_OBSERVED_BY: that is acknowledged in the
    answer, not recorded.
    """
    if agent in known.observed_by or len(known.observed_by) >= MAX_OBSERVED_BY:
        return None
    return (*known.observed_by, agent)
