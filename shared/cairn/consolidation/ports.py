"""What consolidating needs of the stores. Contracts; adapters live in `storage`.

Not what a plan is (`plan`) nor the record of a run (`runs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from cairn.writing.ports import WriteStores

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.consolidation.plan import BatchMemory, Pair
    from cairn.consolidation.runs import RunStore
    from cairn.enrichment.ports import AliasReader, EmbeddingStore


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
        """Return pairs of these memories with any of their client and audience, nearest first.

        Up to `wanted` others each, from `minimum` cosine on, found by the index: one may be missed.
        """
        ...

    def pairs(self, ids: Collection[UUID], model_id: int, *, minimum: float) -> Sequence[Pair]:
        """Return every pair among these memories from `minimum` cosine on, exactly."""
        ...

    def standing(self, ids: Collection[UUID]) -> Mapping[UUID, Standing]:
        """Return how those of the memories stand that are still to be found."""
        ...

    def left(self, model_id: int) -> Mapping[str, int]:
        """Count what no run takes: `without_vector`, and `suspicious` by their screening."""
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
    def embeddings(self) -> EmbeddingStore: ...


class ListWorkspaces(Protocol):
    """Returns the ids of all workspaces."""

    def __call__(self) -> Sequence[UUID]: ...


class WorkspaceStep(Protocol):
    """Something done to a workspace once its memories are consolidated, for at most some seconds.

    Safe to repeat and to run twice at once; `run_id` is the run it is part of, if there is one.
    """

    def __call__(
        self, workspace_id: UUID, run_id: UUID | None, *, seconds: float
    ) -> Mapping[str, int | bool]:
        """Return counts, and `more` when time ran out before all was done."""
        ...
