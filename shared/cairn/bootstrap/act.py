"""What the act function needs: the steps that reach outside, and the delivery of webhooks.

A run does one step: what only another step needs is imported and built when that one comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.bootstrap.investigations import InvestigationParts, InvestigationSteps
from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.parts import database, key_store, logger, warn
from cairn.bootstrap.telemetry import tell_spans
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.settings import ActSettings
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.bootstrap.workflows import WorkflowSteps
    from cairn.connectors.host import Host
    from cairn.connectors.lifecycle import CheckConnectors
    from cairn.investigations.outcomes import CallTool
    from cairn.investigations.people.delivering import DeliverEscalation
    from cairn.investigations.ports import StepFunction
    from cairn.tickets.polling import PollDue
    from cairn.webhooks.webhooks import DeliverWebhook


@dataclass(frozen=True, slots=True, kw_only=True)
class ActServices:
    """The act function's use cases."""

    investigation: InvestigationSteps
    workflow: WorkflowSteps
    deliver: DeliverWebhook
    escalate: DeliverEscalation
    check_connectors: CheckConnectors
    poll_tickets: PollDue
    log: Logger


def act_services() -> ActServices:
    """Build them from the environment; nothing connects and no connector starts yet."""
    settings = ActSettings.read()
    log = logger("act", settings.log_level)
    tell_spans("act", settings)
    opened = database(settings)
    parts = InvestigationParts(
        settings=settings,
        opened=opened,
        log=log,
        leads=settings.webhooks,
        machines={Topic.INGESTION: settings.ingestion_machine_arn},
        bucket=settings.uploads_bucket,
        steps={
            "SAFETY_CHECK": lambda: _check(parts, call),
            "ACTING": lambda: _act(parts, call),
            "WRITING_BACK": lambda: _write_back(parts),
        },
    )
    host = lazy(lambda: _host(settings, parts))
    call = lazy(lambda: _call(host))
    return ActServices(
        investigation=InvestigationSteps(parts=parts),
        workflow=lazy(lambda: _workflow(parts, host)),
        deliver=lazy(lambda: _deliver(settings, opened)),
        escalate=lazy(lambda: _escalate(settings, parts)),
        check_connectors=lazy(lambda: _check_connectors(parts, host)),
        poll_tickets=lazy(lambda: parts.helpdesk.poll_due),
        log=log,
    )


def _host(settings: ActSettings, parts: InvestigationParts) -> Host:
    from cairn.bootstrap.connectors import connector_host

    return connector_host(settings, parts.opened, parts.platform, parts.metrics)


def _workflow(parts: InvestigationParts, host: Host) -> WorkflowSteps:
    from cairn.bootstrap.workflows import WorkflowSteps, tool_steps

    return WorkflowSteps(parts=parts, steps=tool_steps(parts, host))


def _call(host: Host) -> CallTool:
    from cairn.investigations.outcomes import CallTool

    return CallTool(host=host)


def _check_connectors(parts: InvestigationParts, host: Host) -> CheckConnectors:
    from cairn.adapters.postgres.agents.connectors import ConnectorsToCheck
    from cairn.connectors.lifecycle import CheckConnectors

    return CheckConnectors(
        due=ConnectorsToCheck(parts.opened),
        host=host,
        clock=utc_now,
        stopwatch=monotonic,
        report=warn(parts.log),
    )


def _check(parts: InvestigationParts, call: CallTool) -> StepFunction:
    from cairn.investigations.steps.check import CheckSafety

    return CheckSafety(
        journal=parts.journal, pipeline=parts.pipeline, call=call, clock=utc_now, new_id=new_id
    )


def _act(parts: InvestigationParts, call: CallTool) -> StepFunction:
    from cairn.investigations.steps.act import Act

    return Act(
        journal=parts.journal, pipeline=parts.pipeline, call=call, connectors=parts.connectors
    )


def _write_back(parts: InvestigationParts) -> StepFunction:
    from cairn.investigations.steps.act import WriteBack

    return WriteBack(desk=parts.helpdesk.desk, hiding=parts.hiding)


def _escalate(settings: ActSettings, parts: InvestigationParts) -> DeliverEscalation:
    from cairn.adapters.http.webhooks import sender_for
    from cairn.investigations.people.delivering import DeliverEscalation

    return DeliverEscalation(
        journal=parts.journal,
        desk=parts.desk,
        hiding=parts.hiding,
        sender=sender_for(settings.webhooks),
    )


def _deliver(settings: ActSettings, opened: Database) -> DeliverWebhook:
    from cairn.adapters.http.webhooks import sender_for
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.ledger.keys import BodyCipher
    from cairn.webhooks.webhooks import DeliverWebhook

    return DeliverWebhook(
        transactions=StoreTransactions(opened),
        keys=key_store(settings),
        cipher=BodyCipher(),
        sender=sender_for(settings.webhooks),
        clock=utc_now,
    )
