"""What an investigation is shown beside its ticket: facts of the customer, tickets like it, hints.

Implements `Surrounds`. Words of other customers' tickets are never shown, only that there are some.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from cairn.investigations import citations
from cairn.investigations.state import Evidence
from cairn.kernel.text.elements import one_line
from cairn.kernel.text.words import content_words
from cairn.tickets.subjects import customer_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.memory_records import MemoryEdge, MemoryNode
    from cairn.kernel.clock import Clock
    from cairn.tickets.ticket import Ticket
    from cairn.workspace.settings import EnvelopeSettings

WINDOW = timedelta(hours=24)
RELATIONS = ("HAS_FACT", "PREFERS", "USES", "WORKS_WITH")
ALIKE = 0.25
"""Share of their words that two tickets of one problem have in common."""

SAME = 0.8
"""The same of two tickets that say the same."""

BURST = 5
"""Tickets alike within the window that are more than chance."""

BODY_CHARS = 1_000
TEXT_CHARS = 500
_TEXTS = ("text", "fact", "statement", "value", "title", "name")


class Neighbours(Protocol):
    """The memory graph, as far as it is needed here. See `lifecycle.memory_graph.MemoryGraph`."""

    def get_node(self, workspace_id: UUID, label: str, natural_key: str) -> MemoryNode | None: ...
    def neighbors(
        self,
        workspace_id: UUID,
        node: UUID,
        *,
        depth: int = 1,
        relations: Sequence[str] | None = None,
        limit: int = 10,
    ) -> list[tuple[MemoryNode, MemoryEdge]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketSurrounds:
    """Looks around a ticket in the graph and among the tickets of the last day."""

    graph: Neighbours
    recent: Callable[[UUID, datetime], Sequence[Ticket]]
    bounds: Callable[[UUID], EnvelopeSettings]
    clock: Clock

    def __call__(
        self, workspace_id: UUID, ticket: Ticket
    ) -> tuple[Sequence[Evidence], Sequence[Evidence], Sequence[str]]:
        """As `Surrounds`."""
        bounds = self.bounds(workspace_id)
        others = [
            one
            for one in self.recent(workspace_id, self.clock() - WINDOW)
            if one.id != ticket.id and one.received_at <= ticket.received_at
        ]
        shares = [(_share(ticket, one), one) for one in others]
        alike = [(share, one) for share, one in shares if share >= ALIKE]
        alike.sort(key=lambda pair: (-pair[0], pair[1].id))
        own = [one for _, one in alike if _same_customer(ticket, one)]
        similar = [_shown(one) for one in own[: bounds.similar]]
        return self._facts(workspace_id, ticket, bounds.facts), similar, _hints(ticket, alike)

    def _facts(self, workspace_id: UUID, ticket: Ticket, most: int) -> list[Evidence]:
        key = customer_key(ticket.customer)
        node = self.graph.get_node(workspace_id, "customer", f"customer:{key}") if key else None
        if node is None or not node.visible or not most:
            return []
        found = self.graph.neighbors(
            workspace_id, node.id, depth=1, relations=RELATIONS, limit=most
        )
        facts = [_fact(each, edge) for each, edge in found]
        return [one for one in facts if one is not None]


def _fact(node: MemoryNode, edge: MemoryEdge) -> Evidence | None:
    """Return what a node says, with how it came to be known; None when it says nothing."""
    said = _said(node.dump.properties)
    if not said:
        return None
    text = f"{edge.dump.relation}: {said} ({node.dump.provenance.value})"
    return Evidence(citation=citations.memory(node.id), text=text, node_id=node.id)


def _said(properties: Mapping[str, Any]) -> str:
    named = next((str(properties[name]) for name in _TEXTS if properties.get(name)), "")
    if named:
        return one_line(named)[:TEXT_CHARS]
    left = {name: one for name, one in properties.items() if name != "data_subjects"}
    return one_line(json.dumps(left, sort_keys=True, default=str))[:TEXT_CHARS] if left else ""


def _shown(ticket: Ticket) -> Evidence:
    text = one_line(f"{ticket.title}. {ticket.body}")[:TEXT_CHARS]
    said = f"({ticket.status.value}) {text}"
    return Evidence(citation=citations.ticket(ticket.id), text=said)


def _hints(ticket: Ticket, alike: Sequence[tuple[float, Ticket]]) -> list[str]:
    hints: list[str] = []
    same = [one for share, one in alike if share >= SAME and _same_customer(ticket, one)]
    if same:
        where = citations.ticket(same[0].id)
        hints.append(f"This looks like a duplicate of a ticket of the last 24 hours {where}.")
    if len(alike) + 1 >= BURST:
        customers = len({customer_key(one.customer) for _, one in alike})
        hints.append(
            f"A burst: {len(alike) + 1} tickets like this one within 24 hours, of {customers} "
            "customers."
        )
    return hints


def _same_customer(one: Ticket, other: Ticket) -> bool:
    key = customer_key(one.customer)
    if key is None:
        mine = one.requester_email
        return mine is not None and mine == other.requester_email
    return key == customer_key(other.customer)


def _share(one: Ticket, other: Ticket) -> float:
    """Return the share of words two tickets have in common, 0 to 1."""
    mine, theirs = _words(one), _words(other)
    both = mine | theirs
    return len(mine & theirs) / len(both) if both else 0.0


def _words(ticket: Ticket) -> frozenset[str]:
    return frozenset(content_words(f"{ticket.title} {ticket.body[:BODY_CHARS]}"))
