"""Nodes and edges of the graph in memory: what writing them reads, and aliases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.graph.projection import Alias, readers_key
from cairn.nodes.draft import StoredEdge, StoredNode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.graph.edge import Edge
    from cairn.graph.node import Node
    from cairn.graph.projection import AliasRow
    from cairn.kernel.access import Principal


@dataclass(frozen=True)
class InMemoryGraphNodes:
    """`PostgresGraphNodes` in memory."""

    tables: Tables
    principal: Principal

    def find(self, node_ids: Collection[UUID]) -> Mapping[UUID, StoredNode]:
        """Return those of the nodes the principal may see, deleted ones too, by id."""
        nodes = (self.tables.nodes.get(id_) for id_ in node_ids)
        created = self.tables.created
        return {
            node.id: _node(node, created[node.id])
            for node in nodes
            if node is not None and self._sees(node)
        }

    def edges_of(self, node_id: UUID, *, limit: int) -> Sequence[StoredEdge]:
        """Return edges that hold now and touch the node, by id."""
        touching = [
            _edge(edge)
            for edge in self.tables.edges.values()
            if node_id in (edge.source_id, edge.target_id)
        ]
        return sorted(touching, key=lambda item: item.id)[:limit]

    def edges_closed_at(
        self, node_id: UUID, moment: datetime, *, limit: int
    ) -> Sequence[StoredEdge]:
        """Return the node's edges that were closed at exactly `moment`, by id."""
        closed = [
            _edge(one)
            for one, when in self.tables.closed_edges.values()
            if when == moment and node_id in (one.source_id, one.target_id)
        ]
        return sorted(closed, key=lambda item: item.id)[:limit]

    def _sees(self, node: Node) -> bool:
        in_scope = node.scope in self.principal.allowed_scopes
        return in_scope and self.principal.finds(node.agents)


@dataclass(frozen=True)
class InMemoryAliases:
    """`PostgresAliases` in memory."""

    tables: Tables

    def aliases(self, scope: str, agents: Collection[str] | None) -> Mapping[str, tuple[str, str]]:
        """Return canonical name and type by alias, of exactly this audience."""
        audience = scope, readers_key(tuple(agents) if agents is not None else None)
        return {
            alias.alias: (alias.canonical_name, alias.entity_type)
            for alias in self.tables.aliases.values()
            if (alias.scope, alias.readers) == audience
        }

    def types(
        self, scope: str, agents: Collection[str] | None, names: Collection[str]
    ) -> Mapping[str, str]:
        """Return what entities of exactly this audience are, by name in lower case."""
        audience = scope, readers_key(tuple(agents) if agents is not None else None)
        entities = (node for node in self.tables.nodes.values() if node.label == "Entity")
        return {
            (node.canonical_name or "").lower(): node.kind or ""
            for node in entities
            if (node.scope, readers_key(node.agents)) == audience
            and (node.canonical_name or "").lower() in names
            and node.kind != "concept"
        }

    def apply(self, rows: Iterable[AliasRow]) -> None:
        """Apply rows in order; one that is older than what stands changes nothing."""
        for row in rows:
            key = row.scope, row.readers, row.alias
            stands = self.tables.aliases.get(key)
            if isinstance(row, Alias):
                if stands is None or stands.position < row.position:
                    self.tables.aliases[key] = row
            elif stands is not None and stands.position <= row.position:
                del self.tables.aliases[key]


def _node(node: Node, created_position: int) -> StoredNode:
    return StoredNode(
        id=node.id,
        label=node.label,
        kind=node.kind,
        name=node.canonical_name,
        state=node.state,
        scope=node.scope,
        agents=node.agents,
        data_subjects=node.data_subjects,
        client_id=node.client_id,
        created_position=created_position,
        position=node.position,
        superseded_by=node.superseded_by,
        superseded_at=node.superseded_at,
    )


def _edge(edge: Edge) -> StoredEdge:
    return StoredEdge(
        id=edge.id,
        view=edge.view,
        relation=edge.relation,
        source_id=edge.source_id,
        target_id=edge.target_id,
        weight=edge.weight,
        properties=edge.properties,
    )
