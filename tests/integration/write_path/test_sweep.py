"""Who sends what the outbox still owes: each row to one caller, when it is due."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from tests.support.world import World, memory, open_world

from cairn.adapters.aws.dispatch import STALE_AFTER
from cairn.adapters.postgres.sweeping import ClaimOutbox, OldestRow
from cairn.kernel.ids import new_id
from cairn.operations.sweep import PROMPT, Backlog, MeasureBacklog
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ROWS = 12


@pytest.fixture(scope="module")
def root(database: "Database") -> Iterator[psycopg.Connection[Any]]:
    with database.connect_as_superuser() as connection:
        connection.autocommit = True
        yield connection


@pytest.fixture
def world(database: "Database", root: psycopg.Connection[Any]) -> Iterator[World]:
    """A workspace with some rows in the outbox; nobody else has any."""
    root.execute("DELETE FROM outbox")
    world = open_world(database.owner_url, database.app_url, f"sweep-{new_id()}")
    for number in range(ROWS):
        world.tell(memory(f"number {number}"))
    yield world
    world.pool.close()


def claimed(world: World, *, limit: int = 100, topic: str = Topic.EMBED) -> list[UUID]:
    rows = ClaimOutbox(world.pool, [topic])(limit, NOW - STALE_AFTER, NOW)
    assert {row.workspace_id for row in rows} <= {world.workspace_id}
    return [row.id for row in rows]


def all_sent(root: psycopg.Connection[Any], moment: datetime | None) -> None:
    root.execute("UPDATE outbox SET sent_at = %s", [moment])


def test_rows_sent_a_moment_ago_are_left_alone(world: World, root: psycopg.Connection[Any]) -> None:
    all_sent(root, NOW - STALE_AFTER + timedelta(seconds=1))
    assert claimed(world) == []


def test_rows_whose_message_was_lost_are_due_after_a_while(
    world: World, root: psycopg.Connection[Any]
) -> None:
    all_sent(root, NOW - STALE_AFTER - timedelta(seconds=1))
    assert len(claimed(world)) == ROWS
    assert claimed(world) == []


def test_rows_never_sent_are_due_at_once(world: World, root: psycopg.Connection[Any]) -> None:
    all_sent(root, None)
    assert len(claimed(world, limit=5)) == 5
    assert len(claimed(world)) == ROWS - 5


def test_rows_of_other_topics_are_left_to_those_who_can_send_them(
    world: World, root: psycopg.Connection[Any]
) -> None:
    all_sent(root, None)
    assert claimed(world, topic=Topic.INVESTIGATION) == []
    assert len(claimed(world)) == ROWS


def test_the_run_of_an_investigation_is_claimed_with_it(
    world: World, root: psycopg.Connection[Any]
) -> None:
    root.execute(
        "INSERT INTO outbox (workspace_id, id, topic, reference, batch, position, created_at)"
        " VALUES (%(w)s, %(i)s, 'investigation', %(i)s, 3, 1, now())",
        {"w": world.workspace_id, "i": new_id()},
    )
    (row,) = ClaimOutbox(world.pool, [Topic.INVESTIGATION])(5, NOW, NOW)
    assert (row.topic, row.batch) == (Topic.INVESTIGATION, 3)


def test_rows_that_keep_failing_come_back_ever_more_rarely_but_always(
    world: World, root: psycopg.Connection[Any]
) -> None:
    root.execute("UPDATE outbox SET attempts = 3")
    all_sent(root, NOW - STALE_AFTER - timedelta(hours=3))
    assert claimed(world) == []
    all_sent(root, NOW - STALE_AFTER - timedelta(hours=3, seconds=1))
    assert len(claimed(world)) == ROWS
    root.execute("UPDATE outbox SET attempts = 5000")
    all_sent(root, NOW - STALE_AFTER - timedelta(hours=24, seconds=1))
    assert len(claimed(world)) == ROWS


def test_sweeps_at_the_same_time_share_the_rows(
    world: World, root: psycopg.Connection[Any]
) -> None:
    all_sent(root, None)
    start = Barrier(3)

    def sweep(_: int) -> list[UUID]:
        start.wait()
        return claimed(world, limit=4)

    with ThreadPoolExecutor(3) as threads:
        taken = [item for some in threads.map(sweep, range(3)) for item in some]
    taken += claimed(world)
    assert len(taken) == len(set(taken)) == ROWS


def test_the_age_of_the_oldest_work_is_measured_over_all_workspaces(
    world: World, root: psycopg.Connection[Any]
) -> None:
    measure = MeasureBacklog(oldest=OldestRow(world.pool, PROMPT), clock=lambda: NOW)
    root.execute("UPDATE outbox SET created_at = %s, sent_at = %s", [NOW, NOW])
    assert measure() == Backlog(topic=Topic.EMBED, seconds=0)
    oldest = "UPDATE outbox SET created_at = %s WHERE id = (SELECT min(id::text)::uuid FROM outbox)"
    root.execute(oldest, [NOW - timedelta(minutes=16)])
    assert measure() == Backlog(topic=Topic.EMBED, seconds=960)
    assert measure().behind
    root.execute("UPDATE outbox SET error = 'embedder-unavailable' WHERE created_at < %s", [NOW])
    assert not measure().behind  # what failed says so itself
    root.execute("UPDATE outbox SET error = NULL, topic = %s", [Topic.INGESTION])
    assert measure() == Backlog()  # a machine is at it
    root.execute("UPDATE outbox SET sent_at = NULL")
    assert measure() == Backlog(topic=Topic.INGESTION, seconds=960)
    root.execute("DELETE FROM outbox")
    assert measure() == Backlog()
