"""What the API needs of walks over the graph: use-case callables, as in `services`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.recall.searches.searches import Feedback
    from cairn.recall.walks.lineage import Lineage, LineageRequest
    from cairn.recall.walks.subgraph import Subgraph, SubgraphRequest
    from cairn.summaries.read import SummaryFilter, SummaryTree, SummaryView


class QuerySubgraph(Protocol):
    """Return what lies around a question or nodes, as the principal may see it.

    Unknown names and ids lead nowhere and are no error. ValidationFailed for bounds above the
    maximum and for a request that says no start, Unavailable when the graph cannot be read.
    """

    def __call__(self, principal: Principal, request: SubgraphRequest, /) -> Subgraph: ...


class TraceLineage(Protocol):
    """Return where a node comes from or what came of it; NotFound when it cannot be seen."""

    def __call__(self, principal: Principal, request: LineageRequest, /) -> Lineage: ...


class ReadSummaries(Protocol):
    """List summaries, and show what one is made of; NotFound for one that cannot be seen."""

    def page(
        self,
        principal: Principal,
        where: SummaryFilter,
        /,
        *,
        limit: int,
        after: tuple[datetime, UUID] | None = None,
    ) -> Sequence[SummaryView]: ...

    def tree(
        self,
        principal: Principal,
        summary_id: UUID,
        /,
        *,
        depth: int,
        as_of: datetime | int | None = None,
    ) -> SummaryTree: ...


class GiveFeedback(Protocol):
    """Keep whether a node was of use; NotFound when no search of the principal's returned it."""

    def __call__(self, principal: Principal, feedback: Feedback, /) -> Feedback: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphServices:
    """The use cases of walks over the graph."""

    subgraph: QuerySubgraph
    lineage: TraceLineage
    summaries: ReadSummaries
    feedback: GiveFeedback
