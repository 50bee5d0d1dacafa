"""What the plan function needs: the thinking steps of investigations, and taking tickets in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from cairn.bootstrap.investigating import InvestigationParts, InvestigationSteps
from cairn.bootstrap.later import later
from cairn.bootstrap.logs import logger, warn
from cairn.bootstrap.parts import database
from cairn.clock import utc_now
from cairn.settings import PlanSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from aws_lambda_powertools import Logger

    from cairn.agent.ports import Planner
    from cairn.agent.situation import StepFunction
    from cairn.bootstrap.helpdesk import HelpdeskParts
    from cairn.helpdesk.taking import TakeTicket
    from cairn.helpdesk.ticket import Ticket
    from cairn.llm.gateway import Gateway
    from cairn.storage.postgres.database import Database

RECENT = 200
"""Tickets of the last day that a new one is compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanServices:
    """The plan function's use cases."""

    investigation: InvestigationSteps
    take: TakeTicket
    log: Logger


def plan_services() -> PlanServices:
    """Build them from the environment; nothing connects yet."""
    settings = PlanSettings.read()
    log = logger("plan", settings.log_level)
    opened = database(settings)
    models = cache(lambda: _models(settings, opened, log))
    planner = later(lambda: _planner(models(), log))
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
        take=later(lambda: _take(models, parts)),
        log=log,
    )


def _models(settings: PlanSettings, opened: Database, log: Logger) -> Gateway | None:
    from cairn.bootstrap.models import gateway

    return gateway(settings, opened, report=warn(log))


def _planner(models: Gateway | None, log: Logger) -> Planner:
    """Return a planner by models where there are any, else by rules."""
    from cairn.agent.planning.heuristic import HeuristicPlanner

    rules = HeuristicPlanner()
    if models is None:
        return rules
    from cairn.agent.planning.fallback import FallbackPlanner
    from cairn.agent.planning.model_planner import ModelPlanner

    return FallbackPlanner(first=ModelPlanner(gateway=models), rules=rules, report=warn(log))


def _triage(parts: InvestigationParts, planner: Planner) -> StepFunction:
    from cairn.agent.planning.surrounds import TicketSurrounds
    from cairn.agent.steps.triage import Triage

    helpdesk, settings = parts.helpdesk, parts.settings
    return Triage(
        desk=helpdesk.desk,
        hiding=parts.hiding,
        surrounds=TicketSurrounds(
            graph=helpdesk.graph, recent=partial(_recent, helpdesk), clock=utc_now
        ),
        planner=planner,
        degraded=helpdesk.queue(settings.investigations, settings.degraded_above).degraded,
    )


def _recent(helpdesk: HelpdeskParts, workspace_id: UUID, since: datetime) -> Sequence[Ticket]:
    """Return what came in since; tickets whose people were forgotten are left out."""
    from cairn.access.system import system_principal
    from cairn.helpdesk.sealing import ticket_of

    with helpdesk.transactions.reading(system_principal(workspace_id)) as stores:
        rows = stores.tickets.since(since, RECENT)
    texts = helpdesk.sealed.tickets(workspace_id, rows)
    return [ticket_of(workspace_id, row, texts[row.id]) for row in rows if row.id in texts]


def _take(planner_models: Callable[[], Gateway | None], parts: InvestigationParts) -> TakeTicket:
    return parts.helpdesk.take(planner_models(), parts.redacted, parts.admit)


def _plan(parts: InvestigationParts, planner: Planner) -> StepFunction:
    from cairn.agent.steps.plan import MakePlan

    return MakePlan(planner=planner, connectors=parts.connectors)


def _verdict(planner: Planner) -> StepFunction:
    from cairn.agent.steps.verdict import GiveVerdict

    return GiveVerdict(planner=planner)
