"""What the host tells the table of how a connector is, and the errors that go with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.connectors import lifecycle
from cairn.connectors.port import ConnectorUnauthorised, ConnectorUnavailable, OutcomeUnknown

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.connectors.connector import Registered
    from cairn.connectors.directory import StoreDirectory
    from cairn.connectors.lifecycle import Health
    from cairn.connectors.port import ToolCall
    from cairn.kernel.clock import Clock


class Fault(Exception):
    """Base of all; `code` is stable, `detail` a cleaned text for the operator or None."""

    code = "connector-fault"

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail or self.code)
        self.detail = detail


class NotStarted(Fault):
    """It did not get to answer the handshake."""

    code = "connector-not-started"


class NotSent(Fault):
    """The call did not reach it: nothing happened."""

    code = "connector-unreachable"


class Lost(Fault):
    """It went away, or said what is no answer, after a call was sent."""

    code = "connector-crashed"


class TimedOut(Fault):
    """It did not answer in time."""

    code = "tool-timeout"


class Unauthorised(Fault):
    """It refuses our credentials, or its own are refused."""

    code = "connector-unauthorised"


class Refused(Fault):
    """It answered with an error of the protocol: its own word, nothing else is known."""

    code = "tool-refused"


_WHY = {
    "connector-changed": "is no longer what this call was checked against",
    "connector-crashed": "went away, and is to be started again later",
    "connector-degraded": "is degraded: it failed too often, or lists other tools than before",
    "connector-not-started": "did not start",
    "tool-timeout": "did not answer in time",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """Keeps how connectors are."""

    directory: StoreDirectory
    clock: Clock

    def well(self, workspace_id: UUID, registered: Registered) -> None:
        """It answered."""
        now, health = self.clock(), registered.health
        if health.error is not None or lifecycle.is_due(health, now):
            self.keep(workspace_id, registered, lambda health: lifecycle.ready(health, now))

    def checked(self, workspace_id: UUID, registered: Registered) -> None:
        """It passed the check before a call."""
        now = self.clock()
        self.keep(workspace_id, registered, lambda health: lifecycle.checked(health, now))

    def failed(self, workspace_id: UUID, registered: Registered, fault: Fault) -> None:
        """It went away, or did not come. Its own words are kept without credentials."""
        from cairn.kernel.text.scrub import scrub

        now, code = self.clock(), fault.code
        detail = scrub(fault.detail).text if fault.detail else None
        self.keep(
            workspace_id, registered, lambda health: lifecycle.failed(health, now, code, detail)
        )

    def timed_out(self, workspace_id: UUID, registered: Registered) -> None:
        """It did not answer a call in time."""
        now = self.clock()
        self.keep(workspace_id, registered, lambda health: lifecycle.timed_out(health, now))

    def not_started(
        self, workspace_id: UUID, registered: Registered, fault: Fault
    ) -> ConnectorUnavailable:
        """It did not start; return what to raise."""
        self.failed(workspace_id, registered, fault)
        return unavailable("connector-not-started", registered.connector.name)

    def held(
        self, workspace_id: UUID, registered: Registered, code: str, detail: str
    ) -> ConnectorUnavailable:
        """Nobody may rely on what it lists; return what to raise."""
        now = self.clock()
        self.keep(
            workspace_id, registered, lambda health: lifecycle.held(health, now, code, detail)
        )
        return unavailable("connector-degraded", registered.connector.name)

    def unauthorised(
        self, workspace_id: UUID, registered: Registered, *, runs: bool
    ) -> ConnectorUnauthorised:
        """Its sign-in is refused; return what to raise."""
        now = self.clock()
        self.keep(
            workspace_id, registered, lambda health: lifecycle.unauthorised(health, now, runs=runs)
        )
        return ConnectorUnauthorised(
            "The connector's sign-in is refused: its secrets need renewing.",
            reason="connector-unauthorised",
            connector=registered.connector.name,
        )

    def mended(self, workspace_id: UUID, registered: Registered) -> None:
        """A person restarted it, or the schedule found it well."""
        now = self.clock()
        self.keep(workspace_id, registered, lambda health: lifecycle.mended(now))

    def keep(
        self, workspace_id: UUID, registered: Registered, becomes: Callable[[Health], Health]
    ) -> None:
        """Keep what becomes of how it is by now, whatever it was when it was looked up."""
        self.directory.keep(workspace_id, registered.connector, becomes)


def unavailable(reason: str, connector: str, *, retry_after: float = 1.0) -> ConnectorUnavailable:
    """Return the error of a call that did not happen."""
    return ConnectorUnavailable(
        f"The connector {_WHY[reason]}.",
        reason=reason,
        connector=connector,
        retry_after=retry_after,
    )


def no_answer(
    reason: str, call: ToolCall, *, harmless: bool
) -> ConnectorUnavailable | OutcomeUnknown:
    """Return the error of a call without an answer: one that can have changed nothing, or not."""
    if harmless:
        return unavailable(reason, call.connector)
    return OutcomeUnknown(
        f"The connector {_WHY[reason]}: whether the call happened is not known.",
        reason=reason,
        connector=call.connector,
        tool=call.tool,
        idempotency_key=str(call.idempotency_key),
    )
