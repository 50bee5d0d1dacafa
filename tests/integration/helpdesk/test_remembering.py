"""What the memory graph learns of tickets, and what forgetting leaves of them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.forgetting import CANARY, Stand, open_stand
from tests.support.helpdesk import Helpdesk, incoming

from cairn.adapters.postgres.database import Database as Pool
from cairn.bootstrap.helpdesk import HelpdeskParts
from cairn.kernel.errors import Conflict, NotFound
from cairn.tickets.intake import Outcome
from cairn.tickets.ticket import TicketStatus

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture
def stand(database: "Database") -> Iterator[Stand]:
    pool = Pool(database.app_url, size=4)
    yield open_stand(database, pool)
    pool.close()


@pytest.fixture
def parts(stand: Stand) -> HelpdeskParts:
    return HelpdeskParts(stand.pool, stand.system.remember.platform)


@pytest.fixture
def helpdesk(stand: Stand, parts: HelpdeskParts) -> Helpdesk:
    made = Helpdesk(
        stand.system.transactions, stand.principal, keys=stand.keys, sent=stand.system.sent
    )
    made.take = replace(made.take, graph=parts.remember)
    made.desk = replace(made.desk, graph=parts.remember)
    return made


def near(parts: HelpdeskParts, helpdesk: Helpdesk, label: str, key: str) -> set[tuple[str, str]]:
    """The relations and labels around a node."""
    workspace_id = helpdesk.workspace_id
    node = parts.graph.get_node(workspace_id, label, key)
    assert node is not None
    found = parts.graph.neighbors(workspace_id, node.id)
    return {(edge.dump.relation, other.dump.label) for other, edge in found}


def test_a_ticket_its_people_and_its_investigation_stand_in_the_graph(
    helpdesk: Helpdesk, parts: HelpdeskParts
) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming())
    helpdesk.desk.ended(helpdesk.workspace_id, ticket_id, investigation_id, "auto_resolved")
    assert near(parts, helpdesk, "ticket", "ticket:api:ZD-1") == {
        ("APPLIES_TO", "customer"),
        ("REFERENCES", "user"),
        ("ADDRESSES", "investigation"),
    }
    node = parts.graph.get_node(helpdesk.workspace_id, "ticket", "ticket:api:ZD-1")
    assert node is not None
    assert (node.dump.provenance, node.dump.status) == ("proposed", "provisional")
    assert "<EMAIL_1>" in node.dump.properties["text"]
    assert helpdesk.told[-1][0] == "inbound_gateway"


def test_what_is_known_of_a_customer_is_left_alone(
    helpdesk: Helpdesk, parts: HelpdeskParts
) -> None:
    workspace_id = helpdesk.workspace_id
    known: dict[str, Any] = {"plan": "gold"}
    parts.graph.upsert_node(workspace_id, "customer", "customer:hartwell-law", known, "proposed")
    helpdesk.taken(incoming())
    node = parts.graph.get_node(workspace_id, "customer", "customer:hartwell-law")
    assert node is not None
    assert dict(node.dump.properties) == known


def test_taking_a_ticket_up_again_writes_no_more(helpdesk: Helpdesk, parts: HelpdeskParts) -> None:
    ticket_id = helpdesk.taken(incoming())
    before = len(helpdesk.entries("graph."))
    ticket = helpdesk.desk.ticket(helpdesk.workspace_id, ticket_id)
    helpdesk.take._remember(ticket)
    assert len(helpdesk.entries("graph.")) == before > 0
    assert parts.graph.get_node(helpdesk.workspace_id, "user", "user:kevin@hartwell.example")


def test_a_forgotten_customers_tickets_say_nothing_and_come_back_from_nowhere(
    stand: Stand, helpdesk: Helpdesk
) -> None:
    told = incoming(body=f"It is {CANARY}.")
    ticket_id, investigation_id = helpdesk.claimed(told)
    helpdesk.desk.write_back(
        helpdesk.workspace_id,
        ticket_id,
        investigation_id=investigation_id,
        verdict="auto_resolved",
        summary=f"{CANARY} is mended.",
        minutes=1,
        private=False,
        data_subjects=(),
    )
    helpdesk.say(ticket_id, f"{CANARY} thanks you.", id="m-1")
    waiting = helpdesk.taken(replace(told, external_id="ZD-2"))
    stand.embed()
    forgotten = stand.forgets("hartwell-law")
    assert forgotten.forgetting.counts["ticket"] == 2
    assert forgotten.forgetting.counts["ticket_reply"] == 1
    assert forgotten.forgetting.counts["ticket_message"] == 1
    assert [place for place in stand.proof(forgotten).places if place.found] == []
    with pytest.raises(NotFound):
        helpdesk.desk.ticket(helpdesk.workspace_id, ticket_id)
    assert helpdesk.row(waiting).status is TicketStatus.DISCARDED
    with pytest.raises(Conflict):
        helpdesk.requeue(helpdesk.principal, waiting)
    later = replace(told, modified_at=helpdesk.clock() + timedelta(days=1))
    assert helpdesk.add(later).outcome is Outcome.KNOWN
    assert helpdesk.row(ticket_id).sealed == b""
    with helpdesk.transactions.reading(helpdesk.principal) as stores:
        (reply,) = stores.write_backs.replies(ticket_id)
        (message,) = stores.ticket_messages.newest(ticket_id, 5)
    assert helpdesk.sealed.said(helpdesk.workspace_id, message) is None
    with pytest.raises(Conflict):
        helpdesk.say(ticket_id, "Hello again.")
    assert helpdesk.sealed.said(helpdesk.workspace_id, reply) is None
