"""What a change of embedding models reads and removes. Records and contracts; no rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cairn.enrichment.ports import EnrichStores

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class StalePage:
    """Some nodes in the order of their ids, and which of them need vectors of a model.

    `last` is the last id looked at, None when there was none left.
    """

    last: UUID | None
    looked_at: int
    node_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """A stored text that can be asked for."""

    id: UUID
    title: str | None
    text: str


class ModelVectors(Protocol):
    """Vectors of one model beside those of others, in one workspace."""

    def stale(self, model_id: int, *, after: UUID, limit: int) -> StalePage:
        """Look at the `limit` nodes after an id.

        A node needs vectors that has none of the model, or only older ones than another model made
        or than work that waits. Conversations and entities need some where they had some.
        """
        ...

    def text_positions(self, node_ids: Collection[UUID]) -> Mapping[UUID, int]:
        """Return the position of the newest work, done or waiting, that asked for vectors.

        That is the version of a node's text; nodes nobody asked for are left out.
        """
        ...

    def findable(self) -> int:
        """Return how many nodes are to be found."""
        ...

    def sample(self, model_id: int, other_id: int, *, limit: int) -> Sequence[Sampled]:
        """Return nodes with vectors of both models, in an order that depends on their ids only."""
        ...

    def indexed(self, model_id: int) -> bool:
        """Return whether there is an HNSW index for the model's vectors."""
        ...

    def drop_others(self, model_id: int, *, limit: int) -> int:
        """Remove vectors of all models but this one, cached ones last; return how many."""
        ...


class ReembedStores(EnrichStores, Protocol):
    """What a change of models needs of a transaction."""

    @property
    def model_vectors(self) -> ModelVectors: ...
