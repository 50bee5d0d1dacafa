"""Small graphs by letter: node "a" and its edges, with ids that sort by letter."""

from typing import Any
from uuid import UUID

from cairn.graph.quality import GraphEdge


def node(name: str) -> UUID:
    """Return the id that stands for a name of up to 16 characters."""
    return UUID(bytes=name.encode().ljust(16, b"\0"))


def edge(source: str, relation: str, target: str, **changes: Any) -> GraphEdge:
    """Return an edge; a name in capitals is an entity, any other a memory."""
    given: dict[str, Any] = {
        "id": node(f"{source}{relation[:3]}{target}"[:16]),
        "view": "entity",
        "relation": relation,
        "source_id": node(source),
        "target_id": node(target),
        "source_label": "Entity" if source.isupper() else "Memory",
        "target_label": "Entity" if target.isupper() else "Memory",
    }
    return GraphEdge(**(given | changes))
