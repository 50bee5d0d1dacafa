"""The graph in memory, for tests: the same guards and order as PostgreSQL.

Edges have no history here: in the past are the present ones that are old enough.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.graph.edge import Relation
from cairn.graph.entity_names import lookup_key
from cairn.graph.node import Label, State
from cairn.graph.quality import GraphEdge
from cairn.recall.records import Filters, FoundNode
from cairn.recall.results import (
    INCOMING,
    OUTGOING,
    RELATED_CHARACTERS,
    RELATED_COUNTED,
    Related,
    RelatedNode,
)
from cairn.recall.walks.graph_ports import Seed

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from tests.fakes.stores import InMemoryTransactions, Tables

    from cairn.graph.edge import Edge
    from cairn.graph.node import Node
    from cairn.kernel.access import Principal

Aliases = dict[str, tuple[str, str]]
"""Casefolded alias -> (canonical name, type)."""

_GONE = (State.DELETED, State.QUARANTINED)
_FOUND = (State.ACTIVE, State.PROVISIONAL)
_ASKED_FOR = (Label.ENTITY, Label.SUMMARY)  # no results unless asked for by label
_MOST_ENTITIES = 256
_ENDED_BY = (Relation.SOLVES, Relation.ADDRESSES, Relation.CAUSED_BY)


@dataclass(frozen=True)
class InMemoryGraph:
    """Answers like `PostgresGraph`, over `Tables`."""

    tables: Tables
    principal: Principal
    aliases: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    def find_entities(self, names: Sequence[str], filters: Filters) -> Sequence[Seed]:
        """Return the visible entities of these names and aliases."""
        found: dict[UUID, Seed] = {}
        for name in sorted({lookup_key(name) for name in names}):
            canonical, type_ = self.aliases.get(name, (name, None))
            for node in self._visible(filters, strict=True):
                own = (node.canonical_name or "").lower()
                named = own == name or (own == canonical.lower() and type_ in (None, node.kind))
                if node.label == Label.ENTITY and named:
                    seed = Seed(
                        node_id=node.id,
                        name=name,
                        canonical_name=node.canonical_name or "",
                        type=node.kind,
                    )
                    found.setdefault(node.id, seed)
        return list(found.values())[:_MOST_ENTITIES]

    def starts(self, node_ids: Sequence[UUID], filters: Filters) -> Sequence[tuple[UUID, str]]:
        """Return (id, label) of the nodes a walk may start from."""
        asked = frozenset(node_ids)
        nodes = self._visible(filters, strict=True)
        return [(node.id, node.label) for node in nodes if node.id in asked]

    def extra_labels(
        self, node_ids: Sequence[UUID], filters: Filters
    ) -> Mapping[UUID, Sequence[str]]:
        """Return what nodes are beside their first label."""
        nodes = {node.id: node for node in self._visible(filters, strict=False)}
        return {each: nodes[each].extra_labels for each in node_ids if each in nodes}

    def hop(
        self,
        frontier: Sequence[UUID],
        filters: Filters,
        *,
        per_node: int,
        limit: int,
        relations: Sequence[str] = (),
        timeout_ms: int | None = None,
    ) -> Sequence[GraphEdge]:
        """Return the edges at the frontier."""
        visible = {node.id: node for node in self._visible(filters)}
        found: list[GraphEdge] = []
        for node_id in dict.fromkeys(frontier):
            taken: Counter[tuple[bool, bool]] = Counter()
            for edge in self._edges(filters):
                outgoing = edge.source_id == node_id
                share = (outgoing, edge.relation == Relation.CO_OCCURRENCE)
                at_it = node_id in (edge.source_id, edge.target_id)
                wanted = at_it and (not relations or edge.relation in relations)
                seen = edge.source_id in visible and edge.target_id in visible
                if wanted and seen and taken[share] < per_node:
                    taken[share] += 1
                    found.append(_graph_edge(edge, visible))
        return found[:limit]

    def eligible(self, node_ids: Sequence[UUID], filters: Filters) -> frozenset[UUID]:
        """Return those that may be results."""
        asked = frozenset(node_ids)
        return frozenset(
            node.id
            for node in self._visible(filters, strict=True)
            if node.id in asked and _passes(node, filters)
        )

    def read(self, node_ids: Sequence[UUID], filters: Filters) -> Sequence[FoundNode]:
        """Return the nodes, untagged ones too."""
        asked = frozenset(node_ids)
        return [
            _found_node(node, self.tables.created[node.id])
            for node in self._visible(filters)
            if node.id in asked
        ]

    def summaries(
        self,
        scope: str | None,
        scope_id: str | None,
        filters: Filters,
        *,
        after: tuple[datetime, UUID] | None,
        limit: int,
    ) -> Sequence[UUID]:
        """Return summaries, the latest first."""
        found = sorted(
            (
                (node.occurred_at, node.id)
                for node in self._visible(filters, strict=True)
                if node.label == Label.SUMMARY
                and node.state in _FOUND
                and scope in (None, node.kind)
                and scope_id in (None, *_scope_ids(node))
            ),
            reverse=True,
        )
        return [one for at, one in found if after is None or (at, one) < after][:limit]

    def position_at(self, moment: datetime) -> int:
        """Return the last ledger position recorded at or before `moment`."""
        recorded = (entry.position for entry in self.tables.entries if entry.recorded_at <= moment)
        return max(recorded, default=0)

    def related(
        self, node_ids: Sequence[UUID], filters: Filters, *, cap: int
    ) -> Mapping[UUID, Related]:
        """Return what hangs on each node by one edge."""
        visible = {node.id: node for node in self._visible(filters)}
        found: dict[UUID, Related] = {}
        for of_id in (node_id for node_id in node_ids if node_id in visible):
            beside = [
                _related_node(edge, of_id, visible)
                for edge in self._edges(filters)
                if of_id in (edge.source_id, edge.target_id)
                and edge.source_id in visible
                and edge.target_id in visible
            ]
            beside = _capped(beside)
            if beside:
                found[of_id] = Related(nodes=tuple(beside[:cap]), dropped=max(0, len(beside) - cap))
        return found

    def recurring(
        self, node_ids: Sequence[UUID], *, minimum: float, limit: int
    ) -> Sequence[tuple[UUID, UUID, float]]:
        """Return what resolved earlier nodes like these, and those."""
        nodes = self._present()
        found: dict[UUID, tuple[float, int, UUID]] = {}
        for here, like, score in self._alike(node_ids, nodes, minimum):
            endings = [ending for ending in self._endings(like) if ending in nodes]
            for place, node_id in [
                *((0, ending) for ending in endings),
                *((1, like),) * bool(endings),
            ]:
                if node_id not in node_ids:
                    best = max(found.get(node_id, (0.0, 0, here)), (score, -place, here))
                    found[node_id] = best
        order = sorted(found, key=lambda id_: (-found[id_][0], -found[id_][1], id_))
        return [(item, found[item][2], found[item][0]) for item in order[:limit]]

    def important_connections(
        self, entity_ids: Sequence[UUID], *, minimum: int, limit: int
    ) -> Sequence[tuple[UUID, UUID, float]]:
        """Return important nodes at these entities."""
        nodes = self._present()
        found: dict[UUID, UUID] = {}
        for entity_id in sorted(id_ for id_ in entity_ids if id_ in nodes):
            for edge in self._edges(Filters()):
                ends = {edge.source_id, edge.target_id}
                if entity_id not in ends or edge.relation == Relation.CO_OCCURRENCE:
                    continue
                for node in (nodes[end] for end in ends - {entity_id} if end in nodes):
                    if node.label != Label.ENTITY and node.importance >= minimum:
                        found.setdefault(node.id, entity_id)
        order = sorted((nodes[id_] for id_ in found), key=lambda item: (-item.importance, item.id))
        return [(item.id, found[item.id], float(item.importance)) for item in order[:limit]]

    def used_again(
        self, session_id: str, *, minimum: int, limit: int
    ) -> Sequence[tuple[UUID, UUID, float]]:
        """Return nothing: searches are not kept in memory."""
        return ()

    def judged(self, since: datetime) -> Mapping[str, tuple[int, int]]:
        """Return nothing: feedback is not kept in memory."""
        return {}

    def _present(self) -> dict[UUID, Node]:
        return {item.id: item for item in self._visible(Filters()) if item.state in _FOUND}

    def _alike(
        self, node_ids: Sequence[UUID], nodes: Mapping[UUID, Node], minimum: float
    ) -> Iterable[tuple[UUID, UUID, float]]:
        for edge in self._edges(Filters()):
            score = float(edge.properties.get("score", 0.0))
            if edge.relation != Relation.SIMILAR_TO or score < minimum:
                continue
            pairs = ((edge.source_id, edge.target_id), (edge.target_id, edge.source_id))
            for here, like in ((a, b) for a, b in pairs if a in node_ids and {a, b} <= set(nodes)):
                one, other = nodes[here], nodes[like]
                elsewhere = other.session_id is not None and other.session_id != one.session_id
                if elsewhere and other.occurred_at <= one.occurred_at:
                    yield here, like, score

    def _endings(self, node_id: UUID) -> Iterable[UUID]:
        for edge in self._edges(Filters()):
            if edge.target_id == node_id and edge.relation in _ENDED_BY:
                yield edge.source_id
            if edge.source_id == node_id and edge.relation == Relation.LEADS_TO:
                yield edge.target_id

    def _visible(self, filters: Filters, *, strict: bool = False) -> Iterable[Node]:
        for node in self._standing(filters.as_of_position):
            passes = self.principal.finds(node.agents) or (not strict and node.agents is None)
            scoped = node.scope in self.principal.allowed_scopes
            if scoped and passes and node.state not in _GONE:
                yield node

    def _standing(self, position: int | None) -> Iterable[Node]:
        if position is None:
            return self.tables.nodes.values()
        return (
            version.node
            for versions in self.tables.versions.values()
            for version in versions
            if version.from_position <= position
            and (version.to_position is None or position < version.to_position)
        )

    def _edges(self, filters: Filters) -> list[Edge]:
        position = filters.as_of_position
        edges = [
            edge
            for edge in self.tables.edges.values()
            if position is None or edge.position <= position
        ]
        return sorted(edges, key=lambda edge: (edge.weight, edge.id), reverse=True)


@dataclass(frozen=True)
class InMemoryGraphStores:
    """The parts of `Stores` that walks read."""

    graph: InMemoryGraph


@dataclass(frozen=True)
class InMemoryGraphTransactions:
    """Reading transactions over the workspaces of `transactions`; writing is not its business."""

    transactions: InMemoryTransactions
    aliases: Aliases = field(default_factory=dict[str, tuple[str, str]])

    @contextmanager
    def reading(
        self, principal: Principal, *, timeout_ms: int | None = None
    ) -> Generator[InMemoryGraphStores]:
        """Open a transaction over what stands now."""
        tables = self.transactions.workspaces[principal.workspace_id].snapshot()
        yield InMemoryGraphStores(InMemoryGraph(tables, principal, self.aliases))

    @contextmanager
    def writing(
        self, principal: Principal, *, once: str | None = None
    ) -> Generator[InMemoryGraphStores]:
        """Refuse: walks read."""
        raise NotImplementedError
        yield


def _scope_ids(node: Node) -> tuple[str | None, ...]:
    return (node.source_agent,) if node.kind == "agent" else (node.session_id, node.trace_id)


def _graph_edge(edge: Edge, nodes: Mapping[UUID, Node]) -> GraphEdge:
    properties: Mapping[str, Any] = edge.properties
    score = properties.get("score")
    return GraphEdge(
        id=edge.id,
        view=edge.view,
        relation=edge.relation,
        source_id=edge.source_id,
        target_id=edge.target_id,
        source_label=nodes[edge.source_id].label,
        target_label=nodes[edge.target_id].label,
        weight=edge.weight,
        score=None if score is None else float(score),
        mechanism=properties.get("mechanism"),
        role=properties.get("role"),
    )


def _capped(beside: list[RelatedNode]) -> list[RelatedNode]:
    counted = [
        item
        for direction in (OUTGOING, INCOMING)
        for item in [each for each in beside if each.direction == direction][:RELATED_COUNTED]
    ]
    return sorted(counted, key=lambda item: (-item.weight, item.relation, item.node_id))


def _related_node(edge: Edge, of_id: UUID, nodes: Mapping[UUID, Node]) -> RelatedNode:
    outgoing = edge.source_id == of_id
    node = nodes[edge.target_id if outgoing else edge.source_id]
    return RelatedNode(
        of_id=of_id,
        node_id=node.id,
        label=node.label,
        kind=node.kind,
        relation=edge.relation,
        view=edge.view,
        direction=OUTGOING if outgoing else INCOMING,
        text=node.text[:RELATED_CHARACTERS],
        title=node.title,
        canonical_name=node.canonical_name,
        importance=node.importance,
        occurred_at=node.occurred_at,
        weight=edge.weight,
    )


def _passes(node: Node, filters: Filters) -> bool:
    past = filters.include_superseded or filters.valid_at is not None
    at = filters.valid_at
    return (
        (node.state in _FOUND or (past and node.state in (State.SUPERSEDED, State.ARCHIVED)))
        and (node.label in filters.labels if filters.labels else node.label not in _ASKED_FOR)
        and (not filters.kinds or node.kind in filters.kinds)
        and filters.client_id in (None, node.client_id)
        and (not filters.scopes or node.scope in filters.scopes)
        and (filters.occurred_from is None or node.occurred_at >= filters.occurred_from)
        and (filters.occurred_to is None or node.occurred_at < filters.occurred_to)
        and (at is None or (node.valid_from <= at and (not node.valid_to or at < node.valid_to)))
    )


_SAME = (
    "id", "label", "text", "state", "entry_id", "occurred_at", "recorded_at", "valid_from", "kind",
    "title", "summary", "canonical_name", "slug", "content_hash", "scope", "client_id",
    "source_agent", "observation_count", "session_id", "sequence", "trace_id", "category",
    "importance", "knowledge_category", "key", "subject", "status_value", "metadata",
    "document_id", "parent_id", "ordinal", "source_uri", "line_from", "line_to", "page_from",
    "page_to", "supersedes", "superseded_by", "superseded_at", "confidence", "valid_to",
)  # fmt: skip


def _found_node(node: Node, created: int) -> FoundNode:
    values = {name: getattr(node, name) for name in _SAME}
    return FoundNode(
        **values,
        position=created,
        agents=node.agents or (),
        headings=node.headings or (),
        keywords=node.keywords,
        compiled_truth=node.compiled_truth is not None,
    )
