"""What stands around a ticket: the customer's facts, tickets like it, duplicates and bursts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.memory_records import (
    MemoryEdge,
    MemoryNode,
    Provenance,
    Status,
    clean_edge,
    clean_node,
)
from cairn.investigations.planning.surrounds import TicketSurrounds
from cairn.tickets.ticket import Ticket
from cairn.workspace.settings import EnvelopeSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = datetime(2026, 11, 3, 12, tzinfo=UTC)
WORKSPACE = UUID(int=1)
CUSTOMER = ("customer", "customer:harbour-lane")


def ticket(number: int, title: str = "VPN drops every hour", **given: Any) -> Ticket:
    values: dict[str, Any] = {
        "id": UUID(int=number),
        "workspace_id": WORKSPACE,
        "source": "api",
        "external_id": str(number),
        "title": title,
        "body": "The tunnel goes away and I have to connect again.",
        "customer": "Harbour Lane",
        "received_at": NOW - timedelta(minutes=60 - number),
    }
    return Ticket(**{**values, **given})


class Graph:
    """A customer with facts."""

    def __init__(self, *facts: dict[str, Any]) -> None:
        self.facts = facts
        self.asked: list[Any] = []

    def get_node(self, workspace_id: UUID, label: str, natural_key: str) -> MemoryNode | None:
        if (label, natural_key) != CUSTOMER:
            return None
        dump = clean_node(*CUSTOMER, {}, Provenance.OPERATOR, Status.ACTIVE)
        return MemoryNode(id=UUID(int=100), dump=dump)

    def neighbors(
        self,
        workspace_id: UUID,
        node: UUID,
        *,
        depth: int = 1,
        relations: Sequence[str] | None = None,
        limit: int = 10,
    ) -> list[tuple[MemoryNode, MemoryEdge]]:
        self.asked.append((node, depth, relations, limit))
        found: list[tuple[MemoryNode, MemoryEdge]] = []
        for number, properties in enumerate(self.facts):
            ref = ("fact", f"fact:{number}")
            dump = clean_node(*ref, properties, Provenance.PROPOSED, Status.ACTIVE)
            edge = clean_edge(CUSTOMER, ref, "HAS_FACT", 1.0, {}, NOW)
            fact = MemoryNode(id=UUID(int=200 + number), dump=dump)
            found.append(
                (fact, MemoryEdge(id=fact.id, source_id=node, target_id=fact.id, dump=edge))
            )
        return found


def around(
    *recent: Ticket, graph: Graph | None = None, bounds: EnvelopeSettings | None = None
) -> TicketSurrounds:
    return TicketSurrounds(
        graph=graph or Graph(),
        recent=lambda workspace_id, since: [item for item in recent if item.received_at >= since],
        bounds=lambda _: bounds or EnvelopeSettings(),
        clock=lambda: NOW,
    )


def test_facts_of_the_customer_come_with_how_they_are_known() -> None:
    graph = Graph({"text": "Uses the VPN of floor 3."}, {"data_subjects": ["x"]}, {"seats": 40})
    facts, _, _ = around(graph=graph)(WORKSPACE, ticket(50))
    assert [fact.text for fact in facts] == [
        "HAS_FACT: Uses the VPN of floor 3. (proposed)",
        'HAS_FACT: {"seats": 40} (proposed)',
    ]
    assert facts[0].citation == f"[memory:{UUID(int=200)}]"
    assert graph.asked == [(UUID(int=100), 1, ("HAS_FACT", "PREFERS", "USES", "WORKS_WITH"), 10)]


def test_a_customer_nobody_knows_has_no_facts() -> None:
    facts, _, _ = around(graph=Graph({"text": "x"}))(WORKSPACE, ticket(50, customer="Other"))
    assert facts == []


def test_tickets_like_it_are_the_customers_own_and_three_at_most() -> None:
    recent = [ticket(number) for number in range(40, 46)]
    foreign = ticket(46, customer="Someone Else", body="Secret of someone else. The tunnel")
    _, similar, _ = around(*recent, foreign, ticket(47, "Printer jam", body="Paper"))(
        WORKSPACE, ticket(50)
    )
    assert len(similar) == 3
    assert all("Secret" not in item.text for item in similar)
    assert similar[0].citation == f"[ticket:{UUID(int=40)}]"


def test_a_workspace_s_bounds_hold_above_and_below_the_defaults() -> None:
    recent = [ticket(number) for number in range(30, 46)]
    for most in (0, 1, 12):
        graph, bounds = Graph({"text": "x"}), EnvelopeSettings(facts=most, similar=most)
        _, similar, _ = around(*recent, graph=graph, bounds=bounds)(WORKSPACE, ticket(50))
        assert len(similar) == most
        assert [limit for _, _, _, limit in graph.asked] == [most] * bool(most)


def test_a_ticket_is_not_like_itself_nor_like_what_came_later() -> None:
    own = ticket(50)
    _, similar, hints = around(own, ticket(51))(WORKSPACE, own)
    assert (similar, hints) == ([], [])


def test_the_same_again_is_hinted_at_as_a_duplicate() -> None:
    _, _, hints = around(ticket(49))(WORKSPACE, ticket(50))
    assert [f"[ticket:{UUID(int=49)}]" in hint for hint in hints] == [True]
    _, _, none = around(ticket(49, customer="Someone Else"))(WORKSPACE, ticket(50))
    assert none == []


def test_many_alike_are_a_burst_whoever_sent_them() -> None:
    recent = [ticket(number, customer=f"Customer {number % 3}") for number in range(40, 46)]
    _, _, hints = around(*recent)(WORKSPACE, ticket(50, body="The tunnel goes, connect again"))
    assert hints == ["A burst: 7 tickets like this one within 24 hours, of 3 customers."]


def test_what_is_older_than_a_day_is_not_looked_at() -> None:
    old = replace(ticket(49), received_at=NOW - timedelta(hours=25))
    _, similar, hints = around(old)(WORKSPACE, ticket(50))
    assert (similar, hints) == ([], [])
