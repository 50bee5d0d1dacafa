"""The signals that move a candidate up or down, and the score they make. Pure; no reading."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from cairn.graph.node import Label
from cairn.kernel.text.words import words
from cairn.memories.kinds import MemoryKind
from cairn.recall.questions.understanding import TIME_WORDS, Understanding, nearness, of_oneself
from cairn.recall.recipes import Recipe, SignalWeights
from cairn.recall.records import Sketch
from cairn.recall.second_pass import Measured

DECAY_PER_DAY = 0.98
ACCESS_WEIGHT = 0.3
DECAYING_KINDS = frozenset({"fact", "status"})
LOG_OF_LONG = math.log(60)  # a text of 60 words gets the whole length signal

Signal = Callable[[Sketch, Understanding], float]
"""Measures one thing about a candidate, in [0, 1]."""

_WORD_OR_NUMBER = re.compile(r"[a-z]+|\d+")
_NAME_INSIDE = re.compile(r"[A-Z](?<=[^.!?:]\s[A-Z])[a-z]+")  # capitals first: they are few
_LONGEST_SPEAKER = 40
_USER = "user"  # the kind of a message that a person wrote
_OF_USER = re.compile(r"(?:the )?user\b", re.IGNORECASE)
NAMES_OF_SPECIFIC = 3  # a text with three names gets the whole signal


class Scored(NamedTuple):
    """A candidate with its final score and what it is made of. A tuple, because hundreds are."""

    sketch: Sketch
    score: float
    signals: Mapping[str, float]


def decay(node: Sketch, at: datetime, factor: float = DECAY_PER_DAY) -> float:
    """Return confidence x factor^days since last access (since recorded, when never accessed).

    Facts and statuses lose confidence unused; for other kinds the value is reported and does not
    rank (see `ranking_decay`). Never above the stored confidence.
    """
    return decayed(node.confidence, node.last_accessed_at or node.recorded_at, at, factor)


def decayed(
    confidence: float, since: datetime, at: datetime, factor: float = DECAY_PER_DAY
) -> float:
    """Return confidence x factor^days between two moments; a clock behind `since` takes nothing."""
    days = max(0.0, (at - since).total_seconds() / 86400)
    return confidence * math.pow(factor, days)


def ranking_decay(node: Sketch, at: datetime, factor: float = DECAY_PER_DAY) -> float:
    """Return `decay` for facts and statuses; 1.0 for what is pinned or records history."""
    fades = node.kind in DECAYING_KINDS and not node.pinned
    return decay(node, at, factor) if fades else 1.0


def access_boost(access_count: int) -> float:
    """Return 1 + 0.3 log2(access_count + 1): 1.0, 1.3, 1.6, 1.9 for 0, 1, 3, 7 accesses."""
    return 1.0 + ACCESS_WEIGHT * math.log2(access_count + 1)


def score_all(
    nodes: Sequence[Sketch],
    fused: Mapping[UUID, float],
    understanding: Understanding,
    recipe: Recipe,
    at: datetime,
) -> list[Scored]:
    """Return the nodes scored, best first; ties go to the younger position.

    score = (fused + sum of weight x signal) x decay factor x access factor, where a factor f enters
    with the recipe's share s as 1 + s (f - 1).
    """
    signals = _signals_of(understanding, recipe)
    points = [fused[node.id] for node in nodes]
    lifts = _lift_by_parents(nodes, points, recipe.signals.parent)
    scored = [
        _scored(node, own, lifts.get(_parent(node)), signals, understanding, recipe, at)
        for node, own in zip(nodes, points, strict=True)
    ]
    return sorted(scored, key=_best_first)


def _best_first(each: Scored) -> tuple[float, int]:
    return -each.score, -each.sketch.position


def score_again(
    first: Sequence[Scored],
    measured: Mapping[UUID, Measured],
    fused: Mapping[UUID, float],
    by_keyword: Mapping[UUID, float],
    recipe: Recipe,
) -> list[Scored]:
    """Return what the first pass scored with the weights of the second, best first.

    `by_keyword` is the keyword leg's part of the fused scores: in its stead, `words` counts.
    Candidates without token vectors are as far as the least alike of the others.
    """
    second = recipe.second_pass
    if second is None:
        return list(first)
    ratios = _ratios(recipe.signals, second)
    least = min(
        (measure.late for measure in measured.values() if measure.late is not None), default=0.0
    )
    own = [
        _own_parts(each, measured.get(each.sketch.id), fused, by_keyword, second, ratios, least)
        for each in first
    ]
    lifts = _lifts([each.sketch for each in first], own, second.parent)
    again: list[Scored] = []
    for each, parts, lift in zip(first, own, lifts, strict=True):
        if lift:
            parts["parent"] = lift
        factor, boost = each.signals["decay_factor"], each.signals["access_boost"]
        score = sum(parts.values()) * factor * boost
        parts["decay_factor"], parts["access_boost"] = factor, boost
        again.append(Scored(each.sketch, score, parts))
    return sorted(again, key=_best_first)


def _ratios(first: SignalWeights, second: SignalWeights) -> list[tuple[str, float]]:
    """Return by what a signal of the first pass is multiplied to have the second one's weight."""
    weights = [(name, getattr(first, name), getattr(second, name)) for name in _FIRST]
    return [(name, after / before) for name, before, after in weights if before and after]


