"""What the audit function needs: outcomes of machines, verification, the sweep of the outbox.

A run does one step: what only another step needs is imported and built when that one comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from cairn.adapters.postgres.sweeping import ListChains, ListWorkspaces
from cairn.bootstrap.dispatch import machines_of
from cairn.bootstrap.investigations import InvestigationParts, InvestigationSteps
from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.parts import database, inform, logger, signing_key, warn
from cairn.bootstrap.search_index import endpoint, keep_search_index
from cairn.bootstrap.telemetry import tell_spans
from cairn.kernel.clock import monotonic, utc_now
from cairn.settings import AuditSettings
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.ageing.count_accesses import CountAccesses
    from cairn.anchors.verify_chains import VerifyChains
    from cairn.bootstrap.parts import SigningKey
    from cairn.discovery.feed.maintenance import MaintainEveryFeed
    from cairn.documents.finish import FinishIngestion
    from cairn.investigations.gauges import TellGauges
    from cairn.investigations.ports import StepFunction
    from cairn.operations.sweep import Sweep
    from cairn.search_index.check import KeepSearchIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditServices:
    """The audit function's use cases."""

    finish: FinishIngestion
    verify: VerifyChains
    count_accesses: CountAccesses
    sweep: Sweep
    investigation: InvestigationSteps
    sweep_investigations: Callable[[datetime | None], dict[str, int]]
    start_workflows: Callable[[], dict[str, int]]
    maintain_feeds: MaintainEveryFeed
    tell_gauges: Callable[[], dict[str, int]]
    search_index: KeepSearchIndex | None
    log: Logger


def audit_services() -> AuditServices:
    """Build them from the environment; nothing connects yet."""
    settings = AuditSettings.read()
    log = logger("audit", settings.log_level)
    tell_spans("audit", settings)
    opened = database(settings)
    key, index = signing_key(settings), endpoint(settings)
    parts = InvestigationParts(
        settings=settings,
        opened=opened,
        log=log,
        steps={"OBSERVING": lambda: _observe()},
        machines=machines_of(settings),
        queues={Topic.SOURCE: settings.source_queue_url},
    )
    return AuditServices(
        finish=lazy(lambda: _finish(parts)),
        verify=lazy(lambda: _verify(settings, opened, key, log)),
        sweep=lazy(lambda: _sweep(settings, parts, key)),
        investigation=InvestigationSteps(parts=parts),
        sweep_investigations=lazy(lambda: _sweep_investigations(parts)),
        start_workflows=lazy(lambda: _start_workflows(parts)),
        maintain_feeds=lazy(lambda: _maintain_feeds(parts)),
        tell_gauges=lazy(lambda: _tell_gauges(parts)),
        count_accesses=lazy(lambda: _count_accesses(parts)),
        search_index=lazy(lambda: keep_search_index(index, opened, warn(log))) if index else None,
        log=log,
    )


def _finish(parts: InvestigationParts) -> FinishIngestion:
    from cairn.documents.finish import FinishIngestion

    return FinishIngestion(parts.platform)


def _verify(
    settings: AuditSettings, opened: Database, key: SigningKey, log: Logger
) -> VerifyChains:
    from cairn.adapters.aws.anchors import S3Anchors
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.anchors.anchors import WriteAnchors
    from cairn.anchors.verify_chains import VerifyChains

    return VerifyChains(
        workspaces=ListChains(opened),
        transactions=StoreTransactions(opened),
        anchors=WriteAnchors(
            store=S3Anchors(settings.anchor_bucket), signer=key, verifier=key, clock=utc_now
        ),
        report=warn(log),
        clock=utc_now,
        stopwatch=monotonic,
    )


def _sweep(settings: AuditSettings, parts: InvestigationParts, key: SigningKey) -> Sweep:
    from cairn.adapters.postgres.agents.model_calls import DropCalls
    from cairn.adapters.postgres.memory.conversations import DropExpiredMessages
    from cairn.adapters.postgres.memory.search_runs import DropSearchRuns
    from cairn.adapters.postgres.webhooks import DropDeliveries
    from cairn.bootstrap.forgetting import forget_use_case
    from cairn.bootstrap.intents import intent_sweep
    from cairn.forgetting.forget import FinishForgettings
    from cairn.memories.expiry import RemoveExpired
    from cairn.operations.sweep import MODEL_CALLS_FOR, KeepForDays, Sweep

    opened, workspaces = parts.opened, ListWorkspaces(parts.opened)
    keep = partial(KeepForDays, clock=utc_now, stopwatch=monotonic)
    days = timedelta(days=settings.search_run_days)
    return Sweep(
        oldest=_oldest(settings, parts),
        send=parts.wake.sweep,
        expire=DropExpiredMessages(opened, utc_now),
        forget=keep(drop=DropSearchRuns(opened), age=days),
        deliveries=keep(drop=DropDeliveries(opened), age=days),
        model_calls=keep(drop=DropCalls(opened), age=MODEL_CALLS_FOR),
        remove_expired=RemoveExpired(
            platform=parts.platform, workspaces=workspaces, report=warn(parts.log)
        ),
        finish_forgettings=FinishForgettings(
            workspaces=workspaces,
            forget=forget_use_case(settings, opened, parts.platform, key),
            report=warn(parts.log),
        ),
        end_intents=intent_sweep(parts.platform, workspaces),
    )


