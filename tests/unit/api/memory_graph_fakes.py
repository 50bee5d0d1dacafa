"""The memory graph behind the fake API: the backend in memory, paged as the real one is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.adapters.memory_graph import InMemoryGraph
from cairn.kernel.access import Role, Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.memory_graph.ledger_graph import Imported, Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from cairn.graph.memory_records import Dump
    from cairn.kernel.access import Principal


def _graph() -> InMemoryGraph:
    return InMemoryGraph(utc_now, new_id)


@dataclass
class MemoryGraphWorld:
    """One graph; `batches` are the sizes of what was imported."""

    graph: InMemoryGraph = field(default_factory=_graph)
    batches: list[int] = field(default_factory=list[int])

    def bound_to(self, principal: Principal) -> MemoryGraphWorld:
        principal.require(Role.ADMIN)
        principal.require_scope(Scope.ADMIN)
        return self

    def export_page(
        self,
        workspace_id: UUID,
        after: Sequence[str] | None = None,
        *,
        position: int | None = None,
        limit: int,
    ) -> Page:
        start = int(after[0]) if after else 0
        every = list(self.graph.export_all(workspace_id))
        end = start + limit
        more = (str(end),) if end < len(every) else None
        return Page(records=tuple(every[start:end]), position=position or 7, after=more)

    def import_records(self, workspace_id: UUID, stream: Iterable[Dump]) -> Imported:
        before = list(self.graph.export_all(workspace_id))
        records = list(stream)
        self.batches.append(len(records))
        self.graph.import_all(workspace_id, records)
        after = list(self.graph.export_all(workspace_id))
        return Imported(read=len(records), changed=sum(item not in before for item in after))
