"""What every step of an investigation asks of the database stays small however much there is."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from tests.support.world import World, open_world

from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.access.system import system_principal
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from uuid import UUID

    from tests.plugins.postgres import Database

MANY = """
INSERT INTO investigation (workspace_id, id, ticket_id, persona, state, snapshot, created_at,
  moved_at, ended_at)
SELECT %(w)s, gen_random_uuid(), gen_random_uuid(), 'p', CASE n %% 50 WHEN 0 THEN 'PLANNING'
  ELSE 'DONE' END, '', now(), now() - n * interval '1 minute', CASE n %% 50 WHEN 0 THEN NULL
  ELSE now() END
  FROM generate_series(1, 5000) AS n;
"""
STEPS = """
INSERT INTO investigation_step SELECT workspace_id, id, n, state, 's', 'a', 'plan', 1, 1, 0, now()
  FROM investigation, generate_series(1, 10) AS n WHERE workspace_id = %(w)s
"""
CALLS = """
INSERT INTO tool_call (workspace_id, id, investigation_id, connector, tool, lane, digest, state,
  dry_run, is_error, input, output, proposed_at)
SELECT workspace_id, gen_random_uuid(), id, 'c' || n, 't', 'read', 'd' || n, 'applied', false,
  false, '', '', now() FROM investigation, generate_series(1, 3) AS n WHERE workspace_id = %(w)s
"""
APPROVALS = """
INSERT INTO approval (workspace_id, id, investigation_id, ticket_id, action_id, tool, binding,
  policy_version, content, state, asked_at, expires_at)
SELECT workspace_id, gen_random_uuid(), id, ticket_id, id, 't', 'b', 'v', '',
  CASE state WHEN 'PLANNING' THEN 'pending' ELSE 'used' END, now(), now() + interval '1 day'
  FROM investigation WHERE workspace_id = %(w)s
"""
TICKETS = """
INSERT INTO ticket (workspace_id, id, source, external_id, status, rank, persona, sealed, mark,
  position, received_at, queued_at, claimed_at, ended_at)
SELECT %(w)s, gen_random_uuid(), 'api', 'x' || n, CASE WHEN n <= 5000 THEN 'queued'
  WHEN n <= 25000 THEN 'discarded' ELSE 'auto_resolved' END, CASE WHEN n <= 4900 THEN 3 ELSE 1 END,
  CASE WHEN n <= 4900 THEN 'night' ELSE 'default' END, '', '', 1, now() - n * interval '1 s',
  now(), now() - interval '1 h', CASE WHEN n > 5000 THEN now() END
  FROM generate_series(1, 45000) AS n
"""
PERSONA = """
INSERT INTO persona VALUES (%(w)s, 'night', 1, %(w)s, '', 'ticket-note', 'off', 1, 1, 1, 1, 'pii',
  now(), %(w)s, true)
