"""What the consolidate function needs.

A run does one step: what only another step needs is imported and built when that one comes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.models import gateway, propose_plan
from cairn.bootstrap.parts import (
    database,
    embedder,
    key_store,
    logger,
    platform,
    registered,
    warn,
)
from cairn.bootstrap.telemetry import tell_spans
from cairn.kernel.clock import monotonic
from cairn.settings import AgeingSettings, ConsolidateSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.ageing.cleanup import Cleanup
    from cairn.checkpoints.keep import ExpireCheckpoints
    from cairn.consolidation.control import BeginRuns, CountedStep, EndRuns
    from cairn.consolidation.draw import DrawByModel
    from cairn.consolidation.run import ConsolidateClient
    from cairn.consolidation.runs import WorkspaceStep
    from cairn.embedding.port import Embedder
    from cairn.llm.gateway import Gateway
    from cairn.llm.port import ChatAnswer, ChatRequest
    from cairn.profiles.keep import KeepProfiles
    from cairn.rebuild.runs import StepRebuild
    from cairn.summaries.texts import Ask
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
    tell_spans("consolidate", settings)
    opened = database(settings)
    model = registered(embedder(settings), opened)
    models = gateway(settings, opened, report=warn(log))
    keys = lazy(lambda: key_store(settings))
    sender = lazy(lambda: _sender(settings, opened, log))
    shared = lazy(lambda: platform(opened, keys=keys, dispatcher=sender, log=log))
    summaries = lazy(lambda: summarise_workspace(shared, models))
    drawing = lazy(lambda: draw_by_model(shared, models)) if models else None
    people = lazy(lambda: keep_profiles(shared, models))
    ageing = lazy(lambda: _cleanup(shared, settings))
    expiring = lazy(lambda: _expire_checkpoints(shared))

    def summarised(
        workspace_id: UUID, run_id: UUID | None, seconds: float
    ) -> Mapping[str, int | bool]:
        began, done = monotonic(), dict[str, int | bool](more=False)
        for step in (drawing, people, summaries):
            if step is not None and not done["more"]:
                left = seconds - (monotonic() - began)
                done |= step(workspace_id, seconds=left, run_id=run_id)
        return done

    def cleaned(
        workspace_id: UUID, run_id: UUID | None, seconds: float
    ) -> Mapping[str, int | bool]:
        began = monotonic()
        done = expiring(workspace_id, seconds=seconds / 2)
        left = seconds - (monotonic() - began)
        aged = ageing(workspace_id, seconds=left)
        return done | aged | {"more": bool(done["more"] or aged["more"])}

    return ConsolidateServices(
        begin=lazy(lambda: _begin(opened, shared)),
        consolidate=lazy(lambda: consolidate_client(shared, model, models)),
        summarise=lazy(lambda: _counted("summary", summarised, shared)),
        cleanup=lazy(lambda: _counted("cleanup", cleaned, shared)),
        end=lazy(lambda: _end(shared, model)),
        rebuild=lazy(lambda: _rebuild(opened, shared)),
        log=log,
    )


def _sender(settings: ConsolidateSettings, opened: Database, log: Logger) -> Dispatcher:
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.bootstrap.dispatch import dispatcher, queues_of

    return dispatcher(queues_of(settings), {}, opened, StoreTransactions(opened), warn(log))


def _begin(opened: Database, shared: Platform) -> BeginRuns:
    from cairn.adapters.postgres.sweeping import ListWorkspaces
    from cairn.consolidation.control import BeginRuns

    return BeginRuns(platform=shared, workspaces=ListWorkspaces(opened))


def _counted(name: str, step: WorkspaceStep, shared: Platform) -> CountedStep:
    from cairn.consolidation.control import CountedStep

    return CountedStep(name=name, step=step, transactions=shared.transactions, clock=shared.clock)


def _end(shared: Platform, model: Embedder) -> EndRuns:
    from cairn.consolidation.control import EndRuns

    return EndRuns(platform=shared, model_id=model.model.id)


def consolidate_client(
    platform: Platform, model: Embedder, models: Gateway | None = None
) -> ConsolidateClient:
    """Return what consolidates memories, by a model where there is one, else by rules."""
    from cairn.consolidation.apply import ApplyPlan
    from cairn.consolidation.run import ConsolidateClient

    return ConsolidateClient(
        transactions=platform.transactions,
        propose=propose_plan(platform, model, models),
        apply=ApplyPlan(platform, model_id=model.model.id, pause=time.sleep),
        stopwatch=platform.stopwatch,
    )


def summarise_workspace(platform: Platform, models: Gateway | None) -> SummariseWorkspace:
    """Return what keeps a workspace's summaries, by a model where there is one, else by rules."""
    from cairn.summaries.append import SummaryWriting
    from cairn.summaries.texts import ByModel, ByRules
    from cairn.summaries.write import SummariseWorkspace

    model = ByModel(ask=asking(models)) if models else None
    return SummariseWorkspace(
        transactions=platform.transactions,
        writing=SummaryWriting(platform),
        condense=model or ByRules(),
        stopwatch=platform.stopwatch,
        describe=model.asked if model else None,
    )


def draw_by_model(platform: Platform, models: Gateway) -> DrawByModel:
    """Return what draws memories from messages by a model, beside what rules draw."""
    from cairn.consolidation.draw import DrawByModel

    return DrawByModel(platform, gateway=models, pause=time.sleep)


def keep_profiles(platform: Platform, models: Gateway | None) -> KeepProfiles:
    """Return what keeps in the graph what is known of each client, with a model where one is."""
    from cairn.profiles.ask import AskOfPeople
    from cairn.profiles.keep import KeepProfiles

    return KeepProfiles(platform, AskOfPeople(models) if models else None)


def asking(models: Gateway) -> Ask:
    """Return what asks a model on a workspace's and a run's account."""
    from cairn.llm.costs import Call

    def ask(request: ChatRequest, workspace_id: UUID, run_id: UUID | None) -> ChatAnswer:
        return models.chat(request, Call(workspace_id=workspace_id, run_id=run_id))

    return ask


def _cleanup(shared: Platform, settings: AgeingSettings) -> Cleanup:
    from cairn.ageing.cleanup import Cleanup
    from cairn.ageing.rules import Lifetimes

    return Cleanup(
        shared,
        lifetimes=Lifetimes(
            event=timedelta(days=settings.event_ttl_days),
            fact=timedelta(days=settings.fact_archive_days),
            knowledge=timedelta(days=settings.knowledge_archive_days),
        ),
    )


def _expire_checkpoints(shared: Platform) -> ExpireCheckpoints:
    from cairn.checkpoints.keep import ExpireCheckpoints

    return ExpireCheckpoints(shared)


def _rebuild(opened: Database, shared: Platform) -> StepRebuild:
    from cairn.adapters.postgres.ledger.replay import PostgresReplays
    from cairn.discovery.beside import discovery_beside
    from cairn.rebuild.rebuild import Rebuild
    from cairn.rebuild.runs import StepRebuild

    return StepRebuild(
        platform=shared,
        rebuild=Rebuild(
            platform=shared, replays=PostgresReplays(opened), beside=discovery_beside()
        ),
    )
