"""The JSON form of a lineage, the same for HTTP and the command line. PROV-JSON is `prov`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.graph.traversal import HOP_DECAY
from cairn.recall.atlas import node_json
from cairn.recall.scoring import decayed
from cairn.recall.walks.subgraph_json import edge_json

if TYPE_CHECKING:
    from cairn.recall.walks.lineage import Lineage, LineageNode

_DECIMALS = 6


def _decay(lineage: Lineage, each: LineageNode) -> float:
    node = each.node
    return decayed(node.confidence, node.last_accessed_at or node.recorded_at, lineage.at)


def lineage_json(lineage: Lineage) -> dict[str, Any]:
    """Return nodes, nearest first, edges and meta, ready to be written."""
    request = lineage.request
    return {
        "root": str(lineage.root.id),
        "nodes": [
            {
                **node_json(each.node),
                "scores": {
                    "relevance_score": round(each.score, _DECIMALS),
                    "decay_score": round(_decay(lineage, each), _DECIMALS),
                    "importance_score": each.node.importance,
                },
                "retrieval_reason": "direct",
                "depth": each.depth,
                **({"via": str(each.via)} if each.via else {}),
            }
            for each in lineage.nodes
        ],
        "edges": [edge_json(edge) for edge in lineage.edges],
        "meta": {
            "query_ms": round(lineage.query_ms, 3),
            "nodes_returned": len(lineage.nodes),
            "truncated": lineage.truncated,
            "direction": request.direction.value,
            "intent_override": request.intent.value if request.intent else None,
            "seed_nodes": [str(lineage.root.id)],
            "scoring_weights": {"hop_decay": HOP_DECAY, "relations": dict(lineage.weights)},
            "capacity": {"max_depth": request.max_depth, "used_nodes": len(lineage.nodes)},
            "as_of_position": lineage.as_of_position,
        },
    }
