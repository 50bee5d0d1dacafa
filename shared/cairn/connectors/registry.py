"""Registering connectors: an admin's work. Each change is a ledger entry. Not their calls."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from cairn.connectors.connector import Connector, holder_of
from cairn.connectors.directory import Manifests, recorded
from cairn.connectors.launching import BUNDLED
from cairn.connectors.lifecycle import UNAUTHORISED, Health
from cairn.connectors.manifest import looks_like
from cairn.connectors.requests import (
    DSN,
    ConnectorChange,
    NewConnector,
    check_connector,
    variables_of,
)
from cairn.kernel.access import Role
from cairn.kernel.errors import CairnError, Conflict, NotFound
from cairn.kernel.records import convert
from cairn.oauth_client.client import SETTING as OAUTH
from cairn.oauth_client.client import read_client
from cairn.safety.destinations import destinations, origin, refuse_following, renewed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.connectors.connector import DatabaseCheck, Registered
    from cairn.connectors.host import Host
    from cairn.connectors.port import ToolCall, ToolResult
    from cairn.connectors.requests import CheckCommand
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.oauth_client.client import Holder
    from cairn.oauth_client.sign_in import SignIns, SignInShown
    from cairn.safety.tools import Manifest
    from cairn.writing.platform import Platform
    from cairn.writing.secrets import Secrets

MAX_CONNECTORS = 50


AddressCheck: TypeAlias = "Callable[[str], None]"
"""Looks where an address leads.

Raise ValidationFailed, or Conflict where nothing may leave.
"""


Mended: TypeAlias = "Callable[[UUID, str], int]"
"""Puts back what waited for something to be mended; see `tickets.queue`.

Put back what waits for `connector:<name>`; return how many.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorShown:
    """A connector as it is shown, with how it is and what it offers; never its secrets."""

    connector: Connector
    health: Health
    manifest: Manifest | None

    @property
    def is_well(self) -> bool:
        """Return whether it may be called, as far as is known."""
        return self.health.error is None and not self.health.is_degraded


