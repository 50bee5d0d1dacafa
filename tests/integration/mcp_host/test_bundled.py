"""The connectors that come with Cairn, registered as users do and run as the host runs them."""

import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from tests.support.connecting import Customer, customer_database
from tests.support.hosting import Hosting
from tests.support.platform import platform_of

from cairn.bootstrap.connectors import ConnectorWires, connector_registry
from cairn.connectors.connector import Transport
from cairn.connectors.port import ConnectorState
from cairn.connectors.registry import Connectors, ConnectorShown
from cairn.connectors.requests import ConnectorChange, NewConnector
from cairn.kernel.errors import Conflict, ValidationFailed
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.plugins.postgres import Database, Server


@dataclass(frozen=True)
class Settings:
    stage: Literal["local", "prod"] = "prod"
    webhooks: Literal["off", "public", "private"] = "public"
    connector_commands: Path | None = None


@dataclass
class Office:
    """A workspace whose connectors are the bundled ones, and a customer's database."""

    customer: Customer
    hosting: Hosting
    registry: Connectors = field(init=False)

    def __post_init__(self) -> None:
        hosting = self.hosting
        self.registry = connector_registry(
            Settings(),
            hosting.host,
            platform_of(hosting.transactions, keys=hosting.secrets.keys),
            mended=hosting.put_back,
        )

    def register(self, name: str, dsn: str | None = None, **changes: Any) -> ConnectorShown:
        fields = {"name": name, "builtin": name, "secrets": {"dsn": dsn or self.customer.dsn}}
        return self.registry.register(self.hosting.principal, NewConnector(**fields | changes))


@pytest.fixture(scope="module")
def customer(postgres_cluster: "Server") -> Iterator[Customer]:
    with customer_database(postgres_cluster) as made:
        yield made


@pytest.fixture
def office(customer: Customer) -> Iterator[Office]:
    office = Office(customer, Hosting(wires=ConnectorWires(Settings())))
    yield office
    office.hosting.host.close()


@pytest.mark.parametrize("transport", [Transport.STDIO, Transport.IN_PROCESS])
def test_accounts_finds_and_unlocks_a_user_once_a_key(office: Office, transport: Transport) -> None:
    shown = office.register("accounts", transport=transport)
    assert shown.health.state is ConnectorState.READY, shown.health
    assert shown.manifest is not None and shown.manifest.safe
    found = office.hosting.call("accounts.find_user", user_id="u-1001")
    assert json.loads(found.text)["users"][0]["user_id"] == "u-1001"

    unlock = shown.manifest.tool("unlock_user")
    assert unlock is not None and unlock.deduplicates and unlock.supports_dry_run
    asked: dict[str, Any] = {"user_id": "u-1001", "reason": "She asked for it."}
    dry = office.hosting.call("accounts.unlock_user", dry_run=True, **asked)
    assert not dry.is_error and not dry.simulated, dry.text
    key = new_id()
    done = [office.hosting.call("accounts.unlock_user", key=key, **asked) for _ in range(2)]
    assert not done[0].is_error and not done[1].is_error, done
    changes = "SELECT count(*) FROM accounts.users WHERE id = 'u-1001' AND status = 'active'"
    assert office.customer.one(changes) == 1


def test_postgres_reads_as_a_process_and_survives_its_death(office: Office) -> None:
    shown = office.register("postgres", config={"schemas": ["accounts"]})
    assert shown.health.state is ConnectorState.READY, shown.health
    ask = {"sql": "SELECT count(*) AS n FROM users"}

    first = office.hosting.call("postgres.query", **ask)
    assert not first.is_error, first.text
    office.hosting.later(61)
    for slot in office.hosting.host._keeper._slots.values():  # pyright: ignore
        os.kill(slot.connection.session._wire.pid, signal.SIGKILL)  # type: ignore
    second = office.hosting.call("postgres.query", **ask)

    assert second.text == first.text
    assert not second.cached


def test_a_process_of_ours_is_up_within_its_time(office: Office) -> None:
    office.register("accounts")
    begun = time.monotonic()
    office.hosting.host.restart(office.hosting.workspace_id, "accounts")

    assert time.monotonic() - begun < office.hosting.host.handshake_seconds / 2


def test_wrong_settings_are_said_without_the_secret(office: Office) -> None:
    shown = office.register("postgres", config={"schemas": ["pg_catalog"]})

    assert shown.health.error == "connector-not-started"
    assert "schemas" in (shown.health.detail or "")
    assert office.customer.dsn not in (shown.health.detail or "")


def test_a_password_that_is_wrong_or_a_database_that_is_away_is_refused(office: Office) -> None:
    good = office.customer.dsn
    for dsn in (good.replace("@", "x@", 1), "postgresql://a:b@127.0.0.1:9/c", "no dsn"):
        with pytest.raises(ValidationFailed) as refused:
            office.register("postgres", dsn)
        assert refused.value.errors[0].location == "secrets.dsn"
        assert dsn not in str(refused.value)


def test_cairns_own_database_and_roles_are_refused(
    office: Office, database: "Database", postgres_cluster: "Server"
) -> None:
    cluster, password = postgres_cluster.cluster, postgres_cluster.app_password
    member = office.customer.make_role("sneaky_member", "GRANT cairn_app TO sneaky_member")
    inside = cluster.url("accounts_connector", password, database.name)
    for dsn in (database.app_url, database.owner_url, member, inside):
        with pytest.raises(ValidationFailed) as refused:
            office.register("postgres", dsn)
        assert refused.value.reason == "connector-database"
    assert office.registry.all(office.hosting.principal) == []
    office.register("postgres")
    with pytest.raises(ValidationFailed):
        office.registry.change(
            office.hosting.principal, "postgres", ConnectorChange(secrets={"dsn": member})
        )


def test_commands_do_not_run_where_it_matters(office: Office) -> None:
    with pytest.raises(ValidationFailed) as refused:
        office.registry.register(
            office.hosting.principal, NewConnector(name="shell", command=("sh", "-c", "id"))
        )
    assert refused.value.errors[0].location == "command"

    office.hosting.register("shell", transport=Transport.STDIO, builtin=None, command=("id",))
    health = office.hosting.host.check(office.hosting.workspace_id, "shell")
    assert health.error == "connector-not-started"
    assert "bundled" in (health.detail or "")


def test_nothing_leaves_where_webhooks_are_off(customer: Customer) -> None:
    hosting = Hosting(wires=ConnectorWires(Settings(webhooks="off")))
    registry = connector_registry(
        Settings(webhooks="off"),
        hosting.host,
        platform_of(hosting.transactions, keys=hosting.secrets.keys),
        mended=hosting.put_back,
    )
    far = NewConnector(name="far", transport=Transport.HTTP, url="https://mcp.example.org/mcp")

    with pytest.raises(Conflict):
        registry.register(hosting.principal, far)
    hosting.register("far", transport=Transport.HTTP, builtin=None, url=far.url)
    assert hosting.host.check(hosting.workspace_id, "far").error == "connector-not-started"
    hosting.host.close()
