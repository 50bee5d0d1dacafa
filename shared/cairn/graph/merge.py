"""One ranking out of several intents' walks. Pure formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.graph.intent_weights import Intent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

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