@dataclass(frozen=True, slots=True, kw_only=True)
class Connectors:
    """Registers, changes, shows, restarts and removes connectors.

    `commands` refuses commands that the machine's owner has not allowed.
    """

    platform: Platform
    secrets: Secrets
    host: Host
    address: AddressCheck
    database: DatabaseCheck
    mended: Mended
    commands: CheckCommand
    manifests: Manifests = field(default_factory=Manifests)
    signing_in: SignIns | None = None

    def register(self, principal: Principal, new: NewConnector) -> ConnectorShown:
        """Keep a connector, start it, and return how it is; one that does not start is kept too.

        ValidationFailed for what is wrong with it, and for a database of Cairn's; Conflict for a
        name that is taken or looks like one that is.
        """
        principal.require(Role.ADMIN)
        check_connector(new)
        self._check_reach(new)
        now, workspace_id = self.platform.clock(), principal.workspace_id
        connector = convert(
            new,
            Connector,
            id=self.platform.new_id(),
            config=dict(new.config),
            secret_names=tuple(sorted(new.secrets)),
            created_at=now,
            changed_at=now,
        )
        sealed = self.secrets.sealed(workspace_id, connector.id, dict(new.secrets))
        with self.platform.transactions.writing(principal) as stores:
            _refuse_alike(new.name, stores.connectors.all())
            stores.connectors.add(connector, sealed)
            self._record(stores, principal, "connector.registered", connector)
        return self._looked_at(principal, new.name)

    def change(self, principal: Principal, name: str, change: ConnectorChange) -> ConnectorShown:
        """Change one and return how it is; NotFound when there is none.

        Conflict (`connector-changed`) when somebody else changed it while this was looked at.

        Another command, address, setting or secret starts it anew, and what it lists then counts.
        Another place for its secrets to go needs all of them anew.
        """
        principal.require(Role.ADMIN)
        connector = self._find_connector(principal, name)
        old = connector.connector
        changed = _changed(old, change)
        secrets = self._secrets_of(principal, old)
        if _reach(old) != _reach(changed):
            refuse_following(secrets, change.secrets)
        opened = renewed(secrets, change.secrets)
        new_connector = _new_connector(changed, opened)
        check_connector(new_connector)
        runs = _runs(old) != _runs(changed) or change.secrets is not None
        if runs:
            self._check_reach(new_connector)
        changed = replace(
            changed,
            secret_names=tuple(sorted(opened)),
            revision=old.revision + runs,
            changed_at=self.platform.clock(),
        )
        sealed = None
        if change.secrets is not None:
            sealed = self.secrets.sealed(principal.workspace_id, old.id, opened)
        with self.platform.transactions.writing(principal) as stores:
            present = stores.connectors.find(name)
            if present is None:
                raise _no_such(name)
            if present.connector != old:
                raise Conflict(
                    "Somebody else changed it meanwhile; look at it again.",
                    reason="connector-changed",
                    connector=name,
                )
            stores.connectors.change(changed, sealed)
            if runs:
                self._forget(stores, changed.id)
            self._record(stores, principal, "connector.changed", changed)
        if not runs:
            return self.one(principal, name)
        self.host.drop(principal.workspace_id, old.id, name)
        return self._put_back(principal, self._looked_at(principal, name))

    def remove(self, principal: Principal, name: str) -> None:
        """Remove one with its sign-in, and end it; NotFound when there is none."""
        principal.require(Role.ADMIN)
        holder, signed_in = self._leaving(principal, name), None
        with self.platform.transactions.writing(principal) as stores:
            connector = stores.connectors.find(name)
            if connector is None:
                raise _no_such(name)
            if holder is not None:
                signed_in = stores.oauth_sign_ins.find(holder.id)
            stores.connectors.remove(name)
            self._record(stores, principal, "connector.removed", connector.connector)
        self.host.drop(principal.workspace_id, connector.connector.id, name)
        if holder is not None and self.signing_in is not None:
            self.signing_in.revoke(principal, holder, signed_in)

    def restart(self, principal: Principal, name: str) -> ConnectorShown:
        """Start one anew and return how it is: what it lists now is what counts from now on.

        Ends a degradation. NotFound when there is none.
        """
        principal.require(Role.ADMIN)
        with self.platform.transactions.writing(principal) as stores:
            connector = stores.connectors.find(name)
            if connector is None:
                raise _no_such(name)
            self._forget(stores, connector.connector.id)
            self._record(stores, principal, "connector.restarted", connector.connector)
        self.host.drop(principal.workspace_id, connector.connector.id, name)
        return self._put_back(principal, self._looked_at(principal, name))

    def all(self, principal: Principal) -> Sequence[ConnectorShown]:
        """Return every connector, by name."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return [self._shown(item) for item in stores.connectors.all()]

    def one(self, principal: Principal, name: str) -> ConnectorShown:
        """Return one; NotFound when there is none."""
        principal.require(Role.ADMIN)
        return self._shown(self._find_connector(principal, name))

    def check(self, principal: Principal, name: str) -> ConnectorShown:
        """Look how one is now, and return that; NotFound when there is none."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.writing(principal) as stores:
            connector = stores.connectors.find(name)
            if connector is None:
                raise _no_such(name)
            self._record(stores, principal, "connector.checked", connector.connector)
        return self._looked_at(principal, name)

    def call(self, principal: Principal, call: ToolCall) -> ToolResult:
        """Call a tool as a dry run, or one that reads; an admin trying a connector out.

        Conflict for a call that would write: agents' writes go through investigations.
        """
        from cairn.safety.tools import Lane

        principal.require(Role.ADMIN)
        shown = self._shown(self._find_connector(principal, call.connector))
        spec = shown.manifest.tool(call.tool) if shown.manifest else None
        if not call.dry_run and (spec is None or spec.lane is not Lane.READ):
            raise Conflict(
                "Only tools that read are called from here without a dry run.", reason="dry-run"
            )
        return self.host.call(principal.workspace_id, call)

    def sign_in(self, principal: Principal, name: str) -> SignInShown:
        """Begin to sign in to one by a device code, and return the code; see `SignIns.begin`.

        NotFound without the connector, Conflict (`no-device-code`) for one that signs in otherwise.
        """
        signing_in, holder = self._signs_in(principal, name)
        return signing_in.begin(principal, holder)

    def signed_in(self, principal: Principal, name: str) -> SignInShown:
        """Return how signing in to one stands; raises as `sign_in`."""
        signing_in, holder = self._signs_in(principal, name)
        return signing_in.show(principal, holder)

    def poll_sign_in(self, principal: Principal, name: str) -> SignInShown:
        """Ask whether the person said yes. Then it is started, and tickets that waited go on."""
        signing_in, holder = self._signs_in(principal, name)
        before = signing_in.show(principal, holder)
        shown = signing_in.poll(principal, holder)
        waits = self._find_connector(principal, name).health.error == UNAUTHORISED
        if shown.state == "signed-in" and (waits or before.state != shown.state):
            self.host.drop(principal.workspace_id, holder.id, name)
            self._put_back(principal, self._looked_at(principal, name))
        return shown

    def sign_out(self, principal: Principal, name: str) -> None:
        """Forget its token and end what runs with it; NotFound when it is not signed in."""
        signing_in, holder = self._signs_in(principal, name)
        signing_in.end(principal, holder)
        self.host.drop(principal.workspace_id, holder.id, name)

    def _signs_in(self, principal: Principal, name: str) -> tuple[SignIns, Holder]:
        principal.require(Role.ADMIN)
        connector = self._find_connector(principal, name).connector
        holder = holder_of(connector, self._secrets_of(principal, connector))
        if holder is None or self.signing_in is None:
            raise Conflict(
                "It does not sign in by a device code; renew its secrets instead.",
                reason="no-device-code",
                connector=name,
            )
        return self.signing_in, holder

    def _leaving(self, principal: Principal, name: str) -> Holder | None:
        """Return how one signs in by a code, so that its server is told that it does no more."""
        connector = self._find_connector(principal, name).connector
        if OAUTH not in connector.config:
            return None
        try:
            return holder_of(connector, self._secrets_of(principal, connector))
        except CairnError:  # its secrets cannot be read: it is removed all the same
            return None

    def _check_reach(self, new: NewConnector) -> None:
        """Refuse what may not run here, and what leads where no connector may."""
        if new.command:
            self.commands(new.command, variables_of(new.config, new.secrets))
        if new.url is not None:
            self.address(new.url)
        if OAUTH in new.config:
            for url in read_client(new.config[OAUTH], new.secrets).addresses:
                self.address(url)
        if new.builtin in BUNDLED and DSN in new.secrets:
            self.database(new.secrets[DSN])

    def _looked_at(self, principal: Principal, name: str) -> ConnectorShown:
        try:
            self.host.check(principal.workspace_id, name)
        except CairnError as error:
            if isinstance(error, NotFound):  # removed meanwhile
                raise
        return self.one(principal, name)

    def _put_back(self, principal: Principal, shown: ConnectorShown) -> ConnectorShown:
        """Let tickets that waited for a person to mend it go on, when it is well.

        The schedule does not: a sign-in that only looks well would send them round in circles.
        """
        if shown.is_well:
            self.mended(principal.workspace_id, f"connector:{shown.connector.name}")
        return shown

    def _shown(self, connector: Registered) -> ConnectorShown:
        return ConnectorShown(
            connector=connector.connector,
            health=connector.health,
            manifest=self.manifests(connector),
        )

    def _find_connector(self, principal: Principal, name: str) -> Registered:
        with self.platform.transactions.reading(principal) as stores:
            connector = stores.connectors.find(name)
        if connector is None:
            raise _no_such(name)
        return connector

    def _secrets_of(self, principal: Principal, connector: Connector) -> dict[str, str]:
        with self.platform.transactions.reading(principal) as stores:
            sealed = stores.connectors.secrets(connector.name)
        if sealed is None:
            raise _no_such(connector.name)
        return self.secrets.opened(principal.workspace_id, connector.id, sealed)

    @staticmethod
    def _forget(stores: Stores, connector_id: UUID) -> None:
        stores.connectors.keep_health(connector_id, Health())
        stores.connectors.keep_listing(connector_id, None)

    def _record(
        self, stores: Stores, principal: Principal, type_: str, connector: Connector
    ) -> None:
        meta: dict[str, JsonValue] = {
            "transport": connector.transport.value,
            "builtin": connector.builtin,
            "autonomy": connector.autonomy.value,
            "criticality": connector.criticality.value,
            "scopes": hashlib.sha256(connector.scopes.encode()).hexdigest(),
            "revision": connector.revision,
        }
        recorded(
            stores,
            principal,
            type_,
            connector.id,
            meta,
            clock=self.platform.clock,
            new_id=self.platform.new_id,
        )


