"""What the memory graph learns of a ticket when it comes in: who, which, and what it was about.

Proposed and provisional, with redacted text only: nothing here is active before a person says so.
Pure; the graph's own use case writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.graph.edge import Relation
from cairn.graph.memory_records import (
    EdgeDump,
    NodeDump,
    Provenance,
    Status,
    clean_edge,
    clean_node,
)
from cairn.kernel.errors import ValidationFailed
from cairn.tickets.subjects import customer_key, requester_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.memory_records import Dump, Ref
    from cairn.tickets.ticket import Ticket

MAX_TEXT_CHARS = 2_000
"""Of a ticket's redacted text in its node; the ticket itself has the rest."""


def ticket_ref(ticket: Ticket) -> Ref:
    """Return what names a ticket's node: `ticket:desk:ZD-8891`."""
    return "ticket", f"ticket:{ticket.source}:{ticket.external_id}"


def records_of(ticket: Ticket, redact: Callable[[str], str], now: datetime) -> list[Dump]:
    """Return the nodes of a ticket and of whom it is about, and the edges between them.

    What cannot be a node (a name that holds a secret, an id too long) is left out.
    """
    people = _people(ticket)
    owners = [one.natural_key for one in people]
    properties = {
        "title": redact(ticket.title),
        "text": redact(f"{ticket.title}\n{ticket.body}")[:MAX_TEXT_CHARS],
        "priority": ticket.priority.value,
        "data_subjects": owners,
    }
    own = _node(*ticket_ref(ticket), properties)
    if own is None:
        return [*people]
    edges = [_edge(own, one, _RELATIONS[one.label], now) for one in people]
    if len(people) == len(_RELATIONS):
        customer, user = people
        edges.append(_edge(user, customer, Relation.WORKS_WITH, now))
    return [*people, own, *edges]


def investigation_records(
    ticket: Ticket, investigation_id: UUID, verdict: str, now: datetime
) -> list[Dump]:
    """Return the node of an investigation that ended, and its edge to the ticket."""
    owners = [one.natural_key for one in _people(ticket)]
    own = _node(
        "investigation",
        f"investigation:{investigation_id}",
        {"verdict": verdict, "data_subjects": owners},
    )
    about = _node(*ticket_ref(ticket), {"data_subjects": owners})
    if own is None or about is None:
        return []
    return [own, _edge(own, about, Relation.ADDRESSES, now)]


_RELATIONS = {"customer": Relation.APPLIES_TO, "user": Relation.REFERENCES}
"""How a ticket is tied to whom it is about."""


def _people(ticket: Ticket) -> list[NodeDump]:
    """Return the customer's node and the requester's."""
    customer, requester = customer_key(ticket.customer), requester_key(ticket.requester_email)
    found = [
        _node("customer", f"customer:{customer}", {}) if customer else None,
        _node("user", f"user:{requester}", {}) if requester else None,
    ]
    return [one for one in found if one is not None]


def _node(label: str, key: str, properties: dict[str, Any]) -> NodeDump | None:
    try:
        return clean_node(label, key, properties, Provenance.PROPOSED, Status.PROVISIONAL)
    except ValidationFailed:
        return None


def _edge(source: NodeDump, target: NodeDump, relation: Relation, at: datetime) -> EdgeDump:
    return clean_edge(source.ref, target.ref, relation.value, 1.0, {}, at)