def _own_parts(
    each: Scored,
    measure: Measured | None,
    fused: Mapping[UUID, float],
    by_keyword: Mapping[UUID, float],
    second: SignalWeights,
    ratios: Sequence[tuple[str, float]],
    least: float,
) -> dict[str, float]:
    """Return the parts of a candidate's score, but for what its session or document adds."""
    signals = each.signals
    parts = {"fused": signals["fused"]}
    for name, ratio in ratios:
        if value := signals.get(name):
            parts[name] = value * ratio
    if measure is None:
        return parts
    if second.words and (
        part := second.words * measure.share - by_keyword.get(each.sketch.id, 0.0)
    ):
        parts["words"] = part
    if measure.late is not None and (part := second.late * (measure.late - least)):
        parts["late"] = part
    if part := second.whole * measure.whole:
        parts["whole"] = part
    if part := second.answers * measure.answers:
        parts["answers"] = part
    if measure.after_id and (part := second.next * fused.get(measure.after_id, 0.0)):
        parts["next"] = part
    return parts


_MATCH = ("fused", "words", "late", "whole")
"""What the second pass measures of how well a text matches, in itself."""


def _lifts(
    nodes: Sequence[Sketch], own: Sequence[Mapping[str, float]], weight: float
) -> list[float]:
    """Return what the session or document around each candidate adds to it.

    Of a session that is its best fused score; of a document its best match as the second pass
    measures it, else the first pass' score would be most of the second's. What stands in neither
    is its own session.
    """
    points = [parts["fused"] for parts in own]
    sessions = _lift_by_parents(nodes, points, weight)
    documents: dict[UUID, float] = {}
    for node, parts in zip(nodes, own, strict=True):
        if document_id := _document(node):
            match = weight * sum(parts.get(name, 0.0) for name in _MATCH)
            documents[document_id] = max(documents.get(document_id, match), match)
    lifts: list[float] = []
    for node, fused in zip(nodes, points, strict=True):
        if document_id := _document(node):
            lifts.append(documents[document_id])
        else:
            lifts.append(sessions.get(node.session_id, 0.0) if node.session_id else weight * fused)
    return lifts


def _document(node: Sketch) -> UUID | None:
    """Return the document a node is, or is a part of."""
    return None if node.session_id else node.document_id


_FIRST = ("speaker", "time", "time_words", "length", "question", "specifics")
"""Signals that both passes weigh, apart from the parent's."""


def _signals_of(understanding: Understanding, recipe: Recipe) -> list[tuple[str, float, Signal]]:
    """Return the signals that can differ between candidates of this search, with their weights."""
    weights = recipe.signals
    possible: list[tuple[str, float, Signal, bool]] = [
        (
            "speaker",
            weights.speaker,
            said_by_named,
            bool(understanding.names) or understanding.of_asker,
        ),
        ("time", weights.time, happened_then, understanding.hint is not None),
        ("time_words", weights.time_words, names_a_time, understanding.asks_when),
        ("length", weights.length, length, True),
        ("question", weights.question, asks, True),
        ("specifics", weights.specifics, names_specifics, True),
    ]
    return [
        (name, weight, signal) for name, weight, signal, applies in possible if weight and applies
    ]


