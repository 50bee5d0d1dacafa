"""Standing grants over the fake and PostgreSQL: made narrow, counted once an action, revoked."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Barrier, Thread
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.platform import on_other, platform_of
from tests.support.remembering import NOON, Remembering, admin_of, in_memory

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.investigations.grants import MAX_GRANTS, Grants, StandingGrants
from cairn.kernel.access import Role
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict, Denied, NotFound, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.ledger.keys import KeyStore, SubjectForgotten
from cairn.safety.grants import MAX_DAYS, Grant, NewGrant
from cairn.safety.rules import ConnectorPolicy, Policy
from cairn.safety.tools import Lane, Manifest, ToolSpec

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

RESET = ToolSpec(connector="m365", name="reset_password", description="", lane=Lane.WRITE)


@dataclass
class Granting:
    """The use cases over one workspace, and a clock that stands until it is moved."""

    system: Remembering
    now: datetime = NOON
    manifest: Manifest = field(
        default=Manifest(connector="m365", version="1.0.0", hash="0" * 64, tools=(RESET,))
    )

    def __post_init__(self) -> None:
        platform = platform_of(
            self.system.transactions, keys=self.system.keys, clock=lambda: self.now
        )
        self.grants = Grants(platform=platform, policies=self.policy)
        self.in_force = StandingGrants(platform=platform)

    def policy(self, workspace_id: UUID) -> Policy:
        assert workspace_id == self.system.principal.workspace_id
        held = ConnectorPolicy(connector="m365", manifest=self.manifest)
        return Policy(connectors={"m365": held})

    def make(self, arguments: Mapping[str, Any] | None = None, **changes: Any) -> Grant:
        asked = NewGrant(
            tool="m365.reset_password",
            arguments=arguments if arguments is not None else {"user_id": "u_17"},
            expires_at=self.now + timedelta(days=7),
            max_uses=3,
            reason="The same every Monday.",
        )
        return self.grants.make(self.system.principal, replace(asked, **changes))

    def found(self) -> list[Grant]:
        workspace_id = self.system.principal.workspace_id
        return list(self.in_force(workspace_id, "m365.reset_password"))

    def use(self, grant: Grant, action_id: UUID) -> bool:
        with self.system.transactions.writing(self.system.principal) as stores:
            return stores.grants.use(grant.id, action_id, self.now)

    def entries(self) -> list[Any]:
        with self.system.transactions.reading(self.system.principal) as stores:
            page = stores.ledger.page(after=0, limit=500)
        return [item for item in page if item.type.startswith("grant.")]


class Counted:
    """A key store that counts how often it is asked."""

    def __init__(self, keys: KeyStore) -> None:
        self.keys, self.looks = keys, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.keys, name)

    def get(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bytes]:
        self.looks += 1
        return self.keys.get(workspace_id, subject_ids)


@pytest.fixture(params=["in memory", "postgres"])
def granting(request: pytest.FixtureRequest) -> Iterator[Granting]:
    if request.param == "in memory":
        yield Granting(in_memory())
        return
    yield from in_postgres(request.getfixturevalue("database"))


def in_postgres(database: "Database") -> Iterator[Granting]:
    name = f"grants-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=4)
    transactions = StoreTransactions(pool)
    yield Granting(Remembering(transactions=transactions, principal=admin_of(workspace_id)))
    pool.close()


def test_a_grant_is_found_as_it_was_made(granting: Granting) -> None:
    made = granting.make({"user_id": "*@example.org", "count": 1.5, "notify": True})
    (found,) = granting.found()
    assert found == made
    assert granting.grants.get(granting.system.principal, made.id) == made
    assert list(granting.grants.page(granting.system.principal)) == [made]


def test_grants_for_other_tools_are_not_found(granting: Granting) -> None:
    granting.make()
    assert not granting.in_force(granting.system.principal.workspace_id, "m365.other")


def test_a_use_is_counted_once_an_action_and_ends_at_the_maximum(granting: Granting) -> None:
    grant = granting.make(max_uses=2)
    first, second, third = new_id(), new_id(), new_id()
    assert granting.use(grant, first)
    assert granting.use(grant, first)
    assert granting.found()[0].uses == 1
    assert granting.use(grant, second)
    assert not granting.use(grant, third)
    assert granting.found() == []
    assert granting.use(grant, second), "a retried step finds its use counted"


def test_what_is_revoked_or_over_is_used_no_more(granting: Granting) -> None:
    revoked, over = granting.make(), granting.make(expires_at=granting.now + timedelta(minutes=1))
    granting.grants.revoke(granting.system.principal, revoked.id)
    granting.now += timedelta(minutes=1)
    assert granting.found() == []
    assert not granting.use(revoked, new_id())
    assert not granting.use(over, new_id())
    assert not granting.use(replace(over, id=new_id()), new_id())


def test_two_at_once_never_use_the_last_one_twice(granting: Granting) -> None:
    grant = granting.make(max_uses=1)
    together, used = Barrier(4), list[bool]()

    def take() -> None:
        together.wait()
        used.append(granting.use(grant, new_id()))

    threads = [Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(used) == [False, False, False, True]


def test_making_and_revoking_are_entries_without_the_tool_or_the_arguments(
    granting: Granting,
) -> None:
    grant = granting.make({"user_id": "ada@example.org"})
    granting.grants.revoke(granting.system.principal, grant.id)
    granting.grants.revoke(granting.system.principal, grant.id)
    entries = granting.entries()
    assert [entry.type for entry in entries] == ["grant.made", "grant.revoked"]
    assert all(entry.meta["grant_id"] == str(grant.id) for entry in entries)
    written = b"".join(entry.meta_text.encode() + entry.body for entry in entries)
    for secret in (b"ada@", b"reset_password", b"Monday"):  # "ada" alone is in many an id
        assert secret not in written


def test_a_grant_about_somebody_forgotten_covers_nothing(granting: Granting) -> None:
    subject = new_id()
    grant = granting.make({"user_id": "ada@example.org"}, data_subjects=(subject,))
    assert granting.found() == [grant]
    granting.system.keys.destroy(granting.system.principal.workspace_id, subject)
    assert granting.found() == []
    shown = granting.grants.get(granting.system.principal, grant.id)
    assert (shown.arguments, shown.reason) == ({}, "")
    with pytest.raises(SubjectForgotten):
        granting.make(data_subjects=(subject,))


def test_however_many_grants_are_read_their_keys_are_asked_for_once(granting: Granting) -> None:
    made = [granting.make(data_subjects=(new_id(),)) for _ in range(3)]
    gone = made[1].data_subjects[0]
    granting.system.keys.destroy(granting.system.principal.workspace_id, gone)
    keys = Counted(granting.system.keys)
    in_force = on_other(granting.in_force, keys=keys)
    found = in_force(granting.system.principal.workspace_id, "m365.reset_password")
    assert (found, keys.looks) == ([made[0], made[2]], 1)
    shown = on_other(granting.grants, keys=keys).page(granting.system.principal)
    assert ([item.reason for item in shown], keys.looks) == (
        [made[2].reason, "", made[0].reason],
        2,
    )


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"tool": "reset_password"}, "tool"),
        ({"tool": "m365."}, "tool"),
        ({"tool": "m365.*"}, "tool"),
        ({"tool": "**"}, "tool"),
        ({"max_uses": 0}, "max_uses"),
        ({"max_uses": 1_001}, "max_uses"),
        ({"expires_at": NOON}, "expires_at"),
        ({"expires_at": NOON + timedelta(days=MAX_DAYS, seconds=1)}, "expires_at"),
        ({"reason": " "}, "reason"),
        ({"arguments": {"user_id": "*"}, "max_uses": 11}, "max_uses"),
        ({"arguments": {"user_id": "**"}, "max_uses": 11}, "max_uses"),
        ({"arguments": {}, "max_uses": 11}, "max_uses"),
        ({"arguments": {"user_id": "x" * 9_000}}, "arguments"),
        ({"arguments": {"user_id": "nul\x00"}}, "arguments"),
    ],
)
def test_a_blanket_is_refused_with_the_field(
    granting: Granting, changes: dict[str, Any], field: str
) -> None:
    asked = {"arguments": {"user_id": "u_17"}, **changes}
    with pytest.raises(ValidationFailed) as refused:
        granting.make(**asked)
    assert refused.value.errors[0].location.startswith(field)
    assert granting.entries() == []


def test_open_arguments_may_be_used_ten_times_at_most(granting: Granting) -> None:
    asked = NewGrant(
        tool="m365.reset_password",
        arguments=None,
        expires_at=NOON + timedelta(days=1),
        max_uses=10,
        reason="An evening of maintenance.",
    )
    made = granting.grants.make(granting.system.principal, asked)
    assert granting.found() == [made]
    with pytest.raises(ValidationFailed, match="1 to 10"):
        granting.grants.make(granting.system.principal, replace(asked, max_uses=11))


def test_only_an_admin_grants_and_only_what_there_is(granting: Granting) -> None:
    agent = replace(granting.system.principal, role=Role.AGENT)
    grant = granting.make()
    for asked in (
        lambda: granting.grants.page(agent),
        lambda: granting.grants.get(agent, grant.id),
        lambda: granting.grants.revoke(agent, grant.id),
    ):
        with pytest.raises(Denied):
            asked()
    with pytest.raises(NotFound):
        granting.make(tool="m365.delete_user")
    with pytest.raises(NotFound):
        granting.make(tool="stripe.refund")
    with pytest.raises(NotFound):
        granting.grants.revoke(granting.system.principal, new_id())


def test_there_are_not_too_many_grants(granting: Granting, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_GRANTS == 200
    monkeypatch.setattr("cairn.investigations.grants.MAX_GRANTS", 2)
    kept = granting.make()
    granting.make()
    with pytest.raises(Conflict):
        granting.make()
    granting.grants.revoke(granting.system.principal, kept.id)
    granting.make()
    assert [item.max_uses for item in granting.grants.page(granting.system.principal)] == [3, 3, 3]
