"""Lineages to export and to draw, without a database."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from cairn.graph.quality import GraphEdge
from cairn.recall.records import FoundNode
from cairn.recall.walks.lineage import Lineage, LineageNode, LineageRequest

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def named(name: str) -> UUID:
    """Return the id that stands for a name of up to 16 characters."""
    return UUID(bytes=name.encode().ljust(16, b"\0")[:16])


def found(name: str, label: str = "Memory", **changes: Any) -> FoundNode:
    """Return a node as its reader sees it."""
    given: dict[str, Any] = {
        "id": named(name),
        "label": label,
        "text": f"about {name}",
        "state": "active",
        "entry_id": named(f"e-{name}"),
        "position": 7,
        "occurred_at": NOON,
        "recorded_at": NOON,
        "valid_from": NOON,
    }
    return FoundNode(**(given | changes))


def joined(source: FoundNode, relation: str, target: FoundNode, **changes: Any) -> GraphEdge:
    """Return an edge between two nodes."""
    given: dict[str, Any] = {
        "id": named(f"{source.text[6:]}>{target.text[6:]}"),
        "view": "causal",
        "relation": relation,
        "source_id": source.id,
        "target_id": target.id,
        "source_label": source.label,
        "target_label": target.label,
    }
    return GraphEdge(**(given | changes))


def lineage(nodes: list[FoundNode], edges: list[GraphEdge]) -> Lineage:
    """Return a lineage of the first node."""
    return Lineage(
        root=nodes[0],
        nodes=tuple(LineageNode(node=node, depth=min(n, 1)) for n, node in enumerate(nodes)),
        edges=tuple(edges),
        request=LineageRequest(node_id=nodes[0].id),
        as_of_position=None,
        truncated=False,
        at=NOON,
    )
