"""Remember this: a person turns a line of a timeline into a node of the memory graph.

It is active at once, since a person said so, and redacted as everything in the graph; edges lead to
its investigation, and from the customer it holds for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cairn.graph.edge import Relation
from cairn.graph.memory_records import NodeDump, Provenance, Status, clean_edge, clean_node
from cairn.kernel.access import Role
from cairn.kernel.errors import FieldError, NotFound, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.tickets.subjects import customer_key, requester_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.graph.memory_records import Dump, MemoryNode
    from cairn.investigations.browse import BrowseInvestigations
    from cairn.investigations.ports import TicketDesk
    from cairn.investigations.views import StepView
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.memory_graph.ledger_graph import Written
    from cairn.tickets.ticket import Ticket

LABELS = ("fact", "observation", "resolution")
MAX_TEXT_CHARS = 2_000


class Graph(Protocol):
    """The memory graph, as far as it is written here; `lifecycle.ledger_graph.LedgerGraph`."""

    def get_node(self, workspace_id: UUID, label: str, natural_key: str) -> MemoryNode | None: ...
    def write(self, workspace_id: UUID, records: Sequence[Dump], *, importing: bool) -> Written: ...


class GraphOf(Protocol):
    """The memory graph as one principal writes it."""

    def __call__(self, principal: Principal, /) -> Graph: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The node that was made, or is there already."""

    node_id: UUID
    label: str
    natural_key: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberStep:
    """Writes a node for a line of a timeline. The same line again changes the same node.

    `redact` takes personal values out of a text. Raises Denied for other keys, NotFound, and
    ValidationFailed naming the field.
    """

    browse: BrowseInvestigations
    desk: TicketDesk
    graph: GraphOf
    redact: Callable[[UUID, str], str]
    clock: Clock

    def __call__(
        self,
        principal: Principal,
        investigation_id: UUID,
        seq: int,
        *,
        label: str = "fact",
        text: str | None = None,
    ) -> Remembered:
        """Remember what the line says, or `text` in its place."""
        principal.require(Role.ADMIN)
        if label not in LABELS:
            _refuse("label", f"is one of {', '.join(LABELS)}")
        line = self._line(principal, investigation_id, seq)
        said = clean_text(text or line.detail, field="text", max_chars=MAX_TEXT_CHARS)
        workspace_id = principal.workspace_id
        said = self.redact(workspace_id, said)
        one = self.browse.glance(principal, investigation_id)
        ticket = self.desk.ticket(workspace_id, one.ticket_id)
        node = clean_node(
            label,
            f"{label}:investigation:{investigation_id}:{seq}",
            {
                "text": said,
                "investigation_id": str(investigation_id),
                "seq": seq,
                "citations": list(line.citations),
                "data_subjects": owners(ticket),
            },
            Provenance.OPERATOR,
            Status.ACTIVE,
        )
        graph = self.graph(principal)
        records = self._records(graph, workspace_id, node, ticket, investigation_id)
        written = graph.write(workspace_id, records, importing=False)
        node_id = written.ids[records.index(node)]
        return Remembered(node_id=node_id, label=label, natural_key=node.natural_key, text=said)

    def _line(self, principal: Principal, investigation_id: UUID, seq: int) -> StepView:
        page = self.browse.steps(principal, investigation_id, after=max(0, seq - 1), limit=1)
        line = next((one for one in page.items if one.seq == seq), None)
        if line is None:
            raise NotFound("The investigation has no such step.", reason="step")
        if not line.readable:
            raise NotFound("Whom this was about was forgotten.", reason="forgotten")
        return line

    def _records(
        self,
        graph: Graph,
        workspace_id: UUID,
        node: NodeDump,
        ticket: Ticket,
        investigation_id: UUID,
    ) -> list[Dump]:
        own = proposed("investigation", f"investigation:{investigation_id}", ticket)
        ends = [own]
        key = customer_key(ticket.customer)
        customer = customer_node(key) if key else None
        if customer is not None:
            ends.append(customer)
        missing = [
            one for one in ends if graph.get_node(workspace_id, one.label, one.natural_key) is None
        ]
        now = self.clock()
        source = Relation.REFERENCES.value
        edges: list[Dump] = [clean_edge(node.ref, own.ref, source, 1.0, {}, now)]
        if customer is not None:
            holds = Relation.HAS_FACT.value
            edges.append(clean_edge(customer.ref, node.ref, holds, 1.0, {}, now))
        return [*missing, node, *edges]


def owners(ticket: Ticket) -> list[str]:
    """Return whom a ticket is about, as nodes name them."""
    customer, person = customer_key(ticket.customer), requester_key(ticket.requester_email)
    named = [f"customer:{customer}" if customer else "", f"user:{person}" if person else ""]
    return [one for one in named if one]


def proposed(label: str, key: str, ticket: Ticket) -> NodeDump:
    """Return a node that stands for something known, in case it is not there yet."""
    properties = {"data_subjects": owners(ticket)}
    return clean_node(label, key, properties, Provenance.PROPOSED, Status.PROVISIONAL)


def customer_node(key: str) -> NodeDump:
    """Return the node of a customer by their natural key, in case it is not there yet."""
    return clean_node("customer", f"customer:{key}", {}, Provenance.PROPOSED, Status.PROVISIONAL)


def _refuse(field: str, message: str) -> None:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
