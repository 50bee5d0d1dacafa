"""What was seen again and again is proposed as a node; only a person makes it active.

Three investigations in which the same tool had the same outcome for the same customer make one
provisional node. Planners are not shown it before it was accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from cairn.access import Role
from cairn.agent.people.remembering import LABELS, customer_node
from cairn.errors import Conflict, NotFound, ValidationFailed
from cairn.graph.edge import Relation
from cairn.graph.memory_records import Provenance, Status, clean_edge, clean_node

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.access import Principal
    from cairn.agent.journal import Journal
    from cairn.agent.people.ports import Repeated
    from cairn.agent.people.remembering import Graph
    from cairn.clock import Clock
    from cairn.graph.memory_records import Dump, MemoryNode, NodeDump

CONFIRMED = 3
"""Investigations that have to have seen the same."""

WINDOW = timedelta(days=90)
AT_ONCE = 100


class ReviewedGraph(Protocol):
    """The memory graph of one principal's workspace, as far as proposals need it."""

    def node(self, workspace_id: UUID, node_id: UUID) -> MemoryNode | None: ...
    def provisional(
        self, workspace_id: UUID, labels: Sequence[str], *, before: UUID | None, limit: int
    ) -> Sequence[MemoryNode]: ...
    def get_node(self, workspace_id: UUID, label: str, natural_key: str) -> MemoryNode | None: ...
    def write(self, workspace_id: UUID, records: Sequence[Dump], *, importing: bool) -> Any: ...
    def mark_archived(self, workspace_id: UUID, node_id: UUID) -> None: ...


class ReviewedGraphOf(Protocol):
    """The memory graph as one principal reviews it."""

    def __call__(self, principal: Principal, /) -> ReviewedGraph: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeObservations:
    """Writes provisional nodes for what was confirmed often enough; again changes nothing."""

    journal: Journal
    graph: Graph

    def __call__(self, workspace_id: UUID, now: datetime) -> int:
        """Return how many nodes are new or were seen more often than before."""
        with self.journal.reading(workspace_id) as stores:
            found = stores.candidates.repeated(now - WINDOW, CONFIRMED, AT_ONCE)
        return sum(self._proposed(workspace_id, one, now) for one in found)

    def _proposed(self, workspace_id: UUID, seen: Repeated, now: datetime) -> bool:
        """Propose one; what cannot be a node, or is one that is held back, is left out."""
        try:
            return self._propose(workspace_id, seen, now)
        except (Conflict, ValidationFailed):
            return False

    def _propose(self, workspace_id: UUID, seen: Repeated, now: datetime) -> bool:
        node = observation(seen)
        present = self.graph.get_node(workspace_id, node.label, node.natural_key)
        if present is not None:
            known = present.dump
            if known.status is not Status.PROVISIONAL or known.properties == node.properties:
                return False
            self.graph.write(workspace_id, [node], importing=False)
            return True
        customer = customer_node(seen.customer)
        known = self.graph.get_node(workspace_id, customer.label, customer.natural_key)
        missing: list[Dump] = [] if known else [customer]
        relation = Relation.APPLIES_TO.value
        edge = clean_edge(node.ref, customer.ref, relation, float(seen.times), {}, now)
        self.graph.write(workspace_id, [*missing, node, edge], importing=False)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A provisional node as it is shown."""

    id: UUID
    label: str
    natural_key: str
    properties: dict[str, Any]
    provenance: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """Shows what is proposed to admins, and takes their decisions.

    Raises Denied for other keys, NotFound, Conflict (`already-decided`).
    """

    graph: ReviewedGraphOf
    clock: Clock

    def page(
        self, principal: Principal, *, before: UUID | None = None, limit: int = 50
    ) -> tuple[Proposal, ...]:
        """Return what waits for a person, the newest first."""
        principal.require(Role.ADMIN)
        graph = self.graph(principal)
        found = graph.provisional(principal.workspace_id, LABELS, before=before, limit=limit)
        return tuple(_shown(one) for one in found)

    def accept(self, principal: Principal, node_id: UUID) -> Proposal:
        """Make a proposal active: from now on planners are shown it."""
        graph, one = self._waiting(principal, node_id)
        dump = one.dump
        active = clean_node(
            dump.label, dump.natural_key, dict(dump.properties), Provenance.OPERATOR, Status.ACTIVE
        )
        records: list[Dump] = [active]
        customer = str(dump.properties.get("customer") or "")
        if customer and graph.get_node(principal.workspace_id, "customer", customer):
            source = ("customer", customer)
            holds, now = Relation.HAS_FACT.value, self.clock()
            records.append(clean_edge(source, dump.ref, holds, 1.0, {}, now))
        graph.write(principal.workspace_id, records, importing=False)
        return _shown(graph.node(principal.workspace_id, node_id) or one)

    def reject(self, principal: Principal, node_id: UUID) -> Proposal:
        """Archive a proposal; it is not proposed again."""
        graph, one = self._waiting(principal, node_id)
        graph.mark_archived(principal.workspace_id, node_id)
        return _shown(graph.node(principal.workspace_id, node_id) or one)

    def _waiting(self, principal: Principal, node_id: UUID) -> tuple[ReviewedGraph, MemoryNode]:
        principal.require(Role.ADMIN)
        graph = self.graph(principal)
        one = graph.node(principal.workspace_id, node_id)
        if one is None or one.dump.label not in LABELS:
            raise NotFound("There is no such proposal.", node_id=str(node_id))
        if one.dump.status is not Status.PROVISIONAL:
            raise Conflict("This was decided before.", reason="already-decided")
        return graph, one


def observation(seen: Repeated) -> NodeDump:
    """Return the node that says what was seen again and again."""
    customer = f"customer:{seen.customer}"
    properties = {
        "text": f"{seen.tool} {seen.outcome} in {seen.times} investigations of this customer.",
        "tool": seen.tool,
        "outcome": seen.outcome,
        "times": seen.times,
        "customer": customer,
        "investigation_ids": [str(one) for one in seen.investigation_ids],
        "data_subjects": [customer],
    }
    key = f"observation:{seen.tool}:{seen.outcome}:{customer}"
    return clean_node("observation", key, properties, Provenance.PROPOSED, Status.PROVISIONAL)


def _shown(one: MemoryNode) -> Proposal:
    dump = one.dump
    return Proposal(
        id=one.id,
        label=dump.label,
        natural_key=dump.natural_key,
        properties=dict(dump.properties),
        provenance=dump.provenance.value,
        status=dump.status.value,
    )
