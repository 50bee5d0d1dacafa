"""What consolidates memories: for the function of that name, for the API, for measurements."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.bootstrap.models import planners
from cairn.consolidation.apply import ApplyPlan
from cairn.consolidation.batching import FindMerges, Gather
from cairn.consolidation.heuristic import HeuristicPlanner
from cairn.consolidation.run import ConsolidateClient, ProposePlan
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.ledger.keys import BodyCipher
from cairn.writing.subjects import SubjectResolver

if TYPE_CHECKING:
    from cairn.adapters.postgres.database import Database
    from cairn.consolidation.run import Planners
    from cairn.embedding.port import Embedder
    from cairn.ledger.keys import KeyStore
    from cairn.llm.gateway import Gateway
    from cairn.writing.ports import Dispatcher


PREVIEW_ANSWER_SECONDS = 25.0
"""How long a dry run waits for one answer of a model: less than its own request may take."""


def consolidate_client(
    opened: Database,
    model: Embedder,
    *,
    keys: KeyStore,
    dispatcher: Dispatcher,
    models: Gateway | None = None,
) -> ConsolidateClient:
    """Return what consolidates memories, by a model where there is one, else by rules."""
    transactions = StoreTransactions(opened)
    return ConsolidateClient(
        transactions=transactions,
        propose=propose_plan(opened, model, models),
        apply=ApplyPlan(
            transactions=transactions,
            resolver=SubjectResolver(transactions=transactions, keys=keys, new_id=new_id),
            cipher=BodyCipher(),
            dispatcher=dispatcher,
            clock=utc_now,
            new_id=new_id,
            model_id=model.model.id,
            pause=time.sleep,
        ),
        stopwatch=monotonic,
    )


def propose_plan(
    opened: Database, model: Embedder, models: Gateway | None, *, seconds: float | None = None
) -> ProposePlan:
    """Return what plans batches and changes nothing."""
    transactions = StoreTransactions(opened)
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
