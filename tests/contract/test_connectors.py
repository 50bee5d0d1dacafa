"""Connectors in their stores, and the host over them: the same over the fake and PostgreSQL."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.hosting import Hosting, said, tool
from tests.support.remembering import NOON, admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.agents.connectors import ConnectorsToCheck, StateTransactions
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.connectors.connector import Connector, Listing, Transport
from cairn.connectors.directory import ConnectorPolicies
from cairn.connectors.lifecycle import Health
from cairn.connectors.manifest import read_manifest
from cairn.connectors.port import ConnectorState, ConnectorUnavailable
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.safety.tools import Autonomy, Criticality

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture(params=["in memory", "postgres"])
def hosting(request: pytest.FixtureRequest) -> Iterator[Hosting]:
    if request.param == "in memory":
        hosting = Hosting()
        yield hosting
        hosting.host.close()
    else:
        yield from in_postgres(request.getfixturevalue("database"))


def in_postgres(database: "Database") -> Iterator[Hosting]:
    name = f"connectors-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=1)
    hosting = Hosting(
        workspace_id=workspace_id,
        transactions=StoreTransactions(pool),
        states=StateTransactions(pool),
    )
    yield hosting
    hosting.host.close()
    pool.close()


def connector(name: str = "accounts", **changes: Any) -> Connector:
    fields: dict[str, Any] = {
        "transport": Transport.STDIO,
        "builtin": "accounts",
        "config": {"schemas": ["shop"], "row_cap": 10},
        "secret_names": ("dsn",),
        "scopes": "read: {allow: ['*']}",
        "autonomy": Autonomy.PROPOSE,
        "criticality": Criticality.HALT,
    }
    return Connector(
        id=new_id(), name=name, created_at=NOON, changed_at=NOON, **{**fields, **changes}
    )


LISTING = Listing(
    version="1.0.0",
    hash="ab" * 32,
    tools=[{"name": "find", "inputSchema": {"type": "object", "maximum": 1e30, "x": 1.0}}],
)


def test_what_is_kept_comes_back(hosting: Hosting) -> None:
    kept = connector()
    with hosting.transactions.writing(hosting.principal) as stores:
        assert stores.connectors.add(kept, b"sealed")
    with hosting.transactions.reading(hosting.principal) as stores:
        found = stores.connectors.find("accounts")
        assert found is not None
        assert (found.connector, found.health, found.listing) == (kept, Health(), None)
        assert stores.connectors.secrets("accounts") == b"sealed"
        assert stores.connectors.find("nothing") is None
        assert stores.connectors.secrets("nothing") is None


def test_a_name_is_taken_once(hosting: Hosting) -> None:
    with hosting.transactions.writing(hosting.principal) as stores:
        assert stores.connectors.add(connector(), b"")
        assert not stores.connectors.add(connector(), b"")


def test_connectors_are_listed_by_name(hosting: Hosting) -> None:
    with hosting.transactions.writing(hosting.principal) as stores:
        for name in ("zoho", "accounts", "http"):
            stores.connectors.add(connector(name), b"")
        assert [item.connector.name for item in stores.connectors.all()] == [
            "accounts",
            "http",
            "zoho",
        ]


def test_a_change_keeps_the_secrets_unless_there_are_others(hosting: Hosting) -> None:
    kept = connector()
    other = replace(
        kept,
        builtin=None,
        transport=Transport.HTTP,
        url="https://mcp.example.org",
        autonomy=Autonomy.ACT,
        revision=2,
        changed_at=NOON + timedelta(hours=1),
    )
    with hosting.transactions.writing(hosting.principal) as stores:
        stores.connectors.add(kept, b"sealed")
        stores.connectors.change(other, None)
        assert stores.connectors.secrets("accounts") == b"sealed"
        stores.connectors.change(other, b"others")
        found = stores.connectors.find("accounts")
        assert found is not None and found.connector == other
        assert stores.connectors.secrets("accounts") == b"others"


def test_how_one_is_and_what_it_lists_are_kept_apart(hosting: Hosting) -> None:
    kept = connector()
    health = Health(
        state=ConnectorState.RESTARTING,
        failures=(NOON, NOON + timedelta(seconds=3)),
        error="connector-crashed",
        detail="it fell over",
        checked_at=NOON + timedelta(seconds=3),
    )
    with hosting.transactions.writing(hosting.principal) as stores:
        stores.connectors.add(kept, b"")
        stores.connectors.keep_listing(kept.id, LISTING)
        stores.connectors.keep_health(kept.id, health)
        found = stores.connectors.find("accounts")
        assert found is not None
        assert (found.health, found.listing) == (health, LISTING)
        assert stores.connectors.hold_health(kept.id) == health
        assert stores.connectors.hold_health(new_id()) is None
        stores.connectors.keep_listing(kept.id, None)
        found = stores.connectors.find("accounts")
        assert found is not None and (found.health, found.listing) == (health, None)
        stores.connectors.keep_health(new_id(), health)  # of one that was removed


def test_one_leaves_with_its_state_and_its_name_is_free(hosting: Hosting) -> None:
    with hosting.transactions.writing(hosting.principal) as stores:
        stores.connectors.add(connector(), b"")
        assert stores.connectors.remove("accounts")
        assert not stores.connectors.remove("accounts")
        assert stores.connectors.find("accounts") is None
        assert stores.connectors.add(connector(), b"")


def test_a_listing_that_went_through_the_store_has_the_hash_it_had(hosting: Hosting) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "number", "maximum": 1e30, "multipleOf": 0.1}},
        "description": "\x00 a\u2028b é",
    }
    hosting.add("odd", tool("find", schema=schema))

    hosting.call("odd.find", n=1)

    found = hosting.found("odd")
    assert found.listing is not None
    again = read_manifest("odd", found.listing.version, found.listing.tools)
    assert again.hash == found.listing.hash
    assert hosting.call("odd.find", n=2).manifest_hash == again.hash


def test_the_host_runs_over_the_store(hosting: Hosting) -> None:
    desk = hosting.add("desk", tool("find"), secrets={"dsn": "postgresql://a/b"})
    desk.answers["find"] = said("Ada")

    assert hosting.call("desk.find", user="ada").text == "Ada"
    [view] = hosting.host.connectors(hosting.workspace_id)
    assert (view.name, view.state) == ("desk", ConnectorState.READY)
    assert view.manifest is not None and view.manifest.safe
    assert hosting.entries()[-1].type == "connector.manifest_seen"


def test_the_check_before_a_call_is_kept_whether_it_passes_or_fails(hosting: Hosting) -> None:
    desk = hosting.add("desk", tool("find"), tool("healthcheck", schema={"type": "object"}))
    hosting.call("desk.find", user="ada")
    hosting.later(31)
    hosting.call("desk.find", user="bob")
    passed = hosting.health("desk")
    hosting.later(31)
    desk.answers["healthcheck"] = said("the disk is full", failed=True)
    with pytest.raises(ConnectorUnavailable):
        hosting.call("desk.find", user="eve")
    failed = hosting.health("desk")

    assert (passed.is_well, passed.checked_at) == (True, NOON + timedelta(seconds=31))
    assert (failed.state, len(failed.failures)) == (ConnectorState.RESTARTING, 2)
    assert "the disk is full" in (failed.detail or "")
    assert [name for name, *_ in desk.calls].count("find") == 2


def test_policies_say_what_the_table_says(hosting: Hosting) -> None:
    hosting.add("desk", tool("find"), scopes="read: {allow: ['*']}", autonomy=Autonomy.ACT)
    policies = ConnectorPolicies(transactions=hosting.transactions)

    before = policies(hosting.workspace_id).connectors["desk"]
    hosting.call("desk.find", user="ada")
    policy = policies(hosting.workspace_id)

    assert before.manifest is None
    assert policy.connectors["desk"].autonomy is Autonomy.ACT
    assert policy.connectors["desk"].manifest is not None
    assert policy.autonomy("desk", Autonomy.PROPOSE) is Autonomy.PROPOSE
    assert policy.autonomy("nothing", Autonomy.ACT) is Autonomy.OFF


def test_what_nobody_looked_at_is_found_in_every_workspace(database: "Database") -> None:
    pool = Pool(database.app_url, size=1)
    transactions = StoreTransactions(pool)
    to_check = ConnectorsToCheck(pool)
    workspaces = []
    for number in range(2):
        workspace_id, _ = create_workspace(
            database.owner_url, f"w{number}-{new_id()}", clock=utc_now, new_id=new_id
        )
        workspaces.append(workspace_id)
        with transactions.writing(admin_of(workspace_id)) as stores:
            for name, autonomy in (("fresh", "act"), ("old", "act"), ("off", "off")):
                kept = connector(name, autonomy=Autonomy(autonomy))
                stores.connectors.add(kept, b"")
                seen = NOON + timedelta(minutes=10) if name == "fresh" else NOON
                stores.connectors.keep_health(kept.id, Health(checked_at=seen))

    found = [item for item in to_check(NOON + timedelta(minutes=5), 100) if item[0] in workspaces]

    assert sorted(found) == sorted((workspace, "old") for workspace in workspaces)
    pool.close()
