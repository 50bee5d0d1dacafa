"""Subgraphs around a question, beside recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.llm.budget import Budget
from cairn.llm.costs import Call
from cairn.recall.questions.model_calls import ModelCalls
from cairn.recall.questions.understanding import understand
from cairn.recall.similar_nodes import MatchedNodes
from cairn.recall.walks.subgraph import QuerySubgraph

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.adapters.postgres.database import Database
    from cairn.graph.intent_weights import Intent
    from cairn.llm.budget import Limits
    from cairn.recall.questions.intents import IntentClassifier
    from cairn.recall.recall import Recall


@dataclass(frozen=True)
class Classified:
    """Says what a question is after, as recall's classifier does, within a budget of its own."""

    classifier: IntentClassifier
    limits: Limits

    def __call__(self, workspace_id: UUID, question: str) -> Mapping[Intent, float]:
        """Return the intents with their confidence."""
        budget = Budget(self.limits, stopwatch=monotonic)
        calls = ModelCalls(budget, Call(workspace_id=workspace_id))
        asked = understand(question, utc_now())
        return self.classifier(question, asked=asked, calls=calls).confidence


def subgraph(opened: Database, recalled: Recall) -> QuerySubgraph:
    """Build it beside recall, whose legs, classifier and settings it shares."""
    return QuerySubgraph(
        transactions=StoreTransactions(opened),
        classify=Classified(recalled.asking.intents, recalled.limits),
        clock=utc_now,
        stopwatch=monotonic,
        similar=MatchedNodes(
            legs=recalled.legs,
            transactions=recalled.transactions,
            clock=utc_now,
            new_id=new_id,
        ),
        settings=recalled.settings,
    )
