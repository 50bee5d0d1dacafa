"""Tickets behind the fake API: the real use cases, over stores in memory and a fake help desk."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tests.fakes.stores import InMemoryTransactions
from tests.support.helpdesk import Helpdesk
from tests.support.remembering import admin_of

from cairn.tickets.queue import ReadTickets

WORKSPACE = UUID(int=1)


@dataclass
class TicketWorld:
    """A help desk; every ticket had one investigation, called `i-1`."""

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
                investigations=lambda principal, ticket_id: [{"id": "i-1"}],
            ),
            "requeue": own.requeue,
            "ticket_queue": own.queue,
            "ticket_sources": own.sources,
            "poll_source": own.poll,
            "receive_events": own.receive,
            "personas": own.personas,
        }
