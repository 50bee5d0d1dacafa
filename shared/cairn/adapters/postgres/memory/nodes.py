"""Nodes, edges, entities and aliases, written and shown, in PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, keyed, record
from cairn.graph.node import State
from cairn.graph.projection import Alias, AliasRemoval, readers_key
from cairn.kernel.access import Scope
from cairn.memories.kinds import importance_band
from cairn.nodes.draft import StoredEdge, StoredNode
from cairn.nodes.properties import Observed, SeenType
from cairn.nodes.views import (
    EdgeCount,
    EdgesView,
    EdgeView,
    EntityDetail,
    EntityFilter,
    EntityRelation,
    EntityView,
    LinkedNode,
    NodeFilter,
    NodeView,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.projection import AliasRow
    from cairn.nodes.properties import PropertyQuery
    from cairn.nodes.views import EntityKey, NodeKey


EDGE = record(StoredEdge)


class PostgresGraphNodes(Store):
    """Nodes of any label and the edges between them, as the principal's agent may see them."""

    def find(self, node_ids: Collection[UUID]) -> Mapping[UUID, StoredNode]:
        """Return those of the nodes the principal may see, by id."""
        nodes = self.all_of(record(StoredNode, state=State), "graph_node.find", ids=list(node_ids))
        return {item.id: item for item in nodes}

    def edges_of(self, node_id: UUID, *, limit: int) -> Sequence[StoredEdge]:
        """Return up to `limit` edges that hold now and touch the node, in the order of their ids.

        Whether or not the principal may see the other end: for moving them, not for showing.
        """
        return self.all_of(EDGE, "graph_node.edges_of", id=node_id, limit=limit)

    def edges_closed_at(
        self, node_id: UUID, moment: datetime, *, limit: int
    ) -> Sequence[StoredEdge]:
        """Return the node's edges that were closed at exactly `moment`, by id."""
        parameters = {"id": node_id, "moment": moment, "limit": limit}
        return self.all_of(EDGE, "graph_node.edges_closed_at", **parameters)


MAX_NAMED_ENTITIES = 1_000
"""Entities of the same names that are looked at for their types."""


class PostgresAliases(Store):
    """Names of entities. An alias holds in one audience: that of the entity it names."""

    def types(
        self, scope: str, agents: Collection[str] | None, names: Collection[str]
    ) -> Mapping[str, str]:
        """Return what entities of exactly this audience are, by name in lower case.

        Concepts are left out; of several types one stays, always the same.
        """
        parameters = {"scope": scope, "names": sorted(names), "limit": MAX_NAMED_ENTITIES}
        rows = self.rows("graph_node.entity_types", **parameters)
        readers = set(agents) if agents is not None else None
        return {
            row["name"]: row["type"]
            for row in rows
            if (set(row["agents"]) if row["agents"] is not None else None) == readers
        }

    def aliases(self, scope: str, agents: Collection[str] | None) -> Mapping[str, tuple[str, str]]:
        """Return canonical name and type by alias, of exactly this audience."""
        readers = readers_key(tuple(agents) if agents is not None else None)
        aliases = self.all_of(
            keyed(_entity_key, "alias"), "graph_node.aliases", scope=scope, readers=readers
        )
        return dict(aliases)

    def apply(self, rows: Iterable[AliasRow]) -> None:
        """Apply rows in order."""
        for row in rows:
            name = (
                "graph_node.set_aliases" if isinstance(row, Alias) else "graph_node.remove_aliases"
            )
            self.run(name, rows=json.dumps([_alias_row(row)]))


def _alias_row(row: AliasRow) -> dict[str, object]:
    values: dict[str, object] = {
        "scope": row.scope,
        "readers": row.readers,
        "alias": row.alias,
        "position": row.position,
    }
    if isinstance(row, AliasRemoval):
        return values
    return values | {
        "agents": list(row.agents) if row.agents is not None else None,
        "canonical_name": row.canonical_name,
        "entity_type": row.entity_type,
        "origin": row.origin,
    }


def _entity_key(*, canonical_name: str, entity_type: str) -> tuple[str, str]:
    return canonical_name, entity_type


_SHOWN_RELATIONS = 20

Row = dict[str, Any]


