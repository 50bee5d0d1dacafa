"""Keys in the database: who they let in, for how long, how often, and what the ledger says."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.support.platform import platform_of
from tests.support.world import World, open_world

from cairn.accounts.keys import CreateKey, ListKeys, RevokeKey
from cairn.adapters.postgres.accounts import (
    Admit,
    RedeemClaim,
    as_owner,
    create_workspace,
    list_workspaces,
)
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.access import Role, Scope
from cairn.kernel.access.allowances import Allowances, Load
from cairn.kernel.access.keys import make_key, secret_hash
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict, Denied, NotFound, Unauthenticated, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.reading.views import NewKey

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

AGENT = NewKey(name="helper", role=Role.AGENT)


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"accounts-{new_id()}")
    yield world
    world.pool.close()


def create(world: World) -> CreateKey:
    return CreateKey(platform=platform_of(StoreTransactions(world.pool)))


def revoke(world: World) -> RevokeKey:
    return RevokeKey(platform=platform_of(StoreTransactions(world.pool)))


def test_a_key_lets_its_holder_in_with_what_it_may_see(world: World) -> None:
    made = create(world)(world.admin, replace(AGENT, agent_slug="bot"))
    who = Admit(world.pool, utc_now)(made.secret).principal
    assert (who.workspace_id, who.role, who.agent_slug) == (world.workspace_id, Role.AGENT, "bot")
    assert who.allowed_scopes == {Scope.ADMIN, Scope.PUBLIC}
    assert who.key_id == made.key.id
    assert made.secret not in repr(made)


def test_every_key_that_opens_nothing_gets_the_same_answer(world: World) -> None:
    revoked = create(world)(world.admin, AGENT)
    revoke(world)(world.admin, revoked.key.id)
    unknown = make_key(lambda size: b"\x01" * size).text
    prefix, _, _ = world.key.partition(".")
    wrong = [world.key[:-1], "", "cairn_", unknown, revoked.secret, prefix + unknown[22:], "é" * 66]
    admit = Admit(world.pool, utc_now)
    answers = set()
    for key in wrong:
        with pytest.raises(Unauthenticated) as refused:
            admit(key)
        answers.add((refused.value.detail, refused.value.reason))
    assert len(answers) == 1


def test_an_expired_key_opens_nothing(world: World) -> None:
    soon = utc_now() + timedelta(minutes=1)
    made = create(world)(world.admin, replace(AGENT, expires_at=soon))
    assert Admit(world.pool, utc_now)(made.secret).principal.key_id == made.key.id
    with pytest.raises(Unauthenticated):
        Admit(world.pool, lambda: soon)(made.secret)


def test_keys_are_listed_newest_first_and_revoking_twice_changes_nothing(world: World) -> None:
    made = create(world)(world.admin, AGENT)
    first = revoke(world)(world.admin, made.key.id)
    assert revoke(world)(world.admin, made.key.id).revoked_at == first.revoked_at
    listed = ListKeys(platform=platform_of(StoreTransactions(world.pool)))(world.admin)
    assert [item.name for item in listed] == ["helper", "admin"]
    assert listed[0].revoked_at is not None


def test_the_last_admin_key_stays(world: World) -> None:
    assert world.admin.key_id is not None
    with pytest.raises(Conflict) as refused:
        revoke(world)(world.admin, world.admin.key_id)
    assert refused.value.reason == "last-admin-key"
    create(world)(world.admin, NewKey(name="second", role=Role.ADMIN))
    assert revoke(world)(world.admin, world.admin.key_id).revoked_at is not None


def test_another_workspaces_key_is_not_found(world: World, database: "Database") -> None:
    other = open_world(database.owner_url, database.app_url, f"other-{new_id()}")
    assert other.admin.key_id is not None
    with pytest.raises(NotFound):
        revoke(world)(world.admin, other.admin.key_id)
    other.pool.close()


def test_nobody_makes_a_key_that_sees_more_than_they_do(world: World) -> None:
    with pytest.raises(Denied):
        create(world)(world.as_other(), AGENT)
    narrow = world.as_other(role=Role.ADMIN, allowed_scopes=frozenset({Scope.PUBLIC}))
    with pytest.raises(Denied):
        create(world)(narrow, replace(AGENT, scopes=frozenset({Scope.ADMIN})))
    with pytest.raises(ValidationFailed):
        create(world)(world.admin, NewKey(name="site", role=Role.PUBLIC))
    with pytest.raises(ValidationFailed):
        create(world)(world.admin, replace(AGENT, expires_at=utc_now() - timedelta(1)))


def test_the_ledger_tells_of_keys_without_names_or_secrets(world: World) -> None:
    made = create(world)(world.admin, AGENT)
    revoke(world)(world.admin, made.key.id)
    with StoreTransactions(world.pool).reading(world.admin) as stores:
        entries = stores.ledger.page(after=0, limit=10)
    assert [entry.type for entry in entries] == [
        "workspace.created",
        "key.created",
        "key.created",
        "key.revoked",
    ]
    told = "".join(entry.meta_text for entry in entries)
    assert "helper" not in told
    assert made.key.prefix not in told


def test_a_bucket_empties_and_refills(world: World) -> None:
    now = utc_now()
    at = [now]
    made = create(world)(world.admin, NewKey(name="bucket", role=Role.AGENT))
    admit = Admit(world.pool, lambda: at[0], per_minute=3)
    decisions = [admit(made.secret).rate for _ in range(5)]
    assert [decision.allowed for decision in decisions] == [True, True, True, False, False]
    assert [decision.remaining for decision in decisions] == [2, 1, 0, 0, 0]
    assert decisions[3].retry_after == pytest.approx(20.0)
    at[0] = now + timedelta(seconds=21)
    assert [admit(made.secret).rate.allowed for _ in range(2)] == [True, False]


def refusals(admit: Admit, *asked: tuple[str, Load]) -> list[str | None]:
    """Which kind each request was refused for."""
    found = [admit(key, load).refusal for key, load in asked]
    return [item.kind if item else None for item in found]


def test_a_workspaces_keys_share_what_it_may_ask_and_another_one_has_its_own(
    world: World, database: "Database"
) -> None:
    at = [utc_now()]
    other = open_world(database.owner_url, database.app_url, f"other-{new_id()}")
    mine, second = world.key, create(world)(world.admin, AGENT).secret
    few = Allowances(queries=60, items=600, bytes=6_000)
    # processes of their own: they share nothing but the database
    here, there = (Admit(pool, lambda: at[0], allowances=few) for pool in (world.pool, other.pool))
    batch, search = Load(items=500, bytes=2_000), Load(queries=1, bytes=20)

    assert refusals(here, (mine, batch), (second, batch)) == [None, None]  # overdrawn, once
    assert refusals(there, (mine, batch), (second, batch), (mine, search)) == ["items"] * 2 + [None]
    refused = here(mine, batch).refusal
    assert refused is not None
    assert (refused.limit, refused.retry_after) == (600, pytest.approx(40.1, abs=0.01))
    assert refusals(here, (other.key, batch)) == [None]

    at[0] += timedelta(seconds=41)
    assert refusals(there, (mine, batch), (mine, batch)) == [None, "items"]
    assert refusals(here, (mine, Load(queries=1, bytes=9_000)), (mine, search)) == [None, "bytes"]
    assert refusals(here, *[(other.key, Load(queries=1))] * 61)[-2:] == [None, "queries"]
    other.pool.close()


def test_a_request_above_its_keys_rate_takes_nothing_from_its_workspace(world: World) -> None:
    now = utc_now()
    limited = create(world)(world.admin, AGENT).secret
    admit = Admit(world.pool, lambda: now, per_minute=1, allowances=Allowances(items=2))
    asked = [admit(limited, Load(items=1)) for _ in range(3)]
    assert [item.rate.allowed for item in asked] == [True, False, False]
    assert admit(create(world)(world.admin, AGENT).secret, Load(items=1)).refusal is None


def test_many_requests_of_a_workspace_at_once_are_each_counted_once(world: World) -> None:
    now = utc_now()
    keys = [create(world)(world.admin, AGENT).secret for _ in range(4)]
    admit = Admit(world.pool, lambda: now, allowances=Allowances(items=1_000))
    with ThreadPoolExecutor(4) as threads:
        asked = list(threads.map(lambda key: admit(key, Load(items=10, bytes=1)), keys * 25))
    assert {item.refusal for item in asked} == {None}
    assert admit(keys[0], Load(items=1)).refusal is not None


def test_a_workspace_is_made_once_by_name_and_each_time_with_a_key(
    world: World, database: "Database"
) -> None:
    name = f"twice-{new_id()}"
    made = [
        create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id) for _ in range(2)
    ]
    admit = Admit(world.pool, utc_now)
    assert made[0][0] == made[1][0]
    assert {admit(key).principal.workspace_id for _, key in made} == {made[0][0]}
    assert made[0][1] != made[1][1]
    listed = {item["id"]: item for item in list_workspaces(database.owner_url)}
    assert (listed[made[0][0]]["name"], listed[made[0][0]]["entries"]) == (name, 3)


def test_a_claim_is_worth_one_admin_key_for_a_quarter_of_an_hour(
    world: World, database: "Database"
) -> None:
    token, now = f"token-{new_id()}", utc_now()
    given = [new_id(), secret_hash(token), now, now + timedelta(minutes=15)]
    with as_owner(database.owner_url) as owner:
        owner.execute("INSERT INTO claim VALUES (%s, %s, %s, %s)", given)
    late = RedeemClaim(world.pool, lambda: now + timedelta(minutes=15), new_id)
    redeem = RedeemClaim(world.pool, utc_now, new_id)
    for call, wrong in ((late, token), (redeem, "another")):
        with pytest.raises(Unauthenticated):
            call(token=wrong, workspace_name="main")
    made = redeem(token=token, workspace_name="main")
    assert Admit(world.pool, utc_now)(made.secret).principal.role is Role.ADMIN
    with pytest.raises(Conflict):
        redeem(token=token, workspace_name="again")
