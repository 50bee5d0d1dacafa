"""What the plan function needs: the thinking steps of investigations, and taking tickets in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cairn.bootstrap.investigations import InvestigationParts, InvestigationSteps
from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.models import gateway, silent
from cairn.bootstrap.parts import database, logger, warn
from cairn.bootstrap.telemetry import tell_spans
from cairn.kernel.access.system import system_principal
from cairn.kernel.clock import monotonic, utc_now
from cairn.settings import PlanSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from uuid import UUID

    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.bootstrap.models import ModelSettings
    from cairn.bootstrap.workflows import WorkflowSteps
    from cairn.investigations.planning.envelope import Bounds
    from cairn.investigations.planning.surrounds import RecentResults, TicketSurrounds
    from cairn.investigations.ports import Planner, StepFunction
    from cairn.llm.gateway import Gateway
    from cairn.tickets.gateway import TakeTicket


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanServices:
    """The plan function's use cases."""

    investigation: InvestigationSteps
    workflow: WorkflowSteps
    take: TakeTicket
    log: Logger


def plan_services() -> PlanServices:
    """Build them from the environment; nothing connects yet."""
    settings = PlanSettings.read()
    log = logger("plan", settings.log_level)
    tell_spans("plan", settings)
    opened = database(settings)
    models = cache(lambda: _models(settings, opened, log))
    planner = lazy(lambda: planner_over(models(), opened, report=warn(log)))
    parts = InvestigationParts(
        settings=settings,
        opened=opened,
        log=log,
        steps={
            "CREATED": lambda: _triage(parts, planner),
            "PLANNING": lambda: _plan(parts, planner),
            "VERDICT": lambda: _verdict(planner),
        },
    )
    return PlanServices(
        investigation=InvestigationSteps(parts=parts),
        workflow=lazy(lambda: _workflow(parts, models)),
        take=lazy(lambda: _take(models, parts)),
        log=log,
    )


def _workflow(parts: InvestigationParts, models: Callable[[], Gateway | None]) -> WorkflowSteps:
    from cairn.bootstrap.workflows import WorkflowSteps, thinking_steps

    return WorkflowSteps(parts=parts, steps=thinking_steps(parts, models))


def planner(
    settings: ModelSettings,
    opened: Database,
    *,
    report: Callable[[str, dict[str, Any]], None] = silent,
) -> Planner:
    """Return who plans: chat models where some are configured, rules where none answers."""
    return planner_over(gateway(settings, opened, report=report), opened, report=report)


def planner_over(
    models: Gateway | None,
    opened: Database,
    *,
    report: Callable[[str, dict[str, Any]], None] = silent,
) -> Planner:
    """Return the same over a gateway; None is rules alone."""
    from cairn.investigations.planning.heuristic import HeuristicPlanner

    rules = HeuristicPlanner()
    if models is None:
        return rules
    from cairn.investigations.planning.heuristic import FallbackPlanner
    from cairn.investigations.planning.model_planner import ModelPlanner

    return FallbackPlanner(
        first=ModelPlanner(gateway=models, bounds=bounds(opened)), rules=rules, report=report
    )


def bounds(opened: Database) -> Callable[[UUID], Bounds]:
    """Return workspace -> how much its planners are shown, half a second old at most."""
    from cairn.adapters.postgres.workspaces import PostgresWorkspaceSettings

    stored = PostgresWorkspaceSettings(opened, monotonic)
    return lambda workspace_id: stored(system_principal(workspace_id)).settings.envelope


def surrounds(parts: InvestigationParts) -> TicketSurrounds:
    """Return what looks around a ticket."""
    from cairn.investigations.planning.surrounds import RecentTickets, TicketSurrounds

    return TicketSurrounds(
        graph=parts.helpdesk.graph,
        recent=RecentTickets(parts.platform),
        bounds=bounds(parts.opened),
        clock=utc_now,
    )


def recent(parts: InvestigationParts) -> RecentResults:
    """Return what finds recent results of tools."""
    from cairn.investigations.planning.surrounds import RecentResults

    return RecentResults(journal=parts.journal, bounds=bounds(parts.opened))


def _models(settings: PlanSettings, opened: Database, log: Logger) -> Gateway | None:
    return gateway(settings, opened, report=warn(log))


def _triage(parts: InvestigationParts, planner: Planner) -> StepFunction:
    from cairn.investigations.planning.surrounds import History
    from cairn.investigations.steps.verdict import Triage

    helpdesk, settings = parts.helpdesk, parts.settings
    return Triage(
        desk=helpdesk.desk,
        hiding=parts.hiding,
        surrounds=surrounds(parts),
        recent=recent(parts),
        earlier=History(journal=parts.journal),
        planner=planner,
        degraded=helpdesk.queue(settings.investigations, settings.degraded_above).degraded,
    )


def _take(planner_models: Callable[[], Gateway | None], parts: InvestigationParts) -> TakeTicket:
    return parts.helpdesk.take(planner_models(), parts.redacted, parts.admit)


def _plan(parts: InvestigationParts, planner: Planner) -> StepFunction:
    from cairn.investigations.steps.plan import MakePlan

    return MakePlan(planner=planner, connectors=parts.connectors)


def _verdict(planner: Planner) -> StepFunction:
    from cairn.investigations.steps.verdict import GiveVerdict

    return GiveVerdict(planner=planner)