def _changed(old: Connector, change: ConnectorChange) -> Connector:
    values = {
        "command": change.command,
        "url": change.url,
        "config": None if change.config is None else dict(change.config),
        "scopes": change.scopes,
        "autonomy": change.autonomy,
        "criticality": change.criticality,
    }
    changes = {name: value for name, value in values.items() if value is not None}
    return replace(old, **changes)  # pyright: ignore[reportArgumentType]


def _new_connector(connector: Connector, secrets: dict[str, str]) -> NewConnector:
    return convert(connector, NewConnector, secrets=secrets)


def _runs(connector: Connector) -> tuple[object, ...]:
    return (connector.command, connector.url, dict(connector.config))


def _reach(connector: Connector) -> tuple[object, ...]:
    """Return what says where its secrets go: a process, an address, or those of its settings."""
    config = dict(connector.config)
    if connector.builtin is None:
        at = origin(connector.url) if connector.url else None
        endpoints = destinations(config.get(OAUTH))
        return (connector.command, at, config.get("env"), endpoints)
    return (destinations(config), config.get("rules"))


def _refuse_alike(name: str, others: Sequence[Registered]) -> None:
    if len(others) >= MAX_CONNECTORS:
        raise Conflict(f"A workspace has at most {MAX_CONNECTORS} connectors.", reason="too-many")
    for other in others:
        taken = other.connector.name
        if taken == name:
            raise Conflict("The name is taken.", reason="connector-name", connector=taken)
        if looks_like(taken) == looks_like(name):
            raise Conflict(
                f"The name looks like {taken}: people would take one for the other.",
                reason="connector-name",
                connector=taken,
            )


def _no_such(name: str) -> NotFound:
    return NotFound("There is no such connector.", reason="connector", connector=name)
