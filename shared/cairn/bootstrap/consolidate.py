"""What the consolidate function needs, and what the API needs to ask for a consolidation."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.bootstrap.dispatching import dispatcher
from cairn.bootstrap.logs import logger, warn
from cairn.bootstrap.models import gateway, planners
from cairn.bootstrap.parts import database, embedder, key_store
from cairn.clock import monotonic, utc_now
from cairn.consolidation.apply import ApplyPlan
from cairn.consolidation.batching import Gather
from cairn.consolidation.control import BeginRuns, EndRuns
from cairn.consolidation.existing import FindMerges
from cairn.consolidation.heuristic import HeuristicPlanner
from cairn.consolidation.run import ConsolidateClient, ProposePlan
from cairn.ids import new_id
from cairn.ingestion.subjects import SubjectResolver
from cairn.ledger.keys import BodyCipher
from cairn.settings import ConsolidateSettings
from cairn.storage.postgres.consolidation import PostgresConsolidationStores
from cairn.storage.postgres.store_transactions import StoreTransactions
from cairn.storage.postgres.sweeping import ListWorkspaces

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from cairn.consolidation.run import Planners
    from cairn.embedding.port import Embedder
    from cairn.ingestion.ports import Dispatcher
    from cairn.ledger.keys import KeyStore
    from cairn.llm.gateway import Gateway
    from cairn.storage.postgres.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateServices:
    """The consolidate function's use cases."""

    begin: BeginRuns
    consolidate: ConsolidateClient
    end: EndRuns
    log: Logger


def consolidate_services() -> ConsolidateServices:
    """Build them from the environment; nothing connects and no model is read yet."""
    settings = ConsolidateSettings.read()
    log = logger("consolidate", settings.log_level)
    opened = database(settings)
    transactions = StoreTransactions(opened, PostgresConsolidationStores)
    model = embedder(settings)
    models = gateway(settings, opened, report=warn(log))
    sender = dispatcher(settings.embed_queue_url, {}, opened, transactions, warn(log))
    return ConsolidateServices(
        begin=BeginRuns(
            workspaces=ListWorkspaces(opened),
            transactions=transactions,
            clock=utc_now,
            new_id=new_id,
        ),
        consolidate=consolidate_client(
            opened, model, keys=key_store(settings), dispatcher=sender, models=models
        ),
        end=EndRuns(
            transactions=transactions, model_id=model.model.id, clock=utc_now, new_id=new_id
        ),
        log=log,
    )


def consolidate_client(
    opened: Database,
    model: Embedder,
    *,
    keys: KeyStore,
    dispatcher: Dispatcher,
    models: Gateway | None = None,
) -> ConsolidateClient:
    """Return what consolidates memories, by a model where there is one, else by rules."""
    transactions = StoreTransactions(opened, PostgresConsolidationStores)
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


def propose_plan(opened: Database, model: Embedder, models: Gateway | None) -> ProposePlan:
    """Return what plans batches and changes nothing."""
    transactions = StoreTransactions(opened, PostgresConsolidationStores)
    rules = HeuristicPlanner()
    asked: Planners = planners(models) if models else lambda workspace_id, run_id: rules
    return ProposePlan(
        gather=Gather(transactions=transactions, model_id=model.model.id),
        planners=asked,
        rules=rules,
        merges=FindMerges(transactions=transactions, embedder=model),
    )
