"""What the API needs of the graph: subgraphs, lineages and feedback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.api.walk_services import GraphServices
from cairn.clock import monotonic, utc_now
from cairn.errors import Unavailable
from cairn.retrieval.feedback import GiveFeedback
from cairn.retrieval.intents import classify
from cairn.retrieval.lineage import TraceLineage
from cairn.retrieval.recipes import MIN_COSINE
from cairn.retrieval.subgraph import QuerySubgraph
from cairn.retrieval.understanding import understand
from cairn.storage.postgres.graph_reader import PostgresFeedback, graph_transactions
from cairn.storage.postgres.recall import PostgresVectorLeg

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.access import Principal
    from cairn.embedding.port import Embedder
    from cairn.graph.intent_weights import Intent
    from cairn.retrieval.ports import VectorLeg
    from cairn.retrieval.records import Filters
    from cairn.storage.postgres.database import Database

SIMILAR_TIMEOUT_MS = 2_000


@dataclass(frozen=True)
class SimilarNodes:
    """Finds nodes like a question by their vectors, for questions that name no entity."""

    embedder: Embedder
    leg: VectorLeg

    def __call__(
        self, principal: Principal, query: str, filters: Filters, limit: int
    ) -> Sequence[UUID]:
        """Return at most `limit` nodes, the likest first; none when they cannot be found now."""
        try:
            found = self.leg.search(
                principal,
                self.embedder.embed([query])[0],
                filters,
                model_id=self.embedder.model.id,
                minimum=MIN_COSINE,
                limit=limit,
                timeout_ms=SIMILAR_TIMEOUT_MS,
            )
        except Unavailable:
            return ()
        return [candidate.node_id for candidate in found]


def walk_services(opened: Database, embedder: Embedder) -> GraphServices:
    """Build them; nothing connects and no model is read yet."""
    transactions = graph_transactions(opened)
    return GraphServices(
        subgraph=QuerySubgraph(
            transactions=transactions,
            classify=_by_rules,
            clock=utc_now,
            stopwatch=monotonic,
            similar=SimilarNodes(embedder, PostgresVectorLeg(opened)),
        ),
        lineage=TraceLineage(transactions=transactions, stopwatch=monotonic),
        feedback=GiveFeedback(store=PostgresFeedback(opened), clock=utc_now),
    )


def _by_rules(question: str) -> Mapping[Intent, float]:
    return classify(question, asked=understand(question, utc_now()))
