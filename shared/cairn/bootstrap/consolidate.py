"""What the consolidate function needs.

A run does one step: what only another step needs is imported and built when that one comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.logs import logger, warn
from cairn.bootstrap.models import gateway
from cairn.bootstrap.parts import database, embedder, key_store, platform, registered
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.settings import ConsolidateSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.ageing.cleanup import Cleanup
    from cairn.consolidation.control import BeginRuns, CountedStep, EndRuns
    from cairn.consolidation.run import ConsolidateClient
    from cairn.consolidation.runs import WorkspaceStep
    from cairn.embedding.port import Embedder
    from cairn.ledger.keys import KeyStore
    from cairn.llm.gateway import Gateway
    from cairn.rebuild.runs import StepRebuild
    from cairn.summaries.write import SummariseWorkspace
    from cairn.writing.platform import Platform
    from cairn.writing.ports import Dispatcher


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
    model = registered(embedder(settings), opened)
    models = gateway(settings, opened, report=warn(log))
    keys = lazy(lambda: key_store(settings))
    sender = lazy(lambda: _sender(settings, opened, log))
    summaries = lazy(lambda: _summarise(opened, keys, sender, models))
    ageing = lazy(lambda: _cleanup(opened, settings))

    def summarised(
        workspace_id: UUID, run_id: UUID | None, seconds: float
    ) -> Mapping[str, int | bool]:
        return summaries(workspace_id, seconds=seconds, run_id=run_id)

    def cleaned(
        workspace_id: UUID, run_id: UUID | None, seconds: float
    ) -> Mapping[str, int | bool]:
        return ageing(workspace_id, seconds=seconds)

    return ConsolidateServices(
        begin=lazy(lambda: _begin(opened)),
        consolidate=lazy(
            lambda: _consolidate(
                platform(opened, keys=keys, dispatcher=sender, log=log), model, models
            )
        ),
        summarise=lazy(lambda: _counted("summary", summarised, opened)),
        cleanup=lazy(lambda: _counted("cleanup", cleaned, opened)),
        end=lazy(lambda: _end(opened, sender, model)),
        rebuild=lazy(lambda: _rebuild(opened, keys, sender)),
        log=log,
    )


def _transactions(opened: Database) -> StoreTransactions:
    from cairn.adapters.postgres.store_transactions import StoreTransactions

    return StoreTransactions(opened)


def _sender(settings: ConsolidateSettings, opened: Database, log: Logger) -> Dispatcher:
    from cairn.bootstrap.dispatching import dispatcher, queues_of

    return dispatcher(queues_of(settings), {}, opened, _transactions(opened), warn(log))


def _begin(opened: Database) -> BeginRuns:
    from cairn.adapters.postgres.sweeping import ListWorkspaces
    from cairn.consolidation.control import BeginRuns

    return BeginRuns(
        workspaces=ListWorkspaces(opened),
        transactions=_transactions(opened),
        clock=utc_now,
        new_id=new_id,
    )


def _counted(name: str, step: WorkspaceStep, opened: Database) -> CountedStep:
    from cairn.consolidation.control import CountedStep

    return CountedStep(name=name, step=step, transactions=_transactions(opened), clock=utc_now)


def _end(opened: Database, sender: Dispatcher, model: Embedder) -> EndRuns:
    from cairn.consolidation.control import EndRuns

    return EndRuns(
        transactions=_transactions(opened),
        dispatcher=sender,
        model_id=model.model.id,
        clock=utc_now,
        new_id=new_id,
    )


def _consolidate(shared: Platform, model: Embedder, models: Gateway | None) -> ConsolidateClient:
    from cairn.bootstrap.consolidating import consolidate_client

    return consolidate_client(shared, model, models)


def _summarise(
    opened: Database, keys: KeyStore, sender: Dispatcher, models: Gateway | None
) -> SummariseWorkspace:
    from cairn.bootstrap.summaries import summarise_workspace

    return summarise_workspace(opened, keys=keys, dispatcher=sender, models=models)


def _cleanup(opened: Database, settings: ConsolidateSettings) -> Cleanup:
    from cairn.bootstrap.statistics import cleanup

    return cleanup(opened, settings)


def _rebuild(opened: Database, keys: KeyStore, sender: Dispatcher) -> StepRebuild:
    from cairn.bootstrap.rebuilding import step_rebuild

    return step_rebuild(opened, keys, sender)
