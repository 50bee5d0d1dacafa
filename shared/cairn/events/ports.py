"""What observing events asks of the stores. Contracts; adapters live in `storage`."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from cairn.events.timeline import TimelineEvent
from cairn.memories.ports import Session
from cairn.writing.ports import WriteStores


class EventStore(Protocol):
    """Events in the order of their sessions."""

    def around(
        self, places: Sequence[tuple[Session, TimelineEvent]]
    ) -> Mapping[Session, tuple[TimelineEvent, ...]]:
        """Return the stored events just before and just after each place, by session.

        Only those of the session's own audience; each with its open FOLLOWS edge.
        """
        ...

    def visible(self, node_ids: Collection[UUID]) -> frozenset[UUID]:
        """Return those of the nodes that the principal may see, whatever their label."""
        ...


class EventStores(WriteStores, Protocol):
    """What observing needs of a transaction."""

    @property
    def events(self) -> EventStore: ...
