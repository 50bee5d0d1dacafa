"""What ages, when, and what comes back: what holds for the fake and for PostgreSQL alike."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Remembering, admin_of, fact

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.ageing.cleanup import Cleanup, SweepEntities
from cairn.ageing.rules import ageing_meta
from cairn.graph.edge import Edge, View
from cairn.graph.node import Node, State
from cairn.graph.projection import Projection
from cairn.kernel.ids import new_id
from cairn.ledger.entry import NewEntry
from cairn.memories.delete import DeleteMemory
from cairn.memories.kinds import MemoryKind
from cairn.writing.append import SYSTEM, append
from cairn.writing.entries import Planned
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

DAY = timedelta(days=1)


@pytest.fixture
def system(database: "Database") -> Iterator[Remembering]:
    name = f"ageing-{new_id()}"
    workspace_id, _ = create_workspace(
        database.owner_url, name, clock=lambda: NOON - DAY, new_id=new_id
    )
    pool = Pool(database.app_url, size=2)
    transactions = StoreTransactions(pool)
    yield Remembering(transactions=transactions, principal=admin_of(workspace_id))
    pool.close()


def told(system: Remembering, text: str, **changes: object) -> UUID:
    found = system.tell_one(fact(text, **changes)).id
    assert found
    return found


def event(system: Remembering, text: str, importance: int = 5) -> UUID:
    return told(system, text, type=MemoryKind.EVENT, importance=importance)


def use(system: Remembering, at: datetime, *nodes: UUID) -> None:
    """What counting searches appends."""
    entry = NewEntry(
        id=new_id(),
        workspace_id=system.principal.workspace_id,
        type="memory.accessed",
        actor=SYSTEM,
        occurred_at=at,
        meta={"counts": {str(node): 1 for node in nodes}},
    )
    with system.transactions.writing(system.principal) as stores:
        append(stores, [Planned(entry=entry, body={})], at, new_id)


def clean(system: Remembering, now: datetime, *, seconds: float = 60) -> dict[str, int | bool]:
    cleanup = Cleanup(platform_of(system.transactions, clock=lambda: now))
    return cleanup(system.principal.workspace_id, seconds=seconds)


def sweep(system: Remembering) -> int:
    use_case = SweepEntities(platform_of(system.transactions))
    return use_case(system.principal.workspace_id, seconds=60)["entities"]


def states(system: Remembering, *nodes: UUID) -> list[str | None]:
    with system.transactions.writing(system.principal) as stores:
        found = stores.graph_nodes.find(nodes)
    return [str(found[node].state) if node in found else None for node in nodes]


def head(system: Remembering) -> int:
    with system.transactions.reading(system.principal) as stores:
        return stores.ledger.head().position


def archived(system: Remembering, *used: UUID) -> Sequence[UUID]:
    with system.transactions.reading(system.principal) as stores:
        return stores.ageing.archived(list(used))


def test_only_events_nobody_used_or_called_important_expire_after_thirty_days(
    system: Remembering,
) -> None:
    low, medium, high = (event(system, f"event {n}", n) for n in (2, 6, 7))
    used, decision = event(system, "used"), told(system, "chosen", type=MemoryKind.DECISION)
    use(system, NOON + DAY, used)

    assert clean(system, NOON + 29 * DAY)["expired"] == 0
    assert clean(system, NOON + 31 * DAY) == {
        "expired": 2, "archived": 0, "purged": 0, "entities": 0, "more": False,
    }  # fmt: skip

    assert states(system, low, medium) == ["expired", "expired"]
    assert states(system, high, used, decision) == ["active", "active", "active"]


def test_a_clock_that_jumps_back_or_a_second_run_expires_nothing_twice(
    system: Remembering,
) -> None:
    event(system, "once")
    clean(system, NOON + 40 * DAY)
    after = head(system)
    for days in (40, 31, -400, 41):
        assert clean(system, NOON + days * DAY)["expired"] == 0
    assert head(system) == after


def test_a_fact_is_archived_after_ninety_unused_days_and_a_verified_one_after_180(
    system: Remembering,
) -> None:
    idle, used, status = (
        told(system, "idle"),
        told(system, "used"),
        told(system, "status", type=MemoryKind.STATUS),
    )
    verified = told(system, "verified", metadata={"verified": True})
    use(system, NOON + 60 * DAY, used)

    assert clean(system, NOON + 89 * DAY)["archived"] == 0
    assert clean(system, NOON + 91 * DAY)["archived"] == 1
    assert states(system, idle, used, status, verified) == [
        "archived", "active", "active", "active",
    ]  # fmt: skip
    clean(system, NOON + 181 * DAY)
    assert states(system, used, status, verified) == ["archived", "active", "archived"]


def test_what_was_archived_and_is_used_may_come_back(system: Remembering) -> None:
    idle, other = told(system, "idle"), told(system, "other")
    clean(system, NOON + 91 * DAY)
    assert archived(system, idle) == [idle]
    with open_write(platform_of(system.transactions), system.principal) as write:
        write.note("node.restored", ageing_meta("used", [idle]))
    assert states(system, idle, other) == ["active", "archived"]
    assert archived(system, idle) == []


def test_what_was_said_again_meanwhile_does_not_come_back_beside_its_twin(
    system: Remembering,
) -> None:
    idle, keyed = told(system, "idle"), told(system, "keyed", key="k")
    clean(system, NOON + 91 * DAY)
    again = told(system, "idle")
    assert again != idle
    assert archived(system, idle, keyed) == [keyed]
    told(system, "another value", key="k", valid_from=NOON + 92 * DAY)
    assert archived(system, idle, keyed) == []
    assert states(system, keyed) == ["superseded"]


def test_the_deleted_leaves_every_projection_after_seven_days(system: Remembering) -> None:
    gone, stays = told(system, "gone"), told(system, "stays")
    delete = DeleteMemory(
        platform_of(system.transactions, dispatcher=system.sent, clock=lambda: NOON + DAY)
    )
    delete(system.principal, gone)
    assert clean(system, NOON + 7 * DAY)["purged"] == 0
    assert states(system, gone) == ["deleted"]
    assert clean(system, NOON + 9 * DAY)["purged"] == 1
    assert states(system, gone, stays) == [None, "active"]
    assert clean(system, NOON + 10 * DAY)["purged"] == 0


def test_more_than_a_page_ages_in_several_entries(system: Remembering) -> None:
    for start in range(0, 450, 150):
        system.tell(*(fact(f"event {start + n}", type=MemoryKind.EVENT) for n in range(150)))
    before = head(system)
    assert clean(system, NOON + 31 * DAY)["expired"] == 450
    assert head(system) == before + 3


def test_without_time_nothing_is_done_and_more_is_said(system: Remembering) -> None:
    one = event(system, "waits")
    assert clean(system, NOON + 31 * DAY, seconds=0)["more"] is True
    assert states(system, one) == ["active"]


def entity(system: Remembering, name: str, node_id: UUID | None = None) -> UUID:
    """An entity made by some entry, not by hand."""
    node_id, now = node_id or new_id(), NOON
    platform = platform_of(system.transactions, clock=lambda: now)
    with open_write(platform, system.principal) as write:
        stores = write.stores
        write.note("node.restored", ageing_meta("", []))
        [made] = write.append()
        node = Node(
            workspace_id=system.principal.workspace_id,
            id=node_id,
            label="Entity",
            kind="technology",
            canonical_name=name,
            text=name,
            content_hash=name,
            data_subjects=(),
            state=State.ACTIVE,
            occurred_at=NOON,
            valid_from=NOON,
            recorded_at=NOON,
            entry_id=made.id,
            position=made.position,
        )
        stores.nodes.apply([Projection(nodes=(node,))])
    return node_id


def join(system: Remembering, view: View, relation: str, source: UUID, target: UUID) -> None:
    with system.transactions.writing(system.principal) as stores:
        edge = Edge(
            workspace_id=system.principal.workspace_id,
            id=new_id(),
            view=view,
            relation=relation,
            source_id=source,
            target_id=target,
            valid_from=NOON,
            recorded_at=NOON,
            position=stores.ledger.head().position,
        )
        stores.nodes.apply([Projection(edges=(edge,))])


def test_entities_that_only_each_other_know_are_swept(system: Remembering) -> None:
    memory = told(system, "about Redis")
    known, stated = entity(system, "Redis"), entity(system, "Postgres")
    lone, friend = entity(system, "Kafka"), entity(system, "Spark")
    join(system, View.ENTITY, "REFERENCES", memory, known)
    join(system, View.KNOWLEDGE, "DEPENDS_ON", stated, known)
    join(system, View.ENTITY, "CO_OCCURRENCE", lone, friend)
    join(system, View.ENTITY, "CO_OCCURRENCE", lone, known)

    assert sweep(system) == 2

    assert states(system, known, stated, lone, friend) == ["active", "active", None, None]
    assert sweep(system) == 0


def test_entities_go_with_the_memory_that_was_purged_and_not_before(system: Remembering) -> None:
    memory, redis = told(system, "about Redis"), entity(system, "Redis")
    join(system, View.ENTITY, "REFERENCES", memory, redis)
    delete = DeleteMemory(
        platform_of(system.transactions, dispatcher=system.sent, clock=lambda: NOON)
    )
    delete(system.principal, memory)
    assert sweep(system) == 0
    assert clean(system, NOON + 8 * DAY) == {
        "expired": 0, "archived": 0, "purged": 1, "entities": 1, "more": False,
    }  # fmt: skip
    assert states(system, memory, redis) == [None, None]


def test_a_swept_entity_is_made_again_when_a_text_names_it_again(system: Remembering) -> None:
    redis = entity(system, "Redis")
    assert sweep(system) == 1
    assert states(system, redis) == [None]
    memory = told(system, "about Redis again")
    entity(system, "Redis", redis)
    join(system, View.ENTITY, "REFERENCES", memory, redis)
    assert states(system, redis) == ["active"]
    assert sweep(system) == 0
