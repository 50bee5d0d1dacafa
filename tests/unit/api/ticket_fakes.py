"""Tickets behind the fake API: the real use cases, over stores in memory and a fake help desk."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from tests.fakes.stores import InMemoryTransactions
from tests.support.helpdesk import Helpdesk
from tests.support.remembering import admin_of

from cairn.investigations.state import State
from cairn.investigations.views import InvestigationView, SpentView
from cairn.tickets.queue import ReadTickets

WORKSPACE = UUID(int=1)
INVESTIGATION = UUID(int=2)


@dataclass
class TicketWorld:
    """A help desk; every ticket had one investigation, `INVESTIGATION`."""

    workspace_id: UUID = WORKSPACE

    def __post_init__(self) -> None:
        transactions = InMemoryTransactions()
        transactions.create_workspace(self.workspace_id)
        self.helpdesk = Helpdesk(transactions, admin_of(self.workspace_id))

    def services(self) -> dict[str, Any]:
        own = self.helpdesk
        return {
            "intake": own.intake,
            "ticket_messages": own.messages,
            "tickets": ReadTickets(
                platform=own.platform,
                sealed=own.sealed,
                investigations=lambda principal, ticket_id: [investigation_of(ticket_id)],
            ),
            "requeue": own.requeue,
            "ticket_queue": own.queue,
            "ticket_sources": own.sources,
            "poll_source": own.poll,
            "receive_events": own.receive,
            "personas": own.personas,
        }


def investigation_of(ticket_id: UUID) -> InvestigationView:
    """An investigation of a ticket that has just begun."""
    now = datetime(2026, 5, 4, 12, tzinfo=UTC)
    return InvestigationView(
        id=INVESTIGATION,
        ticket_id=ticket_id,
        persona="default",
        state=State.CREATED,
        verdict=None,
        error=None,
        run=1,
        execution=None,
        trace_id=None,
        spent=SpentView(tokens=0, usd=0.0, seconds=0.0, iterations=0),
        created_at=now,
        moved_at=now,
        ended_at=None,
    )
