"""Nodes and entities as readers see them, from PostgreSQL. Not what writing them reads."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store
from cairn.kernel.access import Scope
from cairn.memories.kinds import importance_band
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
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.nodes.read import EntityKey, NodeKey

_SHOWN_RELATIONS = 20

Row = dict[str, Any]


class PostgresNodeViews(Store):
    """Implements `retrieval.nodes.NodeBrowseStores`, and the views themselves."""

    def node(self, node_id: UUID) -> NodeView | None:
        """Return a node that is not deleted, without its edges."""
        rows = self._rows("node_view.one", id=node_id)
        return _node(rows[0]) if rows else None

    def edges(self, node_id: UUID, *, limit: int, most: int) -> EdgesView:
        """Return the strongest edges, and counts of all that were looked at."""
        rows = self._rows("node_view.edges", id=node_id, limit=limit, most=most)
        counts = tuple(_count(row) for row in rows if row["place"] == 1)
        strongest = tuple(_edge(row) for row in rows if row["rank"] <= limit)
        truncated = any(row["touching"] >= most for row in rows)
        return EdgesView(counts=counts, strongest=strongest, truncated=truncated)

    def nodes(self, where: NodeFilter, *, limit: int, after: NodeKey | None) -> Sequence[NodeView]:
        """Return up to `limit` nodes by falling position and id."""
        position, node_id = after or (None, None)
        given: Row = {"limit": limit, "position": position, "after": node_id, **asdict(where)}
        return [_node(row) for row in self._rows("node_view.page", **given)]

    def entity(self, entity_id: UUID, *, most: int) -> EntityDetail | None:
        """Return an entity that is not deleted, merged or not."""
        rows = self._rows("node_view.entity", id=entity_id, most=most)
        if not rows:
            return None
        relations = self._rows(
            "node_view.entity_relations", id=entity_id, most=most, limit=_SHOWN_RELATIONS
        )
        return _entity(rows[0], tuple(_relation(row) for row in relations))

    def entities(
        self, where: EntityFilter, *, limit: int, after: EntityKey | None
    ) -> Sequence[EntityView]:
        """Return up to `limit` present entities by rising sort key and id."""
        sort_key, entity_id = after or (None, None)
        given: Row = {"limit": limit, "sort_key": sort_key, "after": entity_id, **asdict(where)}
        rows = self._rows("node_view.entities", **given)
        return [EntityView(**_guards(row)) for row in rows]

    def _rows(self, name: str, **parameters: Any) -> list[Row]:
        asked = {"workspace_id": self.principal.workspace_id, **parameters}
        with self.connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query(name), asked).fetchall()


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


def _node(row: Row) -> NodeView:
    provenance = _provenance(row)
    shown: Row = _guards(row) | {"keywords": tuple(row["keywords"])}
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
