"""What was seen again and again is proposed as a node; only a person makes it active.

Three investigations of tickets that say the same, in which the same was done with the same outcome
for the same customer, make one provisional node. What was done is compared by what tools are for,
not by their names; what tickets say by the words they share. Planners are not shown it before it
was accepted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from cairn.graph.edge import Relation
from cairn.graph.memory_records import NodeDump, Provenance, Status, clean_edge, clean_node
from cairn.investigations.planning.known import stems
from cairn.investigations.planning.records import (
    ACCOUNT,
    DELIVERIES,
    ENDPOINT,
    INVOICES,
    RESET_MFA,
    SIGN_INS,
    UNLOCK,
    parts_of,
    serves,
)
from cairn.investigations.run.moving import read
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.safety.redaction import PLACEHOLDER
from cairn.tickets.sealing import customer_key, requester_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.memory_records import Dump, MemoryNode
    from cairn.investigations.browse import BrowseInvestigations
    from cairn.investigations.journal import Journal
    from cairn.investigations.state import Brief
    from cairn.investigations.views import StepView
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.memory_graph.ledger_graph import LedgerGraph
    from cairn.tickets.ticket import Ticket
    from cairn.tickets.write_back import Desk


LABELS = ("fact", "observation", "resolution")
MAX_TEXT_CHARS = 2_000


GraphOf: TypeAlias = "Callable[[Principal], LedgerGraph]"
"""The memory graph as one principal writes it."""


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
    desk: Desk
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
        content = clean_text(text or line.detail, field="text", max_chars=MAX_TEXT_CHARS)
        workspace_id = principal.workspace_id
        content = self.redact(workspace_id, content)
        investigation = self.browse.glance(principal, investigation_id)
        ticket = self.desk.ticket(workspace_id, investigation.ticket_id)
        node = clean_node(
            label,
            f"{label}:investigation:{investigation_id}:{seq}",
            {
                "text": content,
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
        return Remembered(node_id=node_id, label=label, natural_key=node.natural_key, text=content)

    def _line(self, principal: Principal, investigation_id: UUID, seq: int) -> StepView:
        page = self.browse.steps(principal, investigation_id, after=max(0, seq - 1), limit=1)
        line = next((item for item in page.items if item.seq == seq), None)
        if line is None:
            raise NotFound("The investigation has no such step.", reason="step")
        if not line.readable:
            raise NotFound("Whom this was about was forgotten.", reason="forgotten")
        return line

    def _records(
        self,
        graph: LedgerGraph,
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
            end for end in ends if graph.get_node(workspace_id, end.label, end.natural_key) is None
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
    names = [f"customer:{customer}" if customer else "", f"user:{person}" if person else ""]
    return [item for item in names if item]


def proposed(label: str, key: str, ticket: Ticket) -> NodeDump:
    """Return a node that stands for something known, in case it is not there yet."""
    properties = {"data_subjects": owners(ticket)}
    return clean_node(label, key, properties, Provenance.PROPOSED, Status.PROVISIONAL)


def customer_node(key: str) -> NodeDump:
    """Return the node of a customer by their natural key, in case it is not there yet."""
    return clean_node("customer", f"customer:{key}", {}, Provenance.PROPOSED, Status.PROVISIONAL)


def _refuse(field: str, message: str) -> None:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])


CONFIRMED = 3
"""Investigations that have to have seen the same."""

WINDOW = timedelta(days=90)
AT_ONCE = 200
"""Calls that are looked at, the newest."""

NEWEST = 20
ABOUT = 3
ALIKE = 0.25
"""Share of their words that two tickets of one problem have in common."""

BODY_CHARS = 1_000
USES = (UNLOCK, RESET_MFA, SIGN_INS, ACCOUNT, DELIVERIES, ENDPOINT, INVOICES)


ReviewedGraphOf: TypeAlias = "Callable[[Principal], LedgerGraph]"
"""The memory graph as one principal reviews it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """The same deed with the same outcome for one customer, in tickets that say the same.

    `about` are the words that most of them share; `investigation_ids` are the newest, at most 20.
    """

    deed: str
    outcome: str
    customer: str
    about: tuple[str, ...]
    times: int
    investigation_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeObservations:
    """Writes provisional nodes for what was confirmed often enough; again changes nothing."""

    journal: Journal
    graph: LedgerGraph

    def __call__(self, workspace_id: UUID, now: datetime) -> int:
        """Return how many nodes are new or were seen more often than before."""
        with self.journal.reading(workspace_id) as stores:
            results = stores.candidates.observed(now - WINDOW, AT_ONCE)
        groups: dict[tuple[str, str, str], list[UUID]] = defaultdict(list)
        for item in results:
            same = groups[item.customer, deed(item.tool), item.outcome]
            if item.investigation_id not in same:
                same.append(item.investigation_id)
        texts = self._texts(workspace_id, groups.values())
        return sum(
            self._proposed(workspace_id, item, now)
            for key, same in groups.items()
            for item in repeated(key, [(each, texts.get(each, frozenset())) for each in same])
        )

    def _texts(
        self, workspace_id: UUID, groups: Iterable[Sequence[UUID]]
    ) -> dict[UUID, frozenset[str]]:
        """Return what the tickets of investigations say, of those that could be often enough."""
        often = {item for group in groups if len(group) >= CONFIRMED for item in group}
        results: dict[UUID, frozenset[str]] = {}
        for item in sorted(often):
            with suppress(BodyUnreadable, SubjectForgotten):
                brief = read(self.journal, workspace_id, item).memory.brief
                results[item] = meaning(brief)
        return results

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
            stored = present.dump
            if stored.status is not Status.PROVISIONAL or stored.properties == node.properties:
                return False
            self.graph.write(workspace_id, [node], importing=False)
            return True
        customer = customer_node(seen.customer)
        stored = self.graph.get_node(workspace_id, customer.label, customer.natural_key)
        missing: list[Dump] = [] if stored else [customer]
        relation = Relation.APPLIES_TO.value
        edge = clean_edge(node.ref, customer.ref, relation, float(seen.times), {}, now)
        self.graph.write(workspace_id, [*missing, node, edge], importing=False)
        return True


