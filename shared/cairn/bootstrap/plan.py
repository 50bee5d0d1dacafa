"""What the plan function needs: the thinking steps of investigations, and taking tickets in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cairn.bootstrap.investigating import InvestigationParts, InvestigationSteps
from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.logs import logger, warn
from cairn.bootstrap.parts import database
from cairn.bootstrap.planning import planner_over
from cairn.settings import PlanSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.investigations.ports import Planner, StepFunction
    from cairn.llm.gateway import Gateway
    from cairn.tickets.gateway import TakeTicket


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
        take=lazy(lambda: _take(models, parts)),
        log=log,
    )


def _models(settings: PlanSettings, opened: Database, log: Logger) -> Gateway | None:
    from cairn.bootstrap.models import gateway

    return gateway(settings, opened, report=warn(log))


def _triage(parts: InvestigationParts, planner: Planner) -> StepFunction:
    from cairn.bootstrap.planning import recent, surrounds
    from cairn.investigations.planning.surrounds import History
    from cairn.investigations.steps.verdict import Triage

    helpdesk, settings = parts.helpdesk, parts.settings
    return Triage(
        desk=helpdesk.desk,
        hiding=parts.hiding,
        surrounds=surrounds(parts.opened, parts.keys),
        recent=recent(parts.opened, parts.journal),
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
