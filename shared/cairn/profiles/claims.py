"""What a model read in a client's memories: which state what, and what they show together. Pure.

A claim is about memories that stand, and lasts as long as they do. Not the asking (`ask`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """What memories show together, in their words."""

    text: str
    memories: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What was read. `up_to` is the newest memory's position a model was shown; `by` names it."""

    preferences: frozenset[UUID] = frozenset()
    skills: tuple[tuple[UUID, str], ...] = ()
    interests: tuple[tuple[UUID, str], ...] = ()
    habits: tuple[Habit, ...] = ()
    up_to: int = 0
    by: str | None = None

    @property
    def memories(self) -> frozenset[UUID]:
        """Return the memories that something is claimed of."""
        ids = [id_ for id_, _ in (*self.skills, *self.interests)]
        return self.preferences.union(ids, *(each.memories for each in self.habits))

    def told(self) -> dict[str, Any]:
        """Return them as the metadata of a profile keep them."""
        return {
            "preferences": sorted(str(id_) for id_ in self.preferences),
            "skills": [[str(id_), name] for id_, name in self.skills],
            "interests": [[str(id_), name] for id_, name in self.interests],
            "habits": [
                {"text": each.text, "memories": [str(id_) for id_ in each.memories]}
                for each in self.habits
            ],
            "up_to": self.up_to,
            "by": self.by,
        }

    def without(self, memories: Iterable[UUID]) -> Claims:
        """Return what is claimed of other memories than these; a habit as long as one is."""
        gone = frozenset(memories)
        return Claims(
            preferences=self.preferences - gone,
            skills=tuple(each for each in self.skills if each[0] not in gone),
            interests=tuple(each for each in self.interests if each[0] not in gone),
            habits=tuple(each for each in self.habits if not gone.issuperset(each.memories)),
            up_to=self.up_to,
            by=self.by,
        )

    def and_also(self, others: Claims) -> Claims:
        """Return these and others, which were read later."""
        return Claims(
            preferences=self.preferences | others.preferences,
            skills=(*self.skills, *others.skills),
            interests=(*self.interests, *others.interests),
            habits=(*self.habits, *others.habits),
            up_to=max(self.up_to, others.up_to),
            by=others.by or self.by,
        )


NONE: Final = Claims()


def claims_of(metadata: Mapping[str, Any]) -> Claims:
    """Return what the metadata of a profile keep; `NONE` for one no model was asked about."""
    if not metadata:
        return NONE
    return Claims(
        preferences=frozenset(UUID(id_) for id_ in metadata["preferences"]),
        skills=tuple((UUID(id_), name) for id_, name in metadata["skills"]),
        interests=tuple((UUID(id_), name) for id_, name in metadata["interests"]),
        habits=tuple(
            Habit(text=each["text"], memories=tuple(UUID(id_) for id_ in each["memories"]))
            for each in metadata["habits"]
        ),
        up_to=metadata["up_to"],
        by=metadata["by"],
    )
