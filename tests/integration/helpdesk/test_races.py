"""Many at once: every ticket is taken in once and claimed once, and none is lost."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from tests.support.claim_tickets import claimed
from tests.support.helpdesk import API, Clock, Helpdesk, incoming
from tests.support.remembering import admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.agents.ticket_sources import SourcesDue, WorkspaceOfSource
from cairn.adapters.postgres.agents.tickets import WorkspacesWithTickets
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.tickets.intake import Outcome
from cairn.tickets.messages import MessageOutcome
from cairn.tickets.ticket import TicketStatus

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

TICKETS = 60
WORKERS = 4


@pytest.fixture
def pool(database: "Database") -> Iterator[Pool]:
    pool = Pool(database.app_url, size=WORKERS)
    with pool.connection():  # opened before threads share it
        pass
    yield pool
    pool.close()


@pytest.fixture
def helpdesk(database: "Database", pool: Pool) -> Helpdesk:
    name = f"races-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    transactions = StoreTransactions(pool)
    return Helpdesk(transactions, admin_of(workspace_id), clock=Clock(utc_now()))


def queue(helpdesk: Helpdesk, count: int = TICKETS) -> set[UUID]:
    """Put tickets into the queue and return their ids."""
    tickets = [incoming(external_id=f"T-{number}") for number in range(count)]
    for start in range(0, count, 50):
        helpdesk.intake.receive(helpdesk.principal, API, tickets[start : start + 50])
    with helpdesk.transactions.writing(helpdesk.principal) as stores:
        ids = stores.tickets.unscreened(count)
        for ticket_id in ids:
            stores.tickets.screened(ticket_id, {}, TicketStatus.QUEUED, utc_now())
    return set(ids)


def test_threads_claim_every_ticket_once(helpdesk: Helpdesk, pool: Pool) -> None:
    wanted = queue(helpdesk)
    with ThreadPoolExecutor(WORKERS) as threads:
        runs = [
            threads.submit(lambda: list(claimed(pool, helpdesk.workspace_id)))
            for _ in range(WORKERS)
        ]
        got = Counter(item for run in runs for item in run.result())
    assert set(got) == wanted
    assert max(got.values()) == 1


def test_processes_claim_every_ticket_once(helpdesk: Helpdesk, database: "Database") -> None:
    wanted = queue(helpdesk)
    asked = [sys.executable, "-m", "tests.support.claim_tickets", database.app_url]
    runs = [
        subprocess.Popen([*asked, str(helpdesk.workspace_id)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    got = Counter(UUID(line) for run in runs for line in run.communicate(timeout=120)[0].split())
    assert all(run.returncode == 0 for run in runs)
    assert set(got) == wanted
    assert max(got.values()) == 1


def test_a_claim_passes_over_what_another_transaction_is_taking(
    helpdesk: Helpdesk, database: "Database", pool: Pool
) -> None:
    queue(helpdesk, 2)
    asked = {"workspace_id": helpdesk.workspace_id, "now": utc_now()}
    with database.connect_as_superuser() as other, pool.connection() as connection:
        taken = other.execute(query("ticket.claim"), {**asked, "investigation_id": new_id()})
        (first, *_) = taken.fetchone() or ()
        with connection.transaction():
            connection.execute(
                "SELECT set_config('cairn.workspace_id', %s, true)", [str(helpdesk.workspace_id)]
            )
            found = connection.execute(
                query("ticket.claim"), {**asked, "investigation_id": new_id()}
            ).fetchall()
            assert len(found) == 1
            assert found[0][0] != first
        other.rollback()


def test_a_ticket_that_arrives_many_times_at_once_is_one(helpdesk: Helpdesk) -> None:
    with ThreadPoolExecutor(WORKERS) as threads:
        runs = [threads.submit(lambda: helpdesk.add(incoming())) for _ in range(12)]
        outcomes = Counter(run.result().outcome for run in runs)
    assert outcomes == {Outcome.NEW: 1, Outcome.KNOWN: 11}
    assert len(helpdesk.entries("ticket.received")) == 1
    registered = helpdesk.entries("data_subject.")
    assert len(registered) == 2


def test_an_answer_that_arrives_many_times_at_once_puts_its_ticket_back_once(
    helpdesk: Helpdesk,
) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming())
    helpdesk.desk.ended(helpdesk.workspace_id, ticket_id, investigation_id, "needs_client")
    helpdesk.clock.move(minutes=1)
    with ThreadPoolExecutor(WORKERS) as threads:
        runs = [threads.submit(lambda: helpdesk.say(ticket_id, "Me.", id="m-1")) for _ in range(12)]
        outcomes = Counter(run.result().outcome for run in runs)
    assert outcomes == {MessageOutcome.NEW: 1, MessageOutcome.KNOWN: 11}
    assert len(helpdesk.entries("ticket.message_received")) == 1
    assert len(helpdesk.entries("ticket.requeued")) == 1


def test_sources_and_waiting_tickets_are_found_across_workspaces(
    helpdesk: Helpdesk, pool: Pool
) -> None:
    source = helpdesk.source()
    assert WorkspaceOfSource(pool)(source.id) == helpdesk.workspace_id
    assert WorkspaceOfSource(pool)(new_id()) is None
    due = SourcesDue(pool)
    later = helpdesk.clock() + timedelta(minutes=1)
    assert (helpdesk.workspace_id, source.id) in due(later, 1000)
    helpdesk.poll(helpdesk.principal, source.id)
    assert (helpdesk.workspace_id, source.id) not in due(later, 1000)
    assert helpdesk.workspace_id not in WorkspacesWithTickets(pool)()
    helpdesk.add(incoming())
    assert helpdesk.workspace_id in WorkspacesWithTickets(pool)()


def test_a_source_that_fails_waits_longer_each_time(helpdesk: Helpdesk, pool: Pool) -> None:
    source = helpdesk.source(poll_seconds=60)
    helpdesk.remote.failing["poll"] = Unavailable("Down.", reason="unreachable")
    due, at = SourcesDue(pool), helpdesk.clock()
    for minutes in (1, 2, 4, 8, 16, 32, 60, 60):
        helpdesk.poll_due(seconds=10)
        soon = at + timedelta(minutes=minutes, seconds=-1)
        assert (helpdesk.workspace_id, source.id) not in due(soon, 1000)
        assert (helpdesk.workspace_id, source.id) in due(soon + timedelta(seconds=2), 1000)