def _oldest(settings: AuditSettings, parts: InvestigationParts) -> Callable[[], int]:
    """Return what tells how long work has waited: an alarm on AWS looks at it."""
    from cairn.adapters.aws.metrics import measured
    from cairn.adapters.postgres.sweeping import OldestRow
    from cairn.operations.sweep import PROMPT, MeasureBacklog

    measure = MeasureBacklog(oldest=OldestRow(parts.opened, PROMPT), clock=utc_now)
    report = measured("audit", settings.stage, inform(parts.log))

    def oldest() -> int:
        oldest_row = measure()
        report("outbox.oldest", {"topic": oldest_row.topic, "seconds": oldest_row.seconds})
        return oldest_row.seconds

    return oldest


def _observe() -> StepFunction:
    from cairn.investigations.steps.plan import observe

    return observe


def _sweep_investigations(
    parts: InvestigationParts,
) -> Callable[[datetime | None], dict[str, int]]:
    """Return what moves on what stands still."""
    from cairn.bootstrap.workflows import WorkflowSteps
    from cairn.investigations.people.learning import Learn, StageCandidates
    from cairn.investigations.people.proposing import ProposeObservations
    from cairn.investigations.run.admission import SweepInvestigations

    by_rules, report = None, warn(parts.log)
    workspaces = ListWorkspaces(parts.opened)
    take = parts.helpdesk.take(by_rules, parts.redacted, parts.admit)
    sweep = SweepInvestigations(
        workspaces=workspaces,
        tickets=parts.helpdesk.sweep(take),
        requeue=parts.helpdesk.requeue.mended,
        expire=parts.expire,
        resume=parts.resume,
        close=parts.close,
        leave=parts.leave,
        admit=parts.admit,
        clock=utc_now,
        report=report,
    )
    learn = Learn(
        workspaces=workspaces,
        stage=StageCandidates(journal=parts.journal),
        propose=ProposeObservations(journal=parts.journal, graph=parts.helpdesk.graph),
        clock=utc_now,
        report=report,
    )
    workflows = WorkflowSteps(parts=parts)
    return lambda lost_before: {
        **sweep(lost_before),
        **workflows.sweep(lost_before),
        **learn(),
    }


def _start_workflows(parts: InvestigationParts) -> Callable[[], dict[str, int]]:
    """Return what begins runs that are due, goes on with what waits, and bakes snapshots."""
    from cairn.adapters.postgres.workspaces import PostgresWorkspaceSettings
    from cairn.bootstrap.negotiations import sweep
    from cairn.bootstrap.workflows import workflows_of
    from cairn.sessions.knowledge import Knowledge, RefreshKnowledge
    from cairn.workflows.starting import StartDue

    stored = PostgresWorkspaceSettings(parts.opened, monotonic)
    start = StartDue(
        workspaces=ListWorkspaces(parts.opened),
        workflows=workflows_of(parts),
        settings=lambda principal: stored(principal).settings.workflows.briefing,
        report=warn(parts.log),
    )
    refresh = RefreshKnowledge(
        workspaces=ListWorkspaces(parts.opened),
        knowledge=Knowledge(platform=parts.platform),
        report=warn(parts.log),
    )
    negotiate = sweep(parts)
    chats = _sweep_chats(parts)
    return lambda: {**start(), **negotiate(), **refresh(), **chats()}


def _sweep_chats(parts: InvestigationParts) -> Callable[[], dict[str, int]]:
    """Return what makes tickets of chats to which nobody came, where nobody looks at them."""
    from cairn.chat.hand_off_views import BrowseChats
    from cairn.chat.hand_offs import HandOffs
    from cairn.chat.recording import RecordLines
    from cairn.conversations.record import RecordMessage

    hand_offs = HandOffs(
        platform=parts.platform,
        intake=parts.helpdesk.intake,
        record=RecordLines(platform=parts.platform, record=RecordMessage(parts.platform)),
        transcript=BrowseChats(platform=parts.platform, redact=parts.redacted).transcript,
        metrics=parts.metrics,
    )
    return hand_offs.sweeping(ListWorkspaces(parts.opened))


def _maintain_feeds(parts: InvestigationParts) -> MaintainEveryFeed:
    from cairn.discovery.feed.maintenance import MaintainEveryFeed, MaintainFeeds

    return MaintainEveryFeed(
        workspaces=ListWorkspaces(parts.opened), maintain=MaintainFeeds(platform=parts.platform)
    )


def _tell_gauges(parts: InvestigationParts) -> TellGauges:
    from cairn.investigations.gauges import TellGauges

    return TellGauges(
        workspaces=ListWorkspaces(parts.opened),
        transactions=parts.transactions,
        metrics=parts.metrics,
        report=warn(parts.log),
    )


def _count_accesses(parts: InvestigationParts) -> CountAccesses:
    from cairn.ageing.count_accesses import CountAccesses

    return CountAccesses(platform=parts.platform, workspaces=ListWorkspaces(parts.opened))
