"""The JSON form of a subgraph, the same for HTTP and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.graph.merge import MIN_CONFIDENCE, SECOND_OPINION
from cairn.graph.traversal import MOST
from cairn.recall.atlas import node_json
from cairn.recall.proactive import proactive_json

if TYPE_CHECKING:
    from cairn.graph.neighbourhood import GraphEdge
    from cairn.recall.walks.subgraph import ShownNode, Subgraph

_DECIMALS = 6


def subgraph_json(found: Subgraph) -> dict[str, Any]:
    """Return nodes, edges and meta, ready to be written."""
    return {
        "nodes": [_node(each) for each in found.nodes],
        "edges": [edge_json(edge) for edge in found.edges],
        "meta": _meta(found),
    }


def edge_json(edge: GraphEdge) -> dict[str, Any]:
    """Return an edge; what it does not say is left out."""
    shown = {
        "edge_id": str(edge.id),
        "source_id": str(edge.source_id),
        "target_id": str(edge.target_id),
        "relation": edge.relation,
        "view": edge.view,
        "weight": edge.weight,
        "score": edge.score,
        "mechanism": edge.mechanism,
        "role": edge.role,
    }
    return {name: value for name, value in shown.items() if value is not None}


def _node(each: ShownNode) -> dict[str, Any]:
    reason: dict[str, Any] = {"retrieval_reason": "direct", "depth": each.depth}
    if each.via is not None:
        reason["via"] = str(each.via)
    if each.surfaced is not None:
        reason = dict(proactive_json(each.surfaced))
    scores = {name: round(value, _DECIMALS) for name, value in each.scores.items()}
    return {**node_json(each.node), "scores": scores, **reason}


def _meta(found: Subgraph) -> dict[str, Any]:
    request, explored = found.request, found.exploration
    named = {seed.node_id: f"entity:{seed.canonical_name}" for seed in explored.seeds}
    return {
        "query_ms": round(found.query_ms, 3),
        "nodes_returned": len(found.nodes),
        "edges_returned": len(found.edges),
        "truncated": found.truncated,
        "retrieval_method": explored.method.value,
        "inferred_intents": {}
        if request.intent
        else {intent.value: sure for intent, sure in found.intents.items()},
        "intent_override": request.intent.value if request.intent else None,
        "seed_nodes": [named.get(node_id, str(node_id)) for node_id in explored.seed_ids],
        "proactive_nodes_count": sum(each.surfaced is not None for each in found.nodes),
        "scoring_weights": {
            "hop_decay": found.hop_decay,
            "minimum_confidence": MIN_CONFIDENCE,
            "second_opinion": SECOND_OPINION,
        },
        "capacity": {
            "max_nodes": request.max_nodes,
            "used_nodes": len(found.nodes),
            "max_depth": request.max_depth,
            "timeout_ms": request.timeout_ms,
            "explored_nodes": len(explored.labels),
            "limits": {
                "max_nodes": MOST.max_nodes,
                "max_depth": MOST.max_depth,
                "timeout_ms": MOST.timeout_ms,
            },
        },
        "as_of_position": found.as_of_position,
        "warnings": list(found.warnings),
    }
