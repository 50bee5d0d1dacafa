"""The signals that move a candidate up or down, and the score they make. Pure; no reading."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from cairn.retrieval.recipes import Recipe
from cairn.retrieval.records import Sketch
from cairn.retrieval.time_hints import MONTHS, nearness
from cairn.retrieval.understanding import Understanding
from cairn.text.words import words

DECAY_PER_DAY = 0.98
ACCESS_WEIGHT = 0.3
DECAYING_KINDS = frozenset({"fact", "status"})
LONG_TEXT_WORDS = 60  # a text this long gets the whole length signal

_WORDS_OF_TIME = """
    yesterday today tonight tomorrow recently since ago last weekend day days week weeks month
    months year years monday tuesday wednesday thursday friday saturday sunday spring summer autumn
    winter
"""
TIME_WORDS = frozenset(_WORDS_OF_TIME.split()).union(MONTHS, map(str, range(1900, 2100)))
"""Words of which one at least is in nearly every text that says when something was."""

_WORD_OR_NUMBER = re.compile(r"[a-z]+|\d+")
_LONGEST_SPEAKER = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A candidate with its final score and what it is made of."""

    sketch: Sketch
    score: float
    signals: Mapping[str, float]


def decay(node: Sketch, at: datetime) -> float:
    """Return confidence x 0.98^days since last access (since recorded, when never accessed).

    Facts and statuses lose confidence unused; for other kinds the value is reported and does not
    rank (see `ranking_decay`). Never above the stored confidence.
    """
    since = node.last_accessed_at or node.recorded_at
    days = max(0.0, (at - since).total_seconds() / 86400)
    return node.confidence * math.pow(DECAY_PER_DAY, days)


def ranking_decay(node: Sketch, at: datetime) -> float:
    """Return `decay` for facts and statuses and 1.0 for the others, which record history."""
    return decay(node, at) if node.kind in DECAYING_KINDS else 1.0


def access_boost(access_count: int) -> float:
    """Return 1 + 0.3 log2(access_count + 1): 1.0, 1.3, 1.6, 1.9 for 0, 1, 3, 7 accesses."""
    return 1.0 + ACCESS_WEIGHT * math.log2(access_count + 1)


def score_all(
    nodes: Sequence[Sketch],
    fused: Mapping[UUID, float],
    asked: Understanding,
    recipe: Recipe,
    at: datetime,
) -> list[Scored]:
    """Return the nodes scored, best first; ties go to the younger position.

    score = (fused + sum of weight x signal) x decay factor x access factor, where a factor f enters
    with the recipe's share s as 1 + s (f - 1).
    """
    parents = _best_of_parents(nodes, fused)
    scored = [
        _scored(node, fused[node.id], parents.get(_parent(node), 0.0), asked, recipe, at)
        for node in nodes
    ]
    return sorted(scored, key=lambda found: (-found.score, -found.sketch.position))


def _scored(
    node: Sketch,
    fused: float,
    parent: float,
    asked: Understanding,
    recipe: Recipe,
    at: datetime,
) -> Scored:
    weights = recipe.signals
    parts = {
        "speaker": weights.speaker and weights.speaker * said_by_named(node, asked),
        "time": weights.time and weights.time * happened_then(node, asked),
        "time_words": weights.time_words and weights.time_words * names_a_time(node, asked),
        "length": weights.length and weights.length * length(node),
        "question": weights.question and weights.question * asks(node),
        "parent": weights.parent and weights.parent * parent,
    }
    factor = 1.0 + recipe.decay * (ranking_decay(node, at) - 1.0)
    boost = 1.0 + recipe.access * (access_boost(node.access_count) - 1.0)
    signals = {name: value for name, value in parts.items() if value}
    score = (fused + sum(parts.values())) * factor * boost
    return Scored(
        sketch=node,
        score=score,
        signals={"fused": fused, **signals, "decay_factor": factor, "access_boost": boost},
    )


def said_by_named(node: Sketch, asked: Understanding) -> float:
    """Return 1 when the node was said by, or is about, somebody the question names."""
    if not asked.names:
        return 0.0
    beginning, colon, _ = node.text[:_LONGEST_SPEAKER].partition(": ")
    speaker = beginning if colon else None
    candidates = (speaker, node.source_agent, node.subject, node.canonical_name)
    found = any(name and not asked.names.isdisjoint(_name_words(name)) for name in candidates)
    return 1.0 if found else 0.0


@lru_cache(maxsize=4096)
def _name_words(name: str) -> frozenset[str]:
    return frozenset(words(name))


def happened_then(node: Sketch, asked: Understanding) -> float:
    """Return how near the node happened to the time the question names, in [0, 1]."""
    return nearness(asked.hint, node.occurred_at) if asked.hint else 0.0


def names_a_time(node: Sketch, asked: Understanding) -> float:
    """Return 1 when the question asks for a time and the text has one."""
    if not asked.asks_when:
        return 0.0
    return 0.0 if TIME_WORDS.isdisjoint(_WORD_OR_NUMBER.findall(node.text.lower())) else 1.0


def length(node: Sketch) -> float:
    """Return ln(1 + words) / ln(60), at most 1."""
    return min(1.0, math.log1p(len(node.text.split())) / math.log(LONG_TEXT_WORDS))


def asks(node: Sketch) -> float:
    """Return 1 when the text ends as a question: it wants an answer more than it gives one."""
    return 1.0 if node.text.rstrip().endswith(("?", "\uff1f")) else 0.0


def _parent(node: Sketch) -> str:
    return f"session:{node.session_id}" if node.session_id else f"document:{node.document_id}"


def _best_of_parents(nodes: Sequence[Sketch], fused: Mapping[UUID, float]) -> dict[str, float]:
    best: dict[str, float] = {}
    for node in nodes:
        if node.session_id or node.document_id:
            place = _parent(node)
            best[place] = max(best.get(place, 0.0), fused[node.id])
    return best
