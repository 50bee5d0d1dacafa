"""When a ticket is taken up again because its requester answered. Not the taking in of messages.

Who does not stop answering, such as an auto-responder, gets `MOST_REOPENINGS` more investigations;
the next one hands the ticket to a person. Counting begins anew when somebody puts the ticket back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.tickets.requeue import put_back
from cairn.tickets.ticket import TicketStatus

if TYPE_CHECKING:
    from datetime import datetime

    from cairn.kernel.access import Principal
    from cairn.kernel.ids import IdSource
    from cairn.tickets.ports import TicketRow, TicketStores
    from cairn.writing.ports import OutboxRow

MOST_REOPENINGS = 3
"""How often a ticket's messages put it back before a person has to look."""

WAITING = frozenset([TicketStatus.NEEDS_CLIENT, TicketStatus.AUTO_RESOLVED])
"""Where the next word is the requester's. Tickets that people have are left to them."""


def reopened(
    stores: TicketStores, principal: Principal, ticket: TicketRow, now: datetime, new_id: IdSource
) -> OutboxRow | None:
    """Take a ticket up again if it was answered since we wrote; None when it was not.

    With its entry, and the message that wakes whoever screens it. What was written before our own
    answer is no answer to it, and thanks for what was done ask for nothing more.
    """
    done = ticket.status is TicketStatus.AUTO_RESOLVED
    newest = stores.ticket_messages.newest(ticket.id, 1, asking=done)
    if not newest or ticket.investigation_id is None:
        return None
    ours = stores.write_backs.answered_at(ticket.investigation_id) or ticket.ended_at
    if ours is None or newest[0].written_at <= ours or not stores.tickets.reopen(ticket.id):
        return None
    stores.ticket_messages.reopens(newest[0].id)
    return put_back(stores, principal, ticket.id, "answered", now, new_id)
