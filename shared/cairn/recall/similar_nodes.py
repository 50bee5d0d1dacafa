"""The nodes a question's words and meaning match, each with a weight: where walks start.

The legs, fusion and ranking are recall's own, by its default recipe. Not recall: nothing is
rewritten, expanded, cached or recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.llm.budget import Budget, Limits
from cairn.llm.costs import Call
from cairn.recall.query import Search, SearchRequest
from cairn.recall.questions import gate, intents
from cairn.recall.questions.model_calls import ModelCalls
from cairn.recall.questions.read import Asking
from cairn.recall.ranking import best_fused, fuse, rank
from cairn.recall.recipes import DEFAULT, Recipe
from cairn.recall.second_pass import measuring

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.recall.legs import Legs
    from cairn.recall.records import Filters
    from cairn.recall.scoring import Scored


MATCHING = replace(DEFAULT, name="matching", scored=60)
"""The default recipe; fewer candidates are read, for fewer are wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedNodes:
    """Finds the nodes that a question's words and meaning match, with the legs of recall."""

    legs: Legs
    transactions: Transactions[Stores]
    clock: Clock
    new_id: IdSource
    recipe: Recipe = MATCHING

    def __call__(
        self,
        principal: Principal,
        question: str,
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Mapping[UUID, float]:
        """Return at most `limit` nodes with weights in (0, 1], the best first; the best has 1.

        A weight is the node's score as a share of the best one's. Filters hold, and the strict
        agent guard. Raises Unavailable when neither leg answers, or found nodes cannot be read.
        """
        search = self._search(principal, question, filters)
        legs = replace(self.legs, timeout_ms=min(timeout_ms, self.legs.timeout_ms))
        outcomes = legs.run(search)
        candidates = {leg: outcome.candidates for leg, outcome in outcomes.items()}
        fused = fuse(candidates, self.recipe)
        node_ids = best_fused(fused, self.recipe, limit)
        if not node_ids:
            return {}
        with self.transactions.reading(principal, timeout_ms=legs.timeout_ms) as stores:
            sketches = stores.node_reader.sketch(node_ids, filters)
            measure = measuring(stores, search, outcomes, self.legs.embedder.model.id)
            return shares(rank(sketches, fused, search, candidates, measure).kept, limit)

    def _search(self, principal: Principal, question: str, filters: Filters) -> Search:
        from cairn.workspace.settings import (
            RecallSettings,  # pydantic's models, at the first search
        )

        now = self.clock()
        budget = Budget(Limits(), stopwatch=self.legs.stopwatch)
        calls = ModelCalls(budget, Call(workspace_id=principal.workspace_id))
        asking = Asking(gate=gate.by_rules, intents=intents.by_rules)
        return Search(
            id=self.new_id(),
            principal=principal,
            request=SearchRequest(query=question),
            recipe=self.recipe,
            filters=filters,
            asked=asking(question, admin=False, asked_at=now, calls=calls),
            at=now,
            started_at=now,
            calls=calls,
            workspace=RecallSettings(),
            wordings=(question,),
        )


def shares(ranked: Sequence[Scored], limit: int) -> dict[UUID, float]:
    """Return the first `limit` nodes' scores as shares of the best, in (0, 1]; others match not."""
    if not ranked or (best := ranked[0].score) <= 0:
        return {}
    return {scored.sketch.id: scored.score / best for scored in ranked[:limit] if scored.score > 0}