"""
ANY = {"caller": None, "session_id": None}
TABLES = ("investigation", "investigation_step", "tool_call", "approval", "investigation_slot")
TABLES += ("ticket", "persona")


@pytest.fixture(scope="module")
def world(database: "Database") -> Iterator[World]:
    """A workspace with 5,000 investigations, a hundred of them under way."""
    world = open_world(database.owner_url, database.app_url, "plans")
    with database.connect_as_superuser() as root:
        root.autocommit = True
        for statement in (MANY, STEPS, CALLS, APPROVALS, TICKETS, PERSONA):
            root.execute(statement.encode(), {"w": world.workspace_id})
        for table in TABLES:
            root.execute(b"ANALYZE " + table.encode())
    yield world
    world.pool.close()


@pytest.fixture(scope="module")
def one(database: "Database", world: World) -> "UUID":
    with database.connect_as_superuser() as root:
        row = root.execute(
            "SELECT id FROM investigation WHERE workspace_id = %s LIMIT 1", [world.workspace_id]
        ).fetchone()
    assert row is not None
    return row[0]


def plan(connection: psycopg.Connection[Any], name: str, **given: Any) -> str:
    rows = connection.execute(b"EXPLAIN (ANALYZE) " + query(name), given).fetchall()
    return "\n".join(line for (line,) in rows)


@pytest.mark.parametrize(
    ("name", "given", "index"),
    [
        ("investigation.find", {}, "investigation_pkey"),
        ("investigation.snapshot", {}, "investigation_pkey"),
        ("investigation.steps", {"after": 3, "limit": 50}, "investigation_step_pkey"),
        (
            "investigation.page",
            {"before": None, "limit": 50, "state": None, "ticket_id": None},
            "investigation_pkey",
        ),
        (
            "investigation.page",
            {"before": None, "limit": 50, "state": "PLANNING", "ticket_id": None},
            "investigation_by_state",
        ),
        (
            "investigation.page",
            {"before": None, "limit": 50, "state": None, "ticket_id": new_id()},
            "investigation_by_ticket",
        ),
        ("investigation.stale", {"before": utc_now(), "limit": 20}, "investigation_moving"),
        ("tool_call.same", {"digest": "d1"}, "tool_call_of_investigation"),
        ("tool_call.open", {}, "tool_call_of_investigation"),
        (
            "tool_call.earlier",
            {"ticket_id": new_id(), "but": new_id(), "connector": "c1", "tool": "t", "limit": 9},
            "tool_call_of_",
        ),
        (
            "tool_call.recent",
            {
                "ticket_id": new_id(),
                "but": new_id(),
                "owner": new_id(),
                "alone": False,
                "since": utc_now(),
                "limit": 12,
            },
            "tool_call_completed",
        ),
        (
            "tool_call.page",
            {"before": None, "limit": 50, "connector": None, **ANY},
            "tool_call_of_investigation",
        ),
        (
            "tool_call.page",
            {"before": None, "limit": 50, "connector": "none", "investigation_id": None, **ANY},
            "tool_call_of_connector",
        ),
        ("approval.granted", {"now": utc_now()}, "approval_of_investigation"),
        ("approval.of", {}, "approval_of_investigation"),
        ("approval.due", {"now": utc_now(), "limit": 20}, "approval_due"),
        ("approval.page", {"before": None, "limit": 50, "state": "pending"}, "approval_pending"),
        ("approval.pending", {}, "approval_"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_reads_by_index_under_row_security(
    world: World, one: "UUID", name: str, given: dict[str, Any], index: str
) -> None:
    transactions = StoreTransactions(world.pool)
    asked: dict[str, Any] = {"workspace_id": world.workspace_id, "id": one, "investigation_id": one}
    with transactions.reading(system_principal(world.workspace_id)) as stores:
        found = plan(stores.connection, name, **asked | given)
    assert index in found, found
    assert "Seq Scan" not in found, found


def test_a_slot_is_taken_by_its_index(world: World) -> None:
    transactions = StoreTransactions(world.pool)
    with transactions.writing(system_principal(world.workspace_id)) as stores:
        for _ in range(200):
            stores.slots.take(new_id(), 200, utc_now())
        stores.connection.execute("SET LOCAL enable_seqscan = off")
        found = plan(
            stores.connection,
            "slot.take",
            workspace_id=world.workspace_id,
            id=new_id(),
            most=300,
            now=utc_now(),
        )
    assert "LockRows" in found, found
    assert "Seq Scan" not in found, found


@pytest.mark.parametrize(
    ("name", "given"),
    [("ticket.depth", {"most": 1}), ("ticket.depth", {"most": 51}), ("ticket.claim", {})],
    ids=["whether one waits", "whether the queue is long", "the next"],
)
def test_the_queue_is_read_by_its_index_though_thousands_are_held(
    world: World, name: str, given: dict[str, Any]
) -> None:
    transactions = StoreTransactions(world.pool)
    asked = {"workspace_id": world.workspace_id, "now": utc_now(), "investigation_id": new_id()}
    with transactions.writing(system_principal(world.workspace_id)) as stores:
        found = plan(stores.connection, name, **asked | given)
    assert "ticket_queue" in found, found
    assert "Seq Scan on ticket" not in found, found
    assert "SubPlan" not in found, found  # nothing is asked anew for each ticket