class ProposalState(StrEnum):
    """Which nodes: those that wait for a person, or those that a person made of a line."""

    PROPOSED = "proposed"
    REMEMBERED = "remembered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A node that is proposed, or was remembered, as it is shown."""

    id: UUID
    label: str
    natural_key: str
    properties: dict[str, Any]
    provenance: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """Shows what is proposed to admins and people, and takes decisions of admins.

    Raises Denied for others, NotFound, Conflict (`already-decided`).
    """

    graph: ReviewedGraphOf
    clock: Clock

    def page(
        self,
        principal: Principal,
        *,
        before: UUID | None = None,
        limit: int = 50,
    ) -> tuple[Proposal, ...]:
        """Return what waits for a person, the newest first."""
        principal.require_person()
        graph = self.graph(principal)
        nodes = graph.provisional(principal.workspace_id, before=before, limit=limit)
        return tuple(_shown(item) for item in nodes)

    def remembered(
        self, principal: Principal, *, before: UUID | None = None, limit: int = 50
    ) -> tuple[Proposal, ...]:
        """Return what people made of lines of timelines, the newest first."""
        principal.require_person()
        graph, workspace_id = self.graph(principal), principal.workspace_id
        nodes = graph.remembered(workspace_id, LABELS, before=before, limit=limit)
        return tuple(_shown(item) for item in nodes)

    def accept(self, principal: Principal, node_id: UUID) -> Proposal:
        """Make a proposal active: from now on planners are shown it."""
        graph, node = self._waiting(principal, node_id)
        dump = node.dump
        active = clean_node(
            dump.label, dump.natural_key, dict(dump.properties), Provenance.OPERATOR, Status.ACTIVE
        )
        records: list[Dump] = [active]
        customer = str(dump.properties.get("customer") or "") if dump.label in LABELS else ""
        if customer and graph.get_node(principal.workspace_id, "customer", customer):
            source = ("customer", customer)
            holds, now = Relation.HAS_FACT.value, self.clock()
            records.append(clean_edge(source, dump.ref, holds, 1.0, {}, now))
        graph.write(principal.workspace_id, records, importing=False)
        return _shown(graph.node(principal.workspace_id, node_id) or node)

    def reject(self, principal: Principal, node_id: UUID) -> Proposal:
        """Archive a proposal; it is not proposed again."""
        graph, node = self._waiting(principal, node_id)
        graph.mark_archived(principal.workspace_id, node_id)
        return _shown(graph.node(principal.workspace_id, node_id) or node)

    def _waiting(self, principal: Principal, node_id: UUID) -> tuple[LedgerGraph, MemoryNode]:
        principal.require(Role.ADMIN)
        graph = self.graph(principal)
        node = graph.node(principal.workspace_id, node_id)
        if node is None:
            raise NotFound("There is no such proposal.", node_id=str(node_id))
        if node.dump.status is not Status.PROVISIONAL:
            raise Conflict("This was decided before.", reason="already-decided")
        return graph, node


