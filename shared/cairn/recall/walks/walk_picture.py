"""A search's walk as a drawing: seeds, what they led to, and the edges between. Pure, from JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.recall.walks.picture import PictureEdge, PictureNode, picture

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def walk_picture(told: Mapping[str, Any]) -> str:
    """Return the SVG of an explained search; it says so when no graph was walked.

    Nodes are those the reader may see (`nodes` of the explanation), by hops from the seeds.
    """
    depths = hops_from(told["seeds"], told["edges"])
    scores = {row["node_id"]: row["score"] for row in told["results"]}
    nodes = [
        PictureNode(
            id=node["node_id"],
            label=node["type"],
            text=node["text"],
            depth=depths.get(node["node_id"]),
            score=scores.get(node["node_id"]),
        )
        for node in told["nodes"]
    ]
    edges = [
        PictureEdge(
            id=str(number),
            source=edge["source_id"],
            target=edge["target_id"],
            relation=edge["relation"],
            note=f"weight {edge['weight']:g}",
        )
        for number, edge in enumerate(told["edges"])
    ]
    walked = "the walk of" if edges else "no graph was walked by"
    return picture(nodes, edges, title=f"{walked} search {told['search_id']}")


def hops_from(seeds: Iterable[str], edges: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many edges each reached node is away from the nearest seed, in any direction."""
    beside: dict[str, list[str]] = {}
    for edge in edges:
        beside.setdefault(edge["source_id"], []).append(edge["target_id"])
        beside.setdefault(edge["target_id"], []).append(edge["source_id"])
    depths = dict.fromkeys(seeds, 0)
    frontier: list[str] = list(depths)
    while frontier:
        reached = [(other, depths[node] + 1) for node in frontier for other in beside.get(node, ())]
        frontier = []
        for other, depth in reached:
            if other not in depths:
                depths[other] = depth
                frontier.append(other)
    return depths
