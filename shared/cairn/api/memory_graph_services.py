"""What the routes of the memory graph call. Contracts; the backend is in `lifecycle`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from cairn.graph.memory_records import Dump
    from cairn.kernel.access import Principal
    from cairn.memory_graph.ledger_graph import Imported, Page


class BoundGraph(Protocol):
    """The memory graph of one principal's workspace."""

    def export_page(
        self,
        workspace_id: UUID,
        after: Sequence[str] | None = None,
        *,
        position: int | None = None,
        limit: int,
    ) -> Page:
        """Return the next records of an export, as of a ledger position."""
        ...

    def import_records(self, workspace_id: UUID, stream: Iterable[Dump]) -> Imported:
        """Write records; ValidationFailed (`dangling-edge`) without an end."""
        ...


class MemoryGraphServices(Protocol):
    """The memory graph."""

    def bound_to(self, principal: Principal) -> BoundGraph:
        """Return the graph of a principal's workspace; Denied unless an admin."""
        ...
