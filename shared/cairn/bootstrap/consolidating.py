"""What consolidates memories: for the function of that name, for the API, for measurements."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cairn.bootstrap.models import planners
from cairn.consolidation.apply import ApplyPlan
from cairn.consolidation.batching import FindMerges, Gather
from cairn.consolidation.heuristic import HeuristicPlanner
from cairn.consolidation.run import ConsolidateClient, ProposePlan

if TYPE_CHECKING:
    from cairn.consolidation.run import Planners
    from cairn.embedding.port import Embedder
    from cairn.llm.gateway import Gateway
    from cairn.writing.platform import Platform


PREVIEW_ANSWER_SECONDS = 25.0
"""How long a dry run waits for one answer of a model: less than its own request may take."""


def consolidate_client(
    platform: Platform, model: Embedder, models: Gateway | None = None
) -> ConsolidateClient:
    """Return what consolidates memories, by a model where there is one, else by rules."""
    return ConsolidateClient(
        transactions=platform.transactions,
        propose=propose_plan(platform, model, models),
        apply=ApplyPlan(platform, model_id=model.model.id, pause=time.sleep),
        stopwatch=platform.stopwatch,
    )


def propose_plan(
    platform: Platform, model: Embedder, models: Gateway | None, *, seconds: float | None = None
) -> ProposePlan:
    """Return what plans batches and changes nothing."""
    transactions = platform.transactions
    rules = HeuristicPlanner()
    asked: Planners = (
        planners(models, seconds=seconds) if models else lambda workspace_id, run_id: rules
    )
    return ProposePlan(
        gather=Gather(transactions=transactions, model_id=model.model.id),
        planners=asked,
        rules=rules,
        merges=FindMerges(transactions=transactions, embedder=model),
    )
