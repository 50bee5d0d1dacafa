"""What ages, by which rule and after how long; and the port that finds it. Not the cleanup."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.kernel.text.json_value import JsonValue


def ageing_meta(why: str, nodes: Sequence[UUID]) -> Mapping[str, JsonValue]:
    """Return what an entry says of all of `nodes`, in clear: random ids and an enum."""
    return {"node_ids": [str(node) for node in nodes], "rule": str(why)}


class Rule(StrEnum):
    """Why a node ages; stands in the entry that lets it."""

    EVENT_TTL = "event_ttl"  # an event memory nobody used and nobody called important
    FACT_UNUSED = "fact_unused"  # a fact nobody used; a verified one is knowledge and lasts longer
    GRAPH_UNUSED = "graph_unused"  # a fact, observation or resolution of the graph, likewise
    KNOWLEDGE_UNUSED = "knowledge_unused"  # a document of which no part was used
    DELETED = "deleted"  # soft-deleted for some days
    UNREFERENCED = "unreferenced"  # an entity nothing refers to


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetimes:
    """How long what is unused stays as it is."""

    event: timedelta = timedelta(days=30)
    fact: timedelta = timedelta(days=90)
    knowledge: timedelta = timedelta(days=180)
    deleted: timedelta = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutoffs:
    """Moments: what was recorded or last used before them has aged."""

    event: datetime
    fact: datetime
    knowledge: datetime
    deleted: datetime

    @classmethod
    def at(cls, now: datetime, lifetimes: Lifetimes) -> Cutoffs:
        """Return them as of `now`."""
        return cls(
            event=now - lifetimes.event,
            fact=now - lifetimes.fact,
            knowledge=now - lifetimes.knowledge,
            deleted=now - lifetimes.deleted,
        )


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Place:
    """Where a page of ageing nodes ended: they are looked at by time, then id."""

    at: datetime
    id: UUID


BEGINNING = Place(at=datetime(1, 1, 2, tzinfo=UTC), id=UUID(int=0))
FIRST_ENTITY = (0, UUID(int=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeingPage:
    """Some nodes old enough to be looked at, and those of them whose time is up.

    `last` is where the page ended, None when there was nothing left to look at.
    """

    last: Place | None
    due: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityPage:
    """Some entities in the order they were made, and those of them nothing refers to.

    `last` is the last one looked at: the ledger position that made it, and its id; None when none
    was left.
    """

    last: tuple[int, UUID] | None
    unreferenced: tuple[UUID, ...]
