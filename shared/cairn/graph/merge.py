"""Rankings of walks: matches of a query, and several intents merged into one. Pure formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.graph.intent_weights import Intent
from cairn.graph.quality import step
from cairn.graph.traversal import HOP_DECAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.graph.intent_weights import Row
    from cairn.graph.quality import GraphEdge
    from cairn.graph.traversal import Reached


MIN_CONFIDENCE = 0.3
SECOND_OPINION = 0.2


def walked_intents(intents: Mapping[Intent, float]) -> dict[Intent, float]:
    """Return the intents worth a walk: confidence above 0.3; `general` alone when there is none."""
    return {
        intent: min(confidence, 1.0)
        for intent, confidence in intents.items()
        if confidence > MIN_CONFIDENCE
    } or {Intent.GENERAL: 1.0}


def surest(intents: Mapping[Intent, float]) -> Intent:
    """Return the intent with the highest confidence, the first named of equals."""
    return max(intents, key=lambda intent: intents[intent])


def merge(
    by_intent: Mapping[Intent, Mapping[UUID, float]], confidences: Mapping[Intent, float]
) -> dict[UUID, float]:
    """Return every node any walk reached with max(scores) + 0.2 x sum(other scores).

    A walk's scores count by its intent's confidence first: score x confidence. So a node that
    several intents reach stands above one that a single intent reaches as well.
    """
    scores: dict[UUID, list[float]] = {}
    for intent, reached in by_intent.items():
        for node_id, score in reached.items():
            scores.setdefault(node_id, []).append(score * confidences.get(intent, 0.0))
    return {
        node_id: max(each) + SECOND_OPINION * (sum(each) - max(each))
        for node_id, each in scores.items()
    }


def decayed(scores: Mapping[UUID, float], factors: Mapping[UUID, float]) -> dict[UUID, float]:
    """Return the scores times each node's decay factor, 1 for a node without one."""
    return {node_id: score * factors.get(node_id, 1.0) for node_id, score in scores.items()}


def best(scores: Mapping[UUID, float], limit: int) -> list[tuple[UUID, float]]:
    """Return the `limit` best nodes with their scores, best first, ties by id."""
    return sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))[:limit]


def arrivals(
    matched: Mapping[UUID, float],
    reached: Mapping[UUID, Reached],
    edges: Sequence[GraphEdge],
    row: Row,
    *,
    max_depth: int,
) -> dict[UUID, float]:
    """Return, of each matched node that has one, the score of the best way to it from a neighbour.

    The neighbour's score in the walk x 0.8 x traverse_score(edge) / greatest weight: one more step
    of the walk. A neighbour that was itself reached over that edge would give back what it got: it
    counts with what it started with, if it matched too. One at `max_depth` does not count, for the
    walk goes no further from there.
    """
    results: dict[UUID, float] = {}
    for edge in edges:
        ends = (edge.source_id, edge.target_id)
        if ends[0] == ends[1] or not (ends[0] in matched or ends[1] in matched):
            continue
        passed = HOP_DECAY * step(edge, row)
        for here, there in (ends, ends[::-1]):
            came = reached.get(there) if here in matched else None
            if came is None or came.depth >= max_depth:
                continue
            score = matched.get(there, 0.0) if came.via is edge else came.score
            if score * passed > results.get(here, 0.0):
                results[here] = score * passed
    return results


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