class PostgresNodeViews(Store):
    """The nodes a principal may look at. Ids that are gone, hidden or unknown give None."""

    def node(self, node_id: UUID) -> NodeView | None:
        """Return a node that is not deleted, without its edges."""
        rows = self.rows("node_view.one", id=node_id)
        return _node_view(rows[0]) if rows else None

    def edges(self, node_id: UUID, *, limit: int, most: int) -> EdgesView:
        """Return the strongest edges, and counts of all that were looked at."""
        rows = self.rows("node_view.edges", id=node_id, limit=limit, most=most)
        counts = tuple(_count(row) for row in rows if row["place"] == 1)
        strongest = tuple(_edge(row) for row in rows if row["rank"] <= limit)
        truncated = any(row["touching"] >= most for row in rows)
        return EdgesView(counts=counts, strongest=strongest, truncated=truncated)

    def nodes(
        self,
        where: NodeFilter,
        *,
        limit: int,
        after: NodeKey | None,
        properties: PropertyQuery | None = None,
    ) -> Sequence[NodeView]:
        """Return up to `limit` nodes by falling position and id, those with the properties."""
        position, node_id = after or (None, None)
        rows = self.rows(
            "node_view.page",
            **_narrowing(where),
            matching=properties and properties.matching,
            own=properties and properties.own,
            times=json.dumps(properties.times) if properties and properties.times else None,
            # what an index does not know is compared here, so all that it may leave is needed
            most=limit if properties is None or properties.is_indexed else None,
            limit=limit,
            position=position,
            after=node_id,
        )
        return [_node_view(row) for row in rows]

    def observed(self, where: NodeFilter, *, most: int) -> Observed:
        """Return the properties of the newest nodes of some labels, and their types."""
        rows = self.rows("node_view.observed", **_narrowing(where), most=most)
        types: dict[str, set[SeenType]] = {}
        for row in rows:
            if row["name"] is not None:
                types.setdefault(row["name"], set()).add(SeenType(row["type"]))
        return Observed(nodes=rows[0]["nodes"], types=types)

    def entity(self, entity_id: UUID, *, most: int) -> EntityDetail | None:
        """Return an entity that is not deleted, merged or not."""
        rows = self.rows("node_view.entity", id=entity_id, most=most)
        if not rows:
            return None
        relations = self.rows(
            "node_view.entity_relations", id=entity_id, most=most, limit=_SHOWN_RELATIONS
        )
        return _entity(rows[0], tuple(_relation(row) for row in relations))

    def entities(
        self, where: EntityFilter, *, limit: int, after: EntityKey | None
    ) -> Sequence[EntityView]:
        """Return up to `limit` present entities by rising sort key and id."""
        sort_key, entity_id = after or (None, None)
        values: Row = {"limit": limit, "sort_key": sort_key, "after": entity_id, **asdict(where)}
        rows = self.rows("node_view.entities", **values)
        return [EntityView(**_guards(row)) for row in rows]


def _narrowing(where: NodeFilter) -> Row:
    return {"labels": list(where.all_labels), "kind": where.kind, "client_id": where.client_id}


def _guards(row: Row) -> Row:
    changed: Row = {"scope": Scope(row["scope"]), "agents": tuple(row["agents"])}
    return row | changed


def _provenance(row: Row) -> Row:
    """Take what says where a row comes from out of it."""
    return {
        "entry_id": row.pop("entry_id"),
        "position": row["position"],
        "source": "ledger",
        "occurred_at": row.pop("occurred_at"),
        "recorded_at": row.pop("recorded_at"),
        "session_id": row.pop("session_id"),
        "agent_id": row.pop("source_agent"),
        "trace_id": row.pop("trace_id"),
    }


def _node_view(row: Row) -> NodeView:
    provenance = _provenance(row)
    shown: Row = _guards(row) | {name: tuple(row[name]) for name in ("keywords", "labels")}
    return NodeView(
        **shown, importance_band=importance_band(row["importance"]), provenance=provenance
    )


def _count(row: Row) -> EdgeCount:
    return EdgeCount(
        view=row["view"], relation=row["relation"], direction=row["direction"], count=row["alike"]
    )


def _edge(row: Row) -> EdgeView:
    other = LinkedNode(id=row["node_id"], label=row["label"], kind=row["kind"], title=row["title"])
    return EdgeView(
        id=row["id"],
        view=row["view"],
        relation=row["relation"],
        direction=row["direction"],
        weight=row["weight"],
        properties=row["properties"],
        node=other,
    )


def _entity(row: Row, relations: tuple[EntityRelation, ...]) -> EntityDetail:
    first, last = row["first_seen"], row["last_seen"]
    seen = {"first_seen": first or row["occurred_at"], "last_seen": last or row["occurred_at"]}
    provenance = _provenance(row)
    shown: Row = _guards(row) | seen | {"aliases": tuple(row["aliases"])}
    return EntityDetail(**shown, provenance=provenance, relations=relations)


def _relation(row: Row) -> EntityRelation:
    other = LinkedNode(id=row["id"], label="Entity", kind=row["kind"], title=row["title"])
    return EntityRelation(
        relation=row["relation"],
        direction=row["direction"],
        strength=row["strength"],
        entity=other,
    )
