"""What consolidating needs of the stores. Contracts; adapters live in `storage`.

Not what a plan is (`plan`) nor the record of a run (`runs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from cairn.ingestion.ports import WriteStores

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.consolidation.plan import BatchMemory, Pair
    from cairn.consolidation.runs import RunStore
    from cairn.embedding.port import Vectors
    from cairn.ingestion.enrich_ports import AliasReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client as the machine names it: its data subject, the workspace's id for no client."""

    id: UUID
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A memory under the ledger's lock: what a plan made before has to be compared with."""

    position: int
    consolidated: bool
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Existing:
    """An active memory that may say already what a merge would. `cosine` is 1 for equal texts."""

    id: UUID
    text: str
    source_agent: str | None
    cosine: float


class Unconsolidated(Protocol):
    """Memories as a consolidation reads them.

    Only such as are to be found (active, provisional), were screened as clean and have a vector of
    the model: what waits for its vector waits for its consolidation.
    """

    def clients(self) -> Sequence[Client]:
        """Return the clients with memories no consolidation has looked at, the oldest first."""
        ...

    def client(self, client_id: UUID) -> Client | None:
        """Return a client by its data subject (or the workspace's id); None when forgotten."""
        ...

    def next(
        self, client: str, model_id: int, *, without: Collection[UUID], limit: int
    ) -> Sequence[BatchMemory]:
        """Return the next memories nobody has looked at, by audience, then age by position.

        Those in `without` are left out: they were tried already.
        """
        ...

    def find(self, ids: Collection[UUID]) -> Sequence[BatchMemory]:
        """Return those of the memories that are to be found, looked at (`known`) or not."""
        ...

    def near(
        self, ids: Collection[UUID], model_id: int, *, minimum: float, wanted: int
    ) -> Sequence[Pair]:
        """Return the pairs of these memories with any of their client and audience.

        Up to `wanted` others each, from `minimum` cosine on; a pair stands once.
        """
        ...

    def standing(self, ids: Collection[UUID]) -> Mapping[UUID, Standing]:
        """Return how those of the memories stand that are still to be found."""
        ...

    def existing(
        self,
        like: BatchMemory,
        text_hash: str,
        vector: Vectors | None,
        model_id: int,
        *,
        wanted: int,
    ) -> Sequence[Existing]:
        """Return active memories of the client and audience of `like` that a text may repeat.

        All of that content hash, and with a vector the `wanted` nearest to it.
        """
        ...

    def left(self) -> Mapping[str, int]:
        """Count what no run takes yet: `without_vector` and `suspicious` memories."""
        ...


class VectorCache(Protocol):
    """The vectors of texts, as `ingestion.enrich_ports.EmbeddingStore` keeps them."""

    def cached(self, hashes: Collection[bytes], model_id: int) -> Mapping[bytes, Vectors]:
        """Return the cached vectors by SHA-256 of their text."""
        ...

    def cache(self, vectors: Mapping[bytes, Vectors], model_id: int, now: datetime) -> None:
        """Keep vectors by SHA-256 of their text."""
        ...


class ConsolidationStores(WriteStores, Protocol):
    """What consolidating needs of a transaction."""

    @property
    def unconsolidated(self) -> Unconsolidated: ...
    @property
    def runs(self) -> RunStore: ...
    @property
    def aliases(self) -> AliasReader: ...
    @property
    def embeddings(self) -> VectorCache: ...


class ListWorkspaces(Protocol):
    """Returns the ids of all workspaces."""

    def __call__(self) -> Sequence[UUID]: ...


class SummariseWorkspace(Protocol):
    """Brings a workspace's summaries up to its memories, for at most some seconds."""

    def __call__(self, workspace_id: UUID, *, seconds: float) -> dict[str, Any]:
        """Return counts, and `more` when time ran out before all was done."""
        ...


class Cleanup(Protocol):
    """Applies the rules of decay, expiry and purge to a workspace, for at most some seconds."""

    def __call__(self, workspace_id: UUID, *, seconds: float) -> dict[str, Any]:
        """Return counts, and `more` when time ran out before all was done."""
        ...
