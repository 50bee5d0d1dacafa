"""Tickets behind the fake API: the real use cases, over stores in memory and a fake help desk."""

from dataclasses import dataclass
from uuid import UUID

from tests.fakes.stores import InMemoryTransactions
from tests.support.helpdesk import Helpdesk
from tests.support.remembering import admin_of

from cairn.api.ticket_services import TicketServices
from cairn.tickets.reading import ReadTickets

WORKSPACE = UUID(int=1)


@dataclass
class TicketWorld:
    """A help desk; every ticket had one investigation, called `i-1`."""

    workspace_id: UUID = WORKSPACE

    def __post_init__(self) -> None:
        transactions = InMemoryTransactions()
        transactions.create_workspace(self.workspace_id)
        self.helpdesk = Helpdesk(transactions, admin_of(self.workspace_id))

    def services(self) -> TicketServices:
        own = self.helpdesk
        return TicketServices(
            add=own.intake.add,
            message=own.messages.add,
            read=ReadTickets(
                transactions=own.transactions,
                sealed=own.sealed,
                investigations=lambda principal, ticket_id: [{"id": "i-1"}],
            ),
            requeue=own.requeue,
            queue=own.queue,
            sources=own.sources,
            poll=own.poll,
            receive=own.receive,
            personas=own.personas,
        )
