"""What a node that matches the question has of its own, and what others bring it. Pure formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.graph.merge import merge
from cairn.graph.quality import step
from cairn.graph.traversal import HOP_DECAY

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.intent_weights import Intent, Row
    from cairn.graph.neighbourhood import GraphEdge
    from cairn.graph.traversal import Reached


def arrivals(
    nodes: Collection[UUID],
    reached: Mapping[UUID, Reached],
    edges: Sequence[GraphEdge],
    row: Row,
    *,
    max_depth: int,
) -> dict[UUID, float]:
    """Return, of each of `nodes` that has one, the score of the best way to it from a neighbour.

    The neighbour's score in the walk x 0.8 x traverse_score(edge) / greatest weight: one more step
    of the walk. A neighbour that was itself reached over that edge does not count: it would only
    give back what it got. Nor does one at `max_depth`, from which the walk goes no further.
    """
    found: dict[UUID, float] = {}
    for edge in edges:
        ends = (edge.source_id, edge.target_id)
        if ends[0] == ends[1] or not (ends[0] in nodes or ends[1] in nodes):
            continue
        passed = HOP_DECAY * step(edge, row)
        for here, there in (ends, ends[::-1]):
            came = reached.get(there) if here in nodes else None
            if came is None or came.depth >= max_depth or came.via == edge:
                continue
            found[here] = max(found.get(here, 0.0), came.score * passed)
    return found


def with_matches(
    matched: Mapping[UUID, float],
    arrived: Mapping[Intent, Mapping[UUID, float]],
    confidences: Mapping[Intent, float],
) -> dict[UUID, float]:
    """Return the scores of the matched nodes: what each started with + what others bring it.

    What others bring is merged over the intents as the scores of all nodes are. The two are
    added, for they are different evidence: the node's own words, and its place in the graph.
    """
    brought = merge(arrived, confidences)
    return {node_id: own + brought.get(node_id, 0.0) for node_id, own in matched.items()}
