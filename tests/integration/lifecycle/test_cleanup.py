"""The cleanup over PostgreSQL: killed, doubled, against a running search, and how it finds."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from tests.support.ingesting import Documents
from tests.support.platform import platform_of
from tests.support.world import World, memory, open_world

from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.ageing.cleanup import Cleanup
from cairn.ageing.count_accesses import CountAccesses
from cairn.ageing.rules import Cutoffs, Lifetimes, Rule
from cairn.kernel.access.system import system_principal
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.memories.kinds import MemoryKind
from cairn.reading.browse import Browse

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

Connection = psycopg.Connection[Any]

SLOW_CLEANUP = """
import sys, time
from uuid import UUID
from tests.support.platform import platform_of
from cairn.kernel.clock import monotonic, utc_now
from cairn.ageing import cleanup
from cairn.adapters.postgres.database import Database
from cairn.adapters.postgres.store_transactions import StoreTransactions

cleanup.PAGE = 5
def slow():
    time.sleep(0.05)
    return utc_now()
url, workspace = sys.argv[1:]
transactions = StoreTransactions(Database(url))
platform = platform_of(transactions, clock=slow, stopwatch=monotonic)
cleanup.Cleanup(platform)(UUID(workspace), seconds=60)
"""


@pytest.fixture(scope="module")
def root(database: "Database") -> Iterator[Connection]:
    with database.connect_as_superuser() as connection:
        connection.autocommit = True
        yield connection


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"cleanup-{new_id()}")
    yield world
    world.pool.close()


def old(root: Connection, world: World, *texts: str, days: int, **changes: Any) -> list[UUID]:
    """Memories recorded so many days ago."""
    outcomes = world.tell(*(memory(text, **changes) for text in texts)).outcomes
    ids = [outcome.id for outcome in outcomes if outcome.id]
    root.execute(
        "UPDATE node SET recorded_at = now() - %s WHERE id = ANY (%s)",
        [timedelta(days=days), ids],
    )
    return ids


def cleanup(world: World) -> Cleanup:
    return Cleanup(platform_of(StoreTransactions(world.pool), stopwatch=monotonic))


def states(root: Connection, ids: list[UUID]) -> Counter[str]:
    rows = root.execute("SELECT state FROM node WHERE id = ANY (%s)", [ids]).fetchall()
    return Counter(state for (state,) in rows)


def named(root: Connection, world: World, type_: str) -> Counter[str]:
    """How often the entries of a type name each node."""
    rows = root.execute(
        """SELECT jsonb_array_elements_text(meta::jsonb -> 'node_ids') FROM ledger
            WHERE workspace_id = %s AND type = %s""",
        [world.workspace_id, type_],
    )
    return Counter(one for (one,) in rows.fetchall())


def searched(root: Connection, world: World, *returned: UUID) -> None:
    """A search that was answered and not yet counted."""
    root.execute(
        """INSERT INTO search_run (workspace_id, id, principal_id, recipe, recorded_at, returned,
             candidates, degraded, duration_ms, counts_as_access)
           VALUES (%s, %s, %s, 'default', now(), %s, '{}', '{}', 1, true)""",
        [world.workspace_id, new_id(), world.admin.principal_id, list(returned)],
    )


def test_killed_between_batches_it_goes_on_and_expires_each_event_once(
    database: "Database", world: World, root: Connection
) -> None:
    texts = [f"event {n}" for n in range(60)]
    ids = old(root, world, *texts, days=40, type=MemoryKind.EVENT)
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_CLEANUP, database.app_url, str(world.workspace_id)]
    )
    until = time.monotonic() + 60
    while len(named(root, world, "node.expired")) < 10:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < until
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = states(root, ids)
    assert 10 <= before["expired"] < 60

    done = cleanup(world)(world.workspace_id, seconds=60)

    assert done["expired"] == 60 - before["expired"]
    assert named(root, world, "node.expired") == {str(id_): 1 for id_ in ids}
    assert states(root, ids) == {"expired": 60}
    assert Browse(transactions=StoreTransactions(world.pool)).verify_ledger(world.admin).ok


def test_two_at_once_let_nothing_age_twice(world: World, root: Connection) -> None:
    facts = old(root, world, *(f"fact {n}" for n in range(300)), days=100)
    start = Barrier(2)

    def run(_: int) -> int:
        start.wait()
        return cleanup(world)(world.workspace_id, seconds=60)["archived"]

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, range(2)))
    assert named(root, world, "node.archived") == {str(fact): 1 for fact in facts}
    assert states(root, facts) == {"archived": 300}


def test_what_a_search_returned_and_nobody_counted_yet_is_in_use(
    world: World, root: Connection
) -> None:
    event, other = old(root, world, "event", "other", days=40, type=MemoryKind.EVENT)
    [fact] = old(root, world, "fact", days=100)
    searched(root, world, event, fact)
    done = cleanup(world)(world.workspace_id, seconds=60)
    assert (done["expired"], done["archived"]) == (1, 0)
    assert states(root, [event, fact]) == {"active": 2}
    assert states(root, [other]) == {"expired": 1}


@pytest.mark.parametrize("ahead", [timedelta(days=400), timedelta(days=-400)])
def test_a_clock_that_jumps_lets_nothing_age_before_its_time(
    world: World, root: Connection, ahead: timedelta
) -> None:
    ids = old(root, world, "event", days=20, type=MemoryKind.EVENT)
    ids += old(root, world, "fact", days=20)
    jumping = Cleanup(
        platform_of(
            StoreTransactions(world.pool), clock=lambda: utc_now() + ahead, stopwatch=monotonic
        )
    )
    done = jumping(world.workspace_id, seconds=60)
    assert (done["expired"], done["archived"]) == (0, 0)
    assert states(root, ids) == {"active": 2}


def by_keyword(world: World, *, past: bool = False, valid_at: datetime | None = None) -> list[UUID]:
    principal = system_principal(world.workspace_id)
    with StoreTransactions(world.pool).reading(principal) as stores:
        rows = stores.connection.execute(
            """SELECT node_id FROM find_by_keyword(ARRAY['harbour'], 10, NULL, NULL, NULL, NULL,
                 NULL, NULL, %s, %s)""",
            [valid_at, past],
        ).fetchall()
    return [node_id for (node_id,) in rows]


def test_an_archived_fact_is_found_in_the_past_only_and_its_use_brings_it_back(
    world: World, root: Connection
) -> None:
    [fact] = old(root, world, "The harbour opens at six", days=100)
    cleanup(world)(world.workspace_id, seconds=60)
    assert by_keyword(world) == []
    assert by_keyword(world, past=True) == by_keyword(world, valid_at=utc_now()) == [fact]

    searched(root, world, fact)
    CountAccesses(
        platform=platform_of(StoreTransactions(world.pool), stopwatch=monotonic),
        workspaces=lambda: [world.workspace_id],
    )(seconds=60)

    assert states(root, [fact]) == {"active": 1}
    assert by_keyword(world) == [fact]
    assert named(root, world, "node.restored") == {str(fact): 1}
    assert cleanup(world)(world.workspace_id, seconds=60)["archived"] == 0


def test_a_document_is_archived_whole_unless_a_part_was_used_and_comes_back_whole(
    world: World, root: Connection
) -> None:
    transactions = StoreTransactions(world.pool)
    documents = Documents(transactions=transactions, principal=world.admin)
    text = "# Harbour\n\nThe harbour opens at six.\n\n# Crane\n\nThe crane lifts boxes.\n"
    accepted = documents.send(text)
    documents.steps.parse(world.workspace_id, accepted.ingestion_id)
    documents.steps.chunk(world.workspace_id, accepted.ingestion_id)
    documents.steps.store(world.workspace_id, accepted.ingestion_id)
    rows = root.execute(
        "SELECT id, label FROM node WHERE workspace_id = %s ORDER BY label", [world.workspace_id]
    ).fetchall()
    parts, chunk = [one for one, _ in rows], rows[0][0]
    long_ago = timedelta(days=200)
    root.execute("UPDATE node SET recorded_at = now() - %s WHERE id = ANY (%s)", [long_ago, parts])
    root.execute(
        "UPDATE ingestion SET created_at = now() - %s WHERE workspace_id = %s",
        [long_ago, world.workspace_id],
    )
    run = cleanup(world)

    root.execute("UPDATE node SET last_accessed_at = now() WHERE id = %s", [chunk])
    assert run(world.workspace_id, seconds=60)["archived"] == 0
    root.execute("UPDATE node SET last_accessed_at = NULL WHERE id = %s", [chunk])
    assert run(world.workspace_id, seconds=60)["archived"] == len(parts)
    assert states(root, parts) == {"archived": len(parts)}

    with transactions.reading(world.admin) as stores:
        assert sorted(stores.ageing.archived([chunk])) == sorted(parts)
    again = documents.send(text + "\n")
    documents.steps.parse(world.workspace_id, again.ingestion_id)
    documents.steps.chunk(world.workspace_id, again.ingestion_id)
    documents.steps.store(world.workspace_id, again.ingestion_id)
    assert states(root, parts) == {"active": len(parts)}


@pytest.mark.parametrize("rule", [Rule.EVENT_TTL, Rule.FACT_UNUSED, Rule.DELETED])
def test_what_aged_is_found_by_index_under_row_level_security(
    world: World, root: Connection, rule: Rule
) -> None:
    kinds = (MemoryKind.EVENT, MemoryKind.FACT, MemoryKind.DECISION)
    for kind in kinds:
        old(root, world, *(f"{kind} {n}" for n in range(400)), days=300, type=kind)
    deleted = old(root, world, *(f"gone {n}" for n in range(30)), days=300)
    root.execute(
        "UPDATE node SET state = 'deleted', deleted_at = now() - interval '9 days' "
        "WHERE id = ANY (%s)",
        [deleted],
    )
    root.execute("ANALYZE node")
    cutoffs = Cutoffs.at(utc_now(), Lifetimes())
    given = {
        "workspace_id": world.workspace_id, "event": cutoffs.event, "fact": cutoffs.fact,
        "knowledge": cutoffs.knowledge, "deleted": cutoffs.deleted, "medium": 6,
        "after_at": datetime.fromisoformat("0001-01-02T00:00:00+00:00"),
        "after_id": UUID(int=0), "limit": 200,
    }  # fmt: skip
    principal = system_principal(world.workspace_id)
    with StoreTransactions(world.pool).writing(principal) as stores:
        plan = "\n".join(
            line
            for (line,) in stores.connection.execute(
                b"EXPLAIN (ANALYZE, BUFFERS) " + query(f"ageing.{rule.value}"), given
            )
        )
    assert not re.search(r"Seq Scan on node", plan), plan
    column = "deleted_at" if rule is Rule.DELETED else "recorded_at"
    assert re.search(rf"Index Cond: .*{column}", plan), plan