def deed(tool: str) -> str:
    """Return what a tool is for, whatever it is called: its use, or the words of its own name."""
    connector, _, name = tool.partition(".")
    use = next((use for use in USES if serves(connector, name, use)), None)
    return use.name if use else "-".join(sorted(parts_of(name)))


def meaning(brief: Brief) -> frozenset[str]:
    """Return the stems of what a ticket says: no placeholders, no names of its customer."""
    text = PLACEHOLDER.sub(" ", f"{brief.title} {brief.body[:BODY_CHARS]}")
    own = stems(brief.customer, brief.language) | stems(" ".join(brief.own_names), brief.language)
    return frozenset(stem for stem in stems(text, brief.language) - own if stem.isalpha())


def repeated(
    key: tuple[str, str, str], statements: Sequence[tuple[UUID, frozenset[str]]]
) -> list[Repeated]:
    """Return the groups of investigations whose tickets say the same, if they are enough. Pure.

    Each joins the first group, from the oldest on, that it shares enough of its words with.
    """
    groups: list[list[tuple[UUID, frozenset[str]]]] = []
    for item in sorted(statements):
        same = next((each for each in groups if _alike(each[0][1], item[1])), None)
        if same is None:
            groups.append([item])
        else:
            same.append(item)
    return [_repeated(key, each) for each in groups if len(each) >= CONFIRMED]


def _repeated(key: tuple[str, str, str], group: Sequence[tuple[UUID, frozenset[str]]]) -> Repeated:
    counts = Counter(word for _, words in group for word in words)
    most = sorted(counts, key=lambda word: (-counts[word], word))[:ABOUT]
    customer, what, outcome = key
    return Repeated(
        deed=what,
        outcome=outcome,
        customer=customer,
        about=tuple(sorted(most)),
        times=len(group),
        investigation_ids=tuple(sorted((node_id for node_id, _ in group), reverse=True)[:NEWEST]),
    )


def _alike(stems: frozenset[str], other: frozenset[str]) -> bool:
    both = stems | other
    return stems == other or (bool(both) and len(stems & other) >= ALIKE * len(both))


def observation(seen: Repeated) -> NodeDump:
    """Return the node that says what was seen again and again."""
    customer = f"customer:{seen.customer}"
    about = ", ".join(seen.about)
    properties = {
        "text": f"{seen.deed} {seen.outcome} in {seen.times} investigations of this customer"
        f" about: {about}.",
        "deed": seen.deed,
        "outcome": seen.outcome,
        "about": list(seen.about),
        "times": seen.times,
        "customer": customer,
        "investigation_ids": [str(id_) for id_ in seen.investigation_ids],
        "data_subjects": [customer],
    }
    key = f"observation:{seen.deed}:{seen.outcome}:{'-'.join(seen.about)}:{customer}"
    return clean_node("observation", key, properties, Provenance.PROPOSED, Status.PROVISIONAL)


def _shown(node: MemoryNode) -> Proposal:
    dump = node.dump
    return Proposal(
        id=node.id,
        label=dump.label,
        natural_key=dump.natural_key,
        properties=dict(dump.properties),
        provenance=dump.provenance.value,
        status=dump.status.value,
    )
