"""What a search for somebody goes by: their profile, derived from what stands at that moment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.events.read import EventFilter
from cairn.graph.edge import Relation
from cairn.graph.entities import extract_entities
from cairn.graph.node import State
from cairn.profiles.derive import MAX_EVIDENCE, NO_INTERESTS, derive
from cairn.reading.views import NamedEntity
from cairn.recall.personal import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.profiles.derive import Profile
    from cairn.reading.views import MemoryView

MOST_READ = 500
"""Memories, and events, that a search goes by: the newest."""


@dataclass(frozen=True, slots=True)
class ReadTraits:
    """Derives them by the rules, as the principal may see the client's memories and events.

    What was deleted, forgotten, corrected, screened out or kept from recall is none of it. Of the
    past: what was known at a ledger position, without patterns of events.
    """

    transactions: Transactions[Stores]

    def __call__(
        self, principal: Principal, client_id: str, at: datetime, as_of_position: int | None
    ) -> Sequence[Trait]:
        """Return the traits of a client."""
        with self.transactions.reading(principal) as stores:
            memories = stores.profiles.memories(client_id, as_of_position, now=at, limit=MOST_READ)
            events = (
                stores.event_views.events(
                    EventFilter(client_id=client_id), limit=MOST_READ, after=None
                )
                if as_of_position is None
                else ()
            )
        standing = [each for each in events if each.state == State.ACTIVE]
        texts = [_with_names(each) for each in memories]
        return tuple(traits_of(derive(client_id, texts, standing, at, truncated=False)))


def traits_of(profile: Profile) -> Iterator[Trait]:
    """Yield the traits of a profile, each with its evidence."""
    for each in profile.preferences:
        yield Trait(relation=Relation.HAS_PREFERENCE, evidence=(each.id,))
    for skill in profile.skills:
        yield Trait(relation=Relation.HAS_SKILL, evidence=(skill.id,))
    for interest in profile.interests:
        yield Trait(
            relation=Relation.INTERESTED_IN,
            evidence=interest.evidence,
            weight=min(interest.score, 1.0),
            name=interest.name,
        )
    for pattern in profile.patterns:
        yield Trait(
            relation=Relation.EXHIBITS_PATTERN,
            evidence=pattern.evidence,
            weight=pattern.strength,
        )
    if profile.facts:
        facts = tuple(each.id for each in profile.facts)
        yield Trait(relation=Relation.HAS_PROFILE, evidence=facts[:MAX_EVIDENCE])


def _with_names(memory: MemoryView) -> MemoryView:
    """Return a memory with what its text names, where its entities are hidden from the reader."""
    if any(each.type not in NO_INTERESTS for each in memory.entities):
        return memory
    found_names = extract_entities(memory.text, client_id=None, source_agent=None)
    entities = tuple(NamedEntity(name=each.name, type=each.type) for each in found_names)
    return replace(memory, entities=entities)
