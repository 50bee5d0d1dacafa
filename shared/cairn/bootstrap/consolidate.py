"""What the consolidate function needs, and what the API needs to ask for a consolidation."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.api.consolidation_services import ConsolidationServices
from cairn.bootstrap.dispatching import dispatcher, queues_of
from cairn.bootstrap.logs import logger, warn
from cairn.bootstrap.models import gateway, planners
from cairn.bootstrap.numbers import cleanup
from cairn.bootstrap.parts import database, embedder, key_store
from cairn.bootstrap.rebuilding import step_rebuild
from cairn.bootstrap.summaries import summarise_workspace
from cairn.clock import monotonic, utc_now
from cairn.consolidation.apply import ApplyPlan
from cairn.consolidation.batching import Gather
from cairn.consolidation.control import BeginRuns, CountedStep, EndRuns
from cairn.consolidation.existing import FindMerges
from cairn.consolidation.heuristic import HeuristicPlanner
from cairn.consolidation.requests import (
    BrowseConsolidations,
    PreviewConsolidation,
    StartConsolidation,
)
from cairn.consolidation.run import ConsolidateClient, PreviewClient, ProposePlan
from cairn.ids import new_id
from cairn.ingestion.subjects import SubjectResolver
from cairn.ledger.keys import BodyCipher
from cairn.settings import ConsolidateSettings
from cairn.storage.postgres.consolidation import PostgresConsolidationStores
from cairn.storage.postgres.store_transactions import StoreTransactions
from cairn.storage.postgres.sweeping import ListWorkspaces

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from aws_lambda_powertools import Logger

    from cairn.consolidation.run import Planners
    from cairn.embedding.port import Embedder
    from cairn.ingestion.ports import Dispatcher
    from cairn.ingestion.remember import Remember
    from cairn.ledger.keys import KeyStore
    from cairn.lifecycle.rebuild_runs import StepRebuild
    from cairn.llm.gateway import Gateway
    from cairn.storage.postgres.database import Database


PREVIEW_ANSWER_SECONDS = 25.0
"""How long a dry run waits for one answer of a model: less than its own request may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateServices:
    """The consolidate function's use cases."""

    begin: BeginRuns
    consolidate: ConsolidateClient
    summarise: CountedStep
    cleanup: CountedStep
    end: EndRuns
    rebuild: StepRebuild
    log: Logger


def consolidate_services() -> ConsolidateServices:
    """Build them from the environment; nothing connects and no model is read yet."""
    settings = ConsolidateSettings.read()
    log = logger("consolidate", settings.log_level)
    opened = database(settings)
    transactions = StoreTransactions(opened, PostgresConsolidationStores)
    model = embedder(settings)
    models = gateway(settings, opened, report=warn(log))
    keys = key_store(settings)
    sender = dispatcher(queues_of(settings), {}, opened, transactions, warn(log))
    summaries = summarise_workspace(opened, keys=keys, dispatcher=sender, models=models)
    ageing = cleanup(opened, settings)

    def summarised(
        workspace_id: UUID, run_id: UUID | None, *, seconds: float
    ) -> Mapping[str, int | bool]:
        return summaries(workspace_id, seconds=seconds, run_id=run_id)

    def cleaned(
        workspace_id: UUID, run_id: UUID | None, *, seconds: float
    ) -> Mapping[str, int | bool]:
        return ageing(workspace_id, seconds=seconds)

    return ConsolidateServices(
        begin=BeginRuns(
            workspaces=ListWorkspaces(opened),
            transactions=transactions,
            clock=utc_now,
            new_id=new_id,
        ),
        consolidate=consolidate_client(opened, model, keys=keys, dispatcher=sender, models=models),
        summarise=CountedStep(
            name="summary", step=summarised, transactions=transactions, clock=utc_now
        ),
        cleanup=CountedStep(name="cleanup", step=cleaned, transactions=transactions, clock=utc_now),
        end=EndRuns(
            transactions=transactions,
            dispatcher=sender,
            model_id=model.model.id,
            clock=utc_now,
            new_id=new_id,
        ),
        rebuild=step_rebuild(opened, keys, sender),
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


def propose_plan(
    opened: Database, model: Embedder, models: Gateway | None, *, seconds: float | None = None
) -> ProposePlan:
    """Return what plans batches and changes nothing."""
    transactions = StoreTransactions(opened, PostgresConsolidationStores)
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


def consolidation_services(
    opened: Database, model: Embedder, remember: Remember, models: Gateway | None
) -> ConsolidationServices:
    """Return what the API asks for; the writing parts are those of `remember`."""
    transactions = StoreTransactions(opened, PostgresConsolidationStores)
    propose = propose_plan(opened, model, models, seconds=PREVIEW_ANSWER_SECONDS)
    return ConsolidationServices(
        start=StartConsolidation(
            transactions=transactions,
            resolver=remember.resolver,
            cipher=remember.cipher,
            dispatcher=remember.dispatcher,
            clock=utc_now,
            new_id=new_id,
        ),
        preview=PreviewConsolidation(
            transactions=transactions,
            preview=PreviewClient(propose=propose, stopwatch=monotonic),
            clock=utc_now,
            stopwatch=monotonic,
            new_id=new_id,
        ),
        browse=BrowseConsolidations(transactions=transactions),
    )
