"""What investigations are made of: for the functions of the machine, and for the API.

Each part is imported and made when a step first needs it: a cold start pays for its own step only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.parts import DatabaseSettings, KeyStoreSettings, key_store, platform, warn
from cairn.investigations.run.redact_errors import redact_errors
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.errors import Conflict
from cairn.kernel.spans import span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal
    from uuid import UUID

    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.adapters.postgres.workspaces import PostgresProfiles
    from cairn.bootstrap.dispatch import Wakes
    from cairn.bootstrap.helpdesk import HelpdeskParts
    from cairn.connectors.directory import ConnectorPolicies
    from cairn.investigations.approvals import Expire, Wait
    from cairn.investigations.hiding import Hiding
    from cairn.investigations.journal import Journal
    from cairn.investigations.outcomes import StoredConnectors
    from cairn.investigations.ports import StepFunction
    from cairn.investigations.run.admission import Admit
    from cairn.investigations.run.closing import (
        Abandon,
        AbandonExecution,
        Close,
        Halt,
        QueueEscalation,
    )
    from cairn.investigations.run.resume import Enter, ExecutionEnded, Resume
    from cairn.investigations.run.step import RunStep
    from cairn.investigations.views import Present
    from cairn.kernel.metrics import Metrics
    from cairn.ledger.keys import KeyStore
    from cairn.safety.pipeline import Pipeline
    from cairn.tickets.write_back import Desk
    from cairn.writing.platform import Platform

SUPERSEDED = "superseded"
TRACES = 1_000
"""Of investigations that a process keeps in mind."""


class InvestigationSettings(DatabaseSettings, KeyStoreSettings, Protocol):
    """What every function of the machine reads."""

    @property
    def stage(self) -> Literal["local", "prod"]: ...
    @property
    def embed_queue_url(self) -> str: ...
    @property
    def webhook_queue_url(self) -> str: ...
    @property
    def ticket_queue_url(self) -> str: ...
    @property
    def escalation_queue_url(self) -> str: ...
    @property
    def channel_queue_url(self) -> str: ...
    @property
    def investigation_machine_arn(self) -> str: ...
    @property
    def investigations(self) -> int: ...
    @property
    def degraded_above(self) -> int: ...


@dataclass(frozen=True)
class InvestigationParts:
    """Adapters and use cases that steps are made of; nothing connects when they are made.

    `steps` makes the step of each state that its function runs; `leads` says where requests to help
    desks may lead; `machines` are the ARNs of what this process starts besides, by topic, `queues`
    the URLs of whom it wakes; `bucket` is where documents wait that were attached to tickets.
    """

    settings: InvestigationSettings
    opened: Database
    log: Logger
    steps: Mapping[str, Callable[[], StepFunction]]
    leads: str = "public"
    machines: Mapping[str, str] = field(default_factory=dict[str, str])
    queues: Mapping[str, str] = field(default_factory=dict[str, str])
    bucket: str | None = None

    @cached_property
    def transactions(self) -> StoreTransactions:
        """What steps read and write in."""
        from cairn.adapters.postgres.store_transactions import StoreTransactions

        return StoreTransactions(self.opened)

    @cached_property
    def keys(self) -> KeyStore:
        """The keys of data subjects."""
        return key_store(self.settings)

    @cached_property
    def wake(self) -> Wakes:
        """What sends committed work on."""
        from cairn.adapters.postgres.store_transactions import StoreTransactions
        from cairn.bootstrap.dispatch import (
            dispatcher,
            investigation_machine_of,
            investigation_queues_of,
        )

        return dispatcher(
            {**self.queues, **investigation_queues_of(self.settings)},
            {**self.machines, **investigation_machine_of(self.settings)},
            self.opened,
            StoreTransactions(self.opened),
            warn(self.log),
            lazy(lambda: self.resume),
        )

    @cached_property
    def platform(self) -> Platform:
        """What use cases share."""
        return platform(
            self.opened,
            keys=lazy(lambda: self.keys),
            dispatcher=lazy(lambda: self.wake),
            log=self.log,
        )

    @cached_property
    def journal(self) -> Journal:
        """What transitions are written by."""
        from cairn.investigations.journal import Journal

        return Journal(platform=self.platform)

    @cached_property
    def traceparent(self) -> Callable[[UUID, UUID], str | None]:
        """The trace of an investigation, in which its entries and messages go on.

        It never changes: a process reads it once, not with every step.
        """
        return lru_cache(TRACES)(self._traceparent)

    def _traceparent(self, workspace_id: UUID, investigation_id: UUID) -> str | None:
        with self.journal.reading(workspace_id) as stores:
            investigation = stores.investigations.find(investigation_id)
        return investigation.traceparent if investigation else None

    @cached_property
    def metrics(self) -> Metrics:
        """Where counts go."""
        from cairn.bootstrap.parts import metrics

        return metrics(self.settings.stage)

    @cached_property
    def connectors(self) -> StoredConnectors:
        """Which tools there are."""
        from cairn.investigations.outcomes import StoredConnectors

        return StoredConnectors(transactions=self.transactions)

    @cached_property
    def policies(self) -> ConnectorPolicies:
        """What workspaces allow."""
        from cairn.connectors.directory import ConnectorPolicies

        return ConnectorPolicies(transactions=self.transactions, profiles=self.profiles)

    @cached_property
    def profiles(self) -> PostgresProfiles:
        """Which redaction profiles workspaces have chosen."""
        from cairn.adapters.postgres.workspaces import PostgresProfiles

        return PostgresProfiles(self.opened)

    @cached_property
    def hiding(self) -> Hiding:
        """What takes personal values out of texts."""
        from cairn.investigations.hiding import Hiding
        from cairn.safety.redaction import ReversibleRedactor

        return Hiding(redactor=ReversibleRedactor(), profiles=self.profiles)

    def redacted(self, workspace_id: UUID, text: str, /) -> str:
        """Return a text as models may see it where nobody needs its values back."""
        from cairn.safety.profiles import DEFAULT_PROFILE

        return self.hiding.under(workspace_id, DEFAULT_PROFILE, {})(text)

    @cached_property
    def pipeline(self) -> Pipeline:
        """The rules, in their order."""
        from cairn.investigations.grants import StandingGrants
        from cairn.safety.pipeline import Pipeline

        grants = StandingGrants(platform=self.platform)
        return Pipeline(policies=self.policies, clock=utc_now, grants=grants)

    @cached_property
    def helpdesk(self) -> HelpdeskParts:
        """What is done with tickets."""
        from cairn.bootstrap.helpdesk import HelpdeskParts

        return HelpdeskParts(
            opened=self.opened, platform=self.platform, leads=self.leads, bucket=self.bucket
        )

    @property
    def desk(self) -> Desk:
        """Where tickets and personas are read, and written back to."""
        return self.helpdesk.desk

    @cached_property
    def admit(self) -> Admit:
        """What takes up who is next."""
        from cairn.investigations.run.admission import Admit

        return Admit(journal=self.journal, at_once=self.settings.investigations)

    @cached_property
    def abandon(self) -> Abandon:
        """What ends investigations about people who were forgotten."""
        from cairn.investigations.run.closing import Abandon

        return Abandon(journal=self.journal)

    @cached_property
    def enter(self) -> Enter:
        """The first step of an execution."""
        from cairn.investigations.run.resume import Enter

        return Enter(journal=self.journal, connectors=self.connectors, abandon=self.abandon)

    @cached_property
    def run(self) -> RunStep:
        """What runs the step of a state."""
        from cairn.investigations.run.step import RunStep
        from cairn.investigations.state import State

        return RunStep(
            journal=self.journal,
            steps={State(name): lazy(make) for name, make in self.steps.items()},
            desk=self.desk,
            stopwatch=monotonic,
            abandon=self.abandon,
            metrics=self.metrics,
        )

    @cached_property
    def wait(self) -> Wait:
        """What keeps the token of an execution that waits."""
        from cairn.investigations.approvals import Wait

        return Wait(journal=self.journal, admit=self.admit)

    @cached_property
    def expire(self) -> Expire:
        """What ends questions nobody answered."""
        from cairn.investigations.approvals import Expire

        return Expire(journal=self.journal, abandon=self.abandon)

    @cached_property
    def halt(self) -> Halt:
        """What stops an investigation whose step failed."""
        from cairn.investigations.run.closing import Halt

        return Halt(journal=self.journal, abandon=self.abandon)

    @cached_property
    def close(self) -> Close:
        """What closes an investigation."""
        from cairn.investigations.run.closing import Close

        return Close(
            journal=self.journal,
            desk=self.desk,
            escalate=self.escalate,
            admit=self.admit,
            metrics=self.metrics,
        )

    @cached_property
    def escalate(self) -> QueueEscalation:
        """What calls people."""
        from cairn.investigations.run.closing import QueueEscalation

        return QueueEscalation(journal=self.journal, desk=self.desk)

    @cached_property
    def resume(self) -> Resume:
        """What starts another execution."""
        from cairn.investigations.run.resume import Resume

        return Resume(journal=self.journal)

    @cached_property
    def leave(self) -> AbandonExecution:
        """What calls a person where executions do not help."""
        from cairn.investigations.run.closing import AbandonExecution

        return AbandonExecution(journal=self.journal, escalate=self.escalate, admit=self.admit)

    @cached_property
    def execution_ended(self) -> ExecutionEnded:
        """What looks after an execution that failed."""
        from cairn.investigations.run.resume import ExecutionEnded

        return ExecutionEnded(
            journal=self.journal, resume=self.resume, close=self.close, leave=self.leave
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class InvestigationSteps:
    """The states of the machine as its functions call them; each answers where it leads.

    A run that another has taken the place of does nothing and says so.
    """

    parts: InvestigationParts

    @redact_errors()
    def __call__(
        self,
        step: str,
        workspace_id: UUID,
        investigation_id: UUID,
        *,
        run: int,
        token: str = "",
        error: str = "",
        cause: str = "",
    ) -> dict[str, Any]:
        """Run one step and return ids, a state and the run that counts."""
        ids, parts = (workspace_id, investigation_id), self.parts
        calls: dict[str, Callable[[], Present]] = {
            "enter": lambda: parts.enter(*ids, run=run),
            "wait": lambda: parts.wait(*ids, token=token, run=run),
            "expire": lambda: parts.expire(*ids),
            "halt": lambda: parts.halt(*ids, error=error, cause=cause, run=run),
            "DONE": lambda: parts.close(*ids),
            "HALTED": lambda: parts.close(*ids),
        }
        call = calls.get(step) or (lambda: self._ran(step, *ids, run))
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "cairn.workspace_id": str(workspace_id),
            "cairn.investigation_id": str(investigation_id),
        }
        with span(f"investigation {step}", attributes, parent=parts.traceparent(*ids)):
            answer = self._answered(call, *ids)
        parts.log.info("investigation.step", extra={"step": step, **answer})
        return answer

    def ended(
        self, workspace_id: UUID, investigation_id: UUID, *, run: int, status: str
    ) -> dict[str, Any]:
        """Look after an execution that ended by itself."""
        ended = self.parts.execution_ended(workspace_id, investigation_id, run=run, status=status)
        return ended.as_answer()

    def _ran(self, step: str, workspace_id: UUID, investigation_id: UUID, run: int) -> Present:
        from cairn.investigations.state import State

        return self.parts.run(workspace_id, investigation_id, state=State(step), run=run)

    def _answered(
        self, call: Callable[[], Present], workspace_id: UUID, investigation_id: UUID
    ) -> dict[str, Any]:
        try:
            return dict(call().as_answer())
        except Conflict as error:
            if error.reason != SUPERSEDED:
                raise
        ids = {"workspace_id": str(workspace_id), "investigation_id": str(investigation_id)}
        return {**ids, "state": SUPERSEDED, "run": 0}
