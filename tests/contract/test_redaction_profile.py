"""A workspace's redaction profile over the fake and PostgreSQL: chosen by admins, on record."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Remembering, admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.adapters.postgres.workspaces import PostgresProfiles
from cairn.kernel.access import Role
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Denied, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.workspace.change import RedactionProfile

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture
def system(database: "Database") -> Iterator[Remembering]:
    pool = Pool(database.app_url, size=2)
    transactions = StoreTransactions(pool)
    yield Remembering(transactions=transactions, principal=admin_of(opened(database)))
    pool.close()


def opened(database: "Database") -> Any:
    name = f"profiles-{new_id()}"
    return create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)[0]


def profile_of(system: Remembering) -> RedactionProfile:
    return RedactionProfile(platform_of(system.transactions, clock=lambda: NOON))


def changes(system: Remembering) -> list[dict[str, Any]]:
    with system.transactions.reading(system.principal) as stores:
        page = stores.ledger.page(after=0, limit=99)
    return [dict(item.meta) for item in page if item.type == "redaction.changed"]


def test_a_workspace_begins_with_pii_and_has_what_was_chosen_since(system: Remembering) -> None:
    profile = profile_of(system)
    assert profile.show(system.principal) == "pii"
    for name in ("hipaa", "none", "soc2"):
        assert profile.choose(system.principal, name) == name
        assert profile.show(system.principal) == name


def test_each_change_is_an_entry_and_the_same_again_is_none(system: Remembering) -> None:
    profile = profile_of(system)
    for name in ("pii", "hipaa", "hipaa", "none"):
        profile.choose(system.principal, name)
    assert changes(system) == [
        {"before": "pii", "profile": "hipaa"},
        {"before": "hipaa", "profile": "none"},
    ]


def test_a_profile_that_there_is_not_is_refused_and_nothing_changes(system: Remembering) -> None:
    profile = profile_of(system)
    with pytest.raises(ValidationFailed) as refused:
        profile.choose(system.principal, "hippa")
    assert [error.location for error in refused.value.errors] == ["profile"]
    assert (profile.show(system.principal), changes(system)) == ("pii", [])


def test_only_admins_show_and_choose(system: Remembering) -> None:
    profile, agent = profile_of(system), replace(system.principal, role=Role.AGENT)
    with pytest.raises(Denied):
        profile.show(agent)
    with pytest.raises(Denied):
        profile.choose(agent, "none")
    assert profile.show(system.principal) == "pii"


def test_other_settings_and_other_workspaces_stay_as_they_are(database: "Database") -> None:
    ours, theirs = opened(database), opened(database)
    given = '{"safety": {"redaction": 7}, "recall": {"rrf_k": 9, "recipe": "gone"}}'
    with database.connect_as_superuser() as root:
        root.execute("UPDATE workspace SET settings = %s WHERE id = %s", [given, ours])
    pool = Pool(database.app_url, size=2)
    transactions = StoreTransactions(pool)
    us = Remembering(transactions=transactions, principal=admin_of(ours))
    assert profile_of(us).show(us.principal) == "hipaa"
    assert profile_of(us).choose(us.principal, "soc2") == "soc2"
    assert (PostgresProfiles(pool)(ours), PostgresProfiles(pool)(theirs)) == ("soc2", "pii")
    with us.transactions.reading(us.principal) as stores:
        stored = stores.settings.stored()
    pool.close()
    assert (stored.version, stored.document) == (
        1,
        {"safety": {"redaction": "soc2"}, "recall": {"rrf_k": 9}},
    )
