"""Nodes and edges of the graph in PostgreSQL: what writing them reads, and aliases. Not views."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store
from cairn.graph.node import State
from cairn.graph.projection import Alias, AliasRemoval, readers_key
from cairn.nodes.ports import StoredEdge, StoredNode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.projection import AliasRow


class PostgresGraphNodes(Store):
    """Implements `ingestion.node_ports.GraphNodeStore`."""

    def find(self, node_ids: Collection[UUID]) -> Mapping[UUID, StoredNode]:
        """Return those of the nodes the principal may see, by id."""
        found = [_node(row) for row in self.run("graph_node.find", ids=list(node_ids))]
        return {one.id: one for one in found}

    def edges_of(self, node_id: UUID, *, limit: int) -> Sequence[StoredEdge]:
        """Return edges that hold now and touch the node, by id."""
        return _edges(self.run("graph_node.edges_of", id=node_id, limit=limit))

    def edges_closed_at(
        self, node_id: UUID, moment: datetime, *, limit: int
    ) -> Sequence[StoredEdge]:
        """Return the node's edges that were closed at exactly `moment`, by id."""
        rows = self.run("graph_node.edges_closed_at", id=node_id, moment=moment, limit=limit)
        return _edges(rows)


class PostgresAliases(Store):
    """Implements `ingestion.node_ports.AliasStore`, and applies what entries say of aliases."""

    def aliases(self, scope: str, agents: Collection[str] | None) -> Mapping[str, tuple[str, str]]:
        """Return canonical name and type by alias, of exactly this audience."""
        readers = readers_key(tuple(agents) if agents is not None else None)
        rows = self.run("graph_node.aliases", scope=scope, readers=readers)
        return {alias: (name, type_) for alias, name, type_ in rows}

    def apply(self, rows: Iterable[AliasRow]) -> None:
        """Apply rows in order."""
        for row in rows:
            name = (
                "graph_node.set_aliases" if isinstance(row, Alias) else "graph_node.remove_aliases"
            )
            self.run(name, rows=json.dumps([_alias_row(row)]))


def _alias_row(row: AliasRow) -> dict[str, object]:
    given: dict[str, object] = {
        "scope": row.scope,
        "readers": row.readers,
        "alias": row.alias,
        "position": row.position,
    }
    if isinstance(row, AliasRemoval):
        return given
    return given | {
        "agents": list(row.agents) if row.agents is not None else None,
        "canonical_name": row.canonical_name,
        "entity_type": row.entity_type,
        "origin": row.origin,
    }


def _node(row: tuple[Any, ...]) -> StoredNode:
    node_id, label, kind, name, state, scope, agents, subjects, client, *positions, by, when = row
    return StoredNode(
        id=node_id,
        label=label,
        kind=kind,
        name=name,
        state=State(state),
        scope=scope,
        agents=tuple(agents) if agents is not None else None,
        data_subjects=tuple(subjects),
        client_id=client,
        created_position=positions[0],
        position=positions[1],
        superseded_by=by,
        superseded_at=when,
    )


def _edges(rows: Iterable[tuple[Any, ...]]) -> list[StoredEdge]:
    return [
        StoredEdge(
            id=edge_id,
            view=view,
            relation=relation,
            source_id=source,
            target_id=target,
            weight=weight,
            properties=properties,
        )
        for edge_id, view, relation, source, target, weight, properties in rows
    ]
