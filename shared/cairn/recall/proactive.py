"""Nodes nobody asked for and the graph says matter: few, marked, each with its signal.

Conservative: a signal speaks only where the evidence is strong and readers do not mostly say that
it is of no use, and all of them together add at most `PROACTIVE_CAP` nodes. Not part of the
ranking; the caller puts them after the results.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.stores import Stores
    from cairn.recall.records import Filters

PROACTIVE_CAP = 5
PER_SIGNAL = 3
MIN_SIMILARITY = 0.9
"""Of a recurring pattern; an edge SIMILAR_TO exists from 0.85."""
MIN_IMPORTANCE = 7
"""Of an entity's connection: the bands high and critical."""
MIN_ACCESSES = 2
"""Of a node of the session's earlier searches since it was returned."""
REDUCED_WEIGHT = 0.5
"""Of a proactive node against a result of the same evidence."""
JUDGED_DAYS = timedelta(days=30)
"""Judgements older than this no longer mute a signal, so one that was muted is tried again."""
LEAST_JUDGED = 10
LEAST_USEFUL = 0.5
"""Of a signal's judgements, or it is muted."""


class Signal(StrEnum):
    """Why a node is shown that was not asked for."""

    RECURRING_PATTERN = "recurring_pattern"  # like something in another session, and how it ended
    ENTITY_CONTEXT = "entity_context"  # hangs on an entity of the question, and is important
    RETRIEVAL_HISTORY = "retrieval_history"  # shown earlier in this session, and used again


@dataclass(frozen=True, slots=True, kw_only=True)
class Surfaced:
    """A node a signal names. `score` is in [0, 1], already at reduced weight."""

    node_id: UUID
    signal: Signal
    score: float
    because: UUID | None = None  # the result, entity or search it comes from


def surface(
    stores: Stores,
    *,
    results: Sequence[UUID],
    entity_ids: Sequence[UUID],
    session_id: str | None,
    filters: Filters,
    now: datetime,
    chosen: Mapping[str, bool] = MappingProxyType({}),
    cap: int = PROACTIVE_CAP,
) -> tuple[Surfaced, ...]:
    """Return at most `cap` proactive nodes, best first; none of them among `results`.

    Nothing for a search in the past: what matters now did not then. Nothing of a muted signal:
    `chosen` are those a workspace has switched itself.

    A node several signals name carries the strongest. Scores: likeness x 0.5, importance / 10 x
    0.5, and accesses / 5 (at most 1) x 0.5.
    """
    surfaced: list[Surfaced] = []
    if filters.as_of_position is not None:
        return ()
    quiet = muted(stores.graph.judged(now - JUDGED_DAYS), chosen)
    if results and Signal.RECURRING_PATTERN not in quiet:
        rows = stores.graph.recurring(results, minimum=MIN_SIMILARITY, limit=PER_SIGNAL)
        surfaced += _surfaced(Signal.RECURRING_PATTERN, rows, best=1.0)
    if entity_ids and Signal.ENTITY_CONTEXT not in quiet:
        rows = stores.graph.important_connections(
            entity_ids, minimum=MIN_IMPORTANCE, limit=PER_SIGNAL
        )
        surfaced += _surfaced(Signal.ENTITY_CONTEXT, rows, best=10.0)
    if session_id and Signal.RETRIEVAL_HISTORY not in quiet:
        rows = stores.graph.used_again(session_id, minimum=MIN_ACCESSES, limit=PER_SIGNAL)
        surfaced += _surfaced(Signal.RETRIEVAL_HISTORY, rows, best=5.0)
    return strongest(surfaced, without=results, cap=cap)


def muted(judged: Mapping[str, tuple[int, int]], chosen: Mapping[str, bool]) -> frozenset[Signal]:
    """Return the signals that are not to speak: as the workspace says, else as readers do."""
    return frozenset(
        signal for signal in Signal if not chosen.get(signal, not _unhelpful(judged.get(signal)))
    )


def _unhelpful(judged: tuple[int, int] | None) -> bool:
    count, useful = judged or (0, 0)
    return count >= LEAST_JUDGED and useful / count < LEAST_USEFUL


def strongest(
    surfaced: Sequence[Surfaced], *, without: Sequence[UUID], cap: int
) -> tuple[Surfaced, ...]:
    """Return each node once with its strongest signal, best first, at most `cap` of them."""
    excluded = frozenset(without)
    best: dict[UUID, Surfaced] = {}
    for each in surfaced:
        held = best.get(each.node_id)
        if each.node_id not in excluded and (held is None or each.score > held.score):
            best[each.node_id] = each
    ordered = sorted(best.values(), key=lambda each: (-each.score, each.node_id))
    return tuple(ordered[:cap])


def _surfaced(
    signal: Signal, rows: Sequence[tuple[UUID, UUID, float]], *, best: float
) -> list[Surfaced]:
    return [
        Surfaced(
            node_id=node_id,
            signal=signal,
            score=min(evidence / best, 1.0) * REDUCED_WEIGHT,
            because=because,
        )
        for node_id, because, evidence in rows[:PER_SIGNAL]
    ]


def proactive_json(each: Surfaced) -> Mapping[str, object]:
    """Return what an answer says of a node that is shown proactively."""
    return {
        "retrieval_reason": "proactive",
        "proactive_signal": each.signal.value,
        "because": str(each.because) if each.because else None,
    }
