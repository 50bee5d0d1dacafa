"""The graph's use cases for API tests: the real ones over the in-memory graph."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from tests.fakes.graph import InMemoryGraphTransactions
from tests.fakes.stores import InMemoryTransactions
from tests.support.graphs import Planted
from tests.support.remembering import admin_of

from cairn.graph.intent_weights import Intent
from cairn.kernel.access import Principal
from cairn.recall.searches.searches import Feedback, GiveFeedback
from cairn.recall.walks.lineage import TraceLineage
from cairn.recall.walks.subgraph import QuerySubgraph
from cairn.summaries.read import ReadSummaries

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@dataclass
class KeptFeedback:
    """Feedback by search, node and principal; `searches` are each principal's."""

    searches: dict[tuple[UUID, UUID], set[UUID]] = field(
        default_factory=dict[tuple[UUID, UUID], set[UUID]]
    )
    kept: dict[tuple[UUID, UUID, UUID], Feedback] = field(
        default_factory=dict[tuple[UUID, UUID, UUID], Feedback]
    )

    def returned(self, principal: Principal, search_id: UUID, node_id: UUID) -> bool | None:
        nodes = self.searches.get((principal.principal_id, search_id))
        return None if nodes is None else node_id in nodes

    def keep(self, principal: Principal, feedback: Feedback, now: datetime) -> None:
        key = (feedback.search_id, feedback.node_id, principal.principal_id)
        self.kept[key] = feedback


class GraphWorld:
    """A graph to plant into, and the use cases over it; it is asked in `workspace_id`."""

    def __init__(self, workspace_id: UUID) -> None:
        self.transactions = InMemoryTransactions()
        self.transactions.create_workspace(workspace_id)
        self.planted = Planted(transactions=self.transactions, principal=admin_of(workspace_id))
        self.feedback = KeptFeedback()

    def services(self) -> dict[str, Any]:
        reading = InMemoryGraphTransactions(self.transactions)
        return {
            "subgraph": QuerySubgraph(
                transactions=reading,
                classify=lambda _, query: {Intent.WHY: 0.7} if "why" in query.lower() else {},
                clock=lambda: NOW,
                stopwatch=lambda: 0.0,
            ),
            "lineage": TraceLineage(transactions=reading, clock=lambda: NOW, stopwatch=lambda: 0.0),
            "summaries": ReadSummaries(transactions=reading),
            "give_feedback": GiveFeedback(store=self.feedback, clock=lambda: NOW),
        }
