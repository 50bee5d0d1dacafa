"""The host of connectors and their registry. Nothing of MCP is loaded before the first call."""

from __future__ import annotations

import atexit
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from cairn.kernel.clock import monotonic
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.metrics import untold

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Literal

    from cairn.adapters.files.commands import CommandFile
    from cairn.adapters.postgres.database import Database
    from cairn.connectors.connector import Launch
    from cairn.connectors.host import Host
    from cairn.connectors.registry import Connectors, Mended
    from cairn.connectors.wires import Wire
    from cairn.kernel.metrics import Metrics
    from cairn.oauth_client.sign_in import SignIns
    from cairn.writing.platform import Platform


class HostSettings(Protocol):
    """Where connectors may lead, and whether commands may be run."""

    @property
    def stage(self) -> Literal["local", "prod"]: ...
    @property
    def webhooks(self) -> Literal["off", "public", "private"]: ...
    @property
    def connector_commands(self) -> Path | None: ...


def connector_host(
    settings: HostSettings,
    opened: Database,
    platform: Platform,
    metrics: Metrics = untold,
    *,
    handshake_seconds: float | None = None,
) -> Host:
    """Return the process's host of connectors; it starts none before the first call.

    `handshake_seconds` is how long one may take to start where somebody waits for the answer.
    """
    from cairn.adapters.postgres.agents.connectors import StateTransactions
    from cairn.bootstrap.sign_ins import sign_in_tokens
    from cairn.connectors.connection import HANDSHAKE_SECONDS
    from cairn.connectors.directory import StoreDirectory
    from cairn.connectors.host import Host
    from cairn.writing.secrets import Secrets

    host = Host(
        directory=StoreDirectory(
            platform=platform,
            states=StateTransactions(opened),
            secrets=Secrets.of(platform),
            tokens=sign_in_tokens(settings.webhooks, opened, platform),
        ),
        wires=ConnectorWires(settings),
        stopwatch=monotonic,
        metrics=metrics,
        handshake_seconds=handshake_seconds or HANDSHAKE_SECONDS,
    )
    atexit.register(host.close)
    return host


@dataclass(frozen=True)
class ConnectorWires:
    """Implements `connectors.connector.Wires`."""

    settings: HostSettings

    def __call__(self, launch: Launch) -> Wire:
        """Return a wire that is not open yet; ValidationFailed when there can be none."""
        from cairn.connectors.connector import Transport

        if launch.transport is Transport.HTTP:
            return self._over_http(launch)
        launch = self._held_back(launch)
        if launch.transport is Transport.IN_PROCESS:
            return self._in_process(launch)
        return self._process(launch)

    def _held_back(self, launch: Launch) -> Launch:
        """Return a launch whose addresses lead where this deployment lets them."""
        from cairn.connectors.launching import ALLOW_PRIVATE, LEADING_OUT

        if launch.builtin not in LEADING_OUT:
            return launch
        self._refuse_when_off()
        requested = launch.config.get(ALLOW_PRIVATE, True) is True
        allowed = requested and self.settings.webhooks == "private"
        return replace(launch, config={**launch.config, ALLOW_PRIVATE: allowed})

    def _refuse_when_off(self) -> None:
        if self.settings.webhooks == "off":
            raise ValidationFailed("Nothing may leave this network: CAIRN_WEBHOOKS is off.")

    def _process(self, launch: Launch) -> Wire:
        import sys

        from cairn.connectors.launching import INHERITED, command_of, environment_of
        from cairn.connectors.stdio import StdioWire
        from cairn.settings import inherited

        if launch.builtin is None:
            launch = self._allowed(launch)
        environment = environment_of(launch, inherited(INHERITED), sys.path)
        return StdioWire(command_of(launch), environment)

    def _allowed(self, launch: Launch) -> Launch:
        """Return a launch of the very file that the machine's owner has allowed."""
        from cairn.connectors.requests import variables_of

        variables = variables_of(launch.config, launch.secrets)
        entry = command_file(self.settings)(launch.command, variables)
        return replace(launch, command=(entry.program, *launch.command[1:]))

    def _over_http(self, launch: Launch) -> Wire:
        from cairn.adapters.http.connectors import connector_client
        from cairn.adapters.http.webhooks import HttpWebhookSender
        from cairn.connectors.launching import headers_of
        from cairn.connectors.wires import HttpWire

        self._refuse_when_off()
        guard = HttpWebhookSender(allow_private=self.settings.webhooks == "private")
        url, headers = launch.url or "", headers_of(launch)
        return HttpWire(url, lambda: connector_client(guard, url, headers, launch.bearer))

    def _in_process(self, launch: Launch) -> Wire:
        from cairn.connectors.wires import InProcessWire

        return InProcessWire(lambda: _server_of(launch))


def _server_of(launch: Launch) -> Any:
    """Return the server of a bundled connector; ValidationFailed for settings it refuses."""
    from importlib import import_module

    from cairn.connectors.launching import BUNDLED

    module = BUNDLED.get(launch.builtin or "")
    if module is None:
        raise ValidationFailed("There is no such bundled connector.", builtin=launch.builtin)
    make: Callable[..., Any] = import_module(module).server
    return make(launch.config, launch.secrets)


def connector_registry(
    settings: HostSettings,
    host: Host,
    platform: Platform,
    *,
    mended: Mended = lambda workspace_id, waits_for: 0,
    signing_in: SignIns | None = None,
) -> Connectors:
    """Return the registry of connectors beside the host that runs them.

    `mended` puts back the tickets that waited for one; without it none ever waits. `signing_in`
    signs them in by a device code; without it none is.
    """
    from cairn.adapters.http.webhooks import sender_for
    from cairn.connectors.registry import Connectors
    from cairn.writing.secrets import Secrets

    return Connectors(
        platform=platform,
        secrets=Secrets.of(platform),
        host=host,
        address=sender_for(settings.webhooks).check,
        database=look_at_database,
        mended=mended,
        commands=command_file(settings),
        signing_in=signing_in,
    )


def command_file(settings: HostSettings) -> CommandFile:
    """Return the list of commands that may run; on AWS there is none."""
    from cairn.adapters.files.commands import CommandFile

    return CommandFile(None if settings.stage == "prod" else settings.connector_commands)


def look_at_database(dsn: str) -> None:
    """Implements `connectors.connector.DatabaseCheck`: sign in as the connector would, and look."""
    from cairn.bundled.database import CustomerDatabase
    from cairn.kernel.errors import CairnError, FieldError

    try:
        with CustomerDatabase(dsn=dsn).reading():
            return
    except CairnError as error:
        ours = error.reason == "connector-database"
        raise ValidationFailed(
            f"secrets.dsn: {error.detail}",
            reason="connector-database" if ours else "connector-database-unreachable",
            errors=[FieldError("secrets.dsn", error.detail)],
        ) from None