def _scored(
    node: Sketch,
    fused: float,
    lift: float | None,
    signals: Sequence[tuple[str, float, Signal]],
    understanding: Understanding,
    recipe: Recipe,
    at: datetime,
) -> Scored:
    parts = {"fused": fused}
    for name, weight, signal in signals:
        if value := signal(node, understanding):
            parts[name] = weight * value
    if lift:
        parts["parent"] = lift
    factor = 1.0 + recipe.decay * (ranking_decay(node, at, recipe.decay_factor) - 1.0)
    boost = 1.0
    if node.access_count:
        boost += recipe.access * (access_boost(node.access_count) - 1.0)
    score = sum(parts.values()) * factor * boost
    parts["decay_factor"], parts["access_boost"] = factor, boost
    return Scored(node, score, parts)


def said_by_named(node: Sketch, understanding: Understanding) -> float:
    """Return 1 when the node was said by, or is about, somebody the question names or its asker."""
    if understanding.of_asker and is_of_asker(node, understanding.client_id):
        return 1.0
    for name in (_speaker(node.text), node.source_agent, node.subject, node.canonical_name):
        if name and not understanding.names.isdisjoint(_name_words(name)):
            return 1.0
    return 0.0


def is_of_asker(node: Sketch, client_id: str | None) -> bool:
    """Return whether a node is what a user stated, or what is known of the client who asks.

    Without a client that is what was drawn from a conversation, or speaks in the first person or
    of the user; not a line of a transcript, which names somebody.
    """
    if node.label == Label.MESSAGE and node.kind == _USER:
        mine = client_id in (None, node.client_id)
        return mine and of_oneself(node.text) and not _ends_as_question(node.text)
    if node.label != Label.MEMORY:
        return False
    if client_id is not None:
        return node.client_id == client_id
    if node.parent_id is not None and node.kind != MemoryKind.EVENT:  # drawn from a message
        return True
    if _OF_USER.match(node.text):
        return True
    return _speaker(node.text) is None and of_oneself(node.text)


def _speaker(text: str) -> str | None:
    """Return the name that a line of a transcript begins with."""
    beginning, colon, _ = text[:_LONGEST_SPEAKER].partition(": ")
    return beginning if colon else None


@lru_cache(maxsize=4096)
def _name_words(name: str) -> frozenset[str]:
    return frozenset(words(name))


def happened_then(node: Sketch, understanding: Understanding) -> float:
    """Return how near the node happened to the time the question names, in [0, 1]."""
    return nearness(understanding.hint, node.occurred_at) if understanding.hint else 0.0


def names_a_time(node: Sketch, understanding: Understanding) -> float:
    """Return 1 when the question asks for a time and the text has one."""
    if not understanding.asks_when:
        return 0.0
    return 0.0 if TIME_WORDS.isdisjoint(_WORD_OR_NUMBER.findall(node.text.lower())) else 1.0


def length(node: Sketch, understanding: Understanding) -> float:
    """Return ln(1 + words) / ln(60), at most 1, for what was said in a session; else 1.

    Of messages the short ones greet and agree. Passages of documents are as long as they were cut,
    and a fact is no worse for being short, also when it was drawn from what was said.
    """
    if node.session_id is None or (node.label == Label.MEMORY and node.kind != MemoryKind.EVENT):
        return 1.0
    return min(1.0, math.log1p(len(node.text.split())) / LOG_OF_LONG)


def asks(node: Sketch, understanding: Understanding) -> float:
    """Return 1 when the text ends as a question: it wants an answer more than it gives one."""
    return 1.0 if _ends_as_question(node.text) else 0.0


def _ends_as_question(text: str) -> bool:
    return text.rstrip().endswith(("?", "\uff1f"))


def names_specifics(node: Sketch, understanding: Understanding) -> float:
    """Return the names in the text (capitals inside a sentence) by thirds, at most 1.

    A message that names people, places or titles tells more than one that agrees or greets. 0 for
    what was not said in a session.
    """
    if node.session_id is None:
        return 0.0
    beginning, colon, statement = node.text.partition(": ")
    text = statement if colon and len(beginning) < _LONGEST_SPEAKER else node.text
    return min(1.0, len(_NAME_INSIDE.findall(text)) / NAMES_OF_SPECIFIC)


def _parent(node: Sketch) -> str | UUID | None:
    return node.session_id or node.document_id


def _lift_by_parents(
    nodes: Sequence[Sketch], points: Sequence[float], weight: float
) -> dict[str | UUID | None, float]:
    """Return what each session or document adds to its members: its best fused score, weighted."""
    best: dict[str | UUID | None, float] = {}
    if not weight:
        return best
    for node, fused in zip(nodes, points, strict=True):
        if (parent := _parent(node)) and weight * fused > best.get(parent, 0.0):
            best[parent] = weight * fused
    return best
