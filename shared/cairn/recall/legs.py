"""Running the legs of a search side by side, each with its deadline. Not what a leg looks for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from cairn.kernel.clock import Stopwatch
from cairn.kernel.errors import CairnError
from cairn.recall.keyword_index import NotedCandidates
from cairn.recall.records import Candidate
from cairn.recall.walks.graph_ports import GraphFound

Leg = Callable[[], Sequence[Candidate] | GraphFound]

LATE = "late"
N = TypeVar("N")


@dataclass(frozen=True, slots=True, kw_only=True)
class LegOutcome:
    """What one leg did. `failure` is None, `late`, or the reason of the error it ended with.

    `graph` is the walk, for the leg that walks; `note` says that another than usual answered.
    """

    candidates: tuple[Candidate, ...] = ()
    ms: float = 0.0
    failure: str | None = None
    graph: GraphFound | None = None
    note: str | None = None


def run_legs(
    legs: Mapping[N, Leg], *, pool: Executor, deadline_s: float, stopwatch: Stopwatch
) -> dict[N, LegOutcome]:
    """Run all legs at once and return what each found, in the order given, within `deadline_s`.

    A leg that raises one of Cairn's errors, or has not answered in time, is an outcome with its
    failure and no candidates; the others stand. A late leg ends by its own statement timeout.
    """
    start = stopwatch()
    running = {name: pool.submit(_timed, leg, stopwatch) for name, leg in legs.items()}
    return {
        name: _outcome(future, start + deadline_s - stopwatch()) for name, future in running.items()
    }


def merged(parts: Sequence[Sequence[Candidate]], *, limit: int) -> Sequence[Candidate]:
    """Return what one leg found in several ranges as one: best first, ties in the order found.

    A remark on how one of them was found stays.
    """
    first, *others = parts
    if not others:
        return first
    best = _best(one for part in parts for one in part)
    ranked = sorted(best.items(), key=lambda each: -each[1])[:limit]
    candidates = [Candidate(node_id, score) for node_id, score in ranked]
    notes = [part.note for part in parts if isinstance(part, NotedCandidates)]
    return NotedCandidates(candidates, notes[0]) if notes else tuple(candidates)


def united(outcomes: Sequence[LegOutcome], *, limit: int) -> LegOutcome:
    """Return one leg's outcomes for several wordings of a question as one.

    A node keeps its best score; best first, ties in the order found. The first outcome is of the
    question itself: its failure and its walk are the leg's. `ms` is the slowest's.
    """
    first, *others = outcomes
    if not others:
        return first
    best = _best(one for outcome in outcomes for one in outcome.candidates)
    ranked = sorted(best.items(), key=lambda each: -each[1])[:limit]
    return LegOutcome(
        candidates=tuple(Candidate(node_id, score) for node_id, score in ranked),
        ms=max(outcome.ms for outcome in outcomes),
        failure=first.failure,
        graph=first.graph,
        note=first.note,
    )


def _best(candidates: Iterable[Candidate]) -> dict[UUID, float]:
    best: dict[UUID, float] = {}
    for node_id, score in candidates:
        best[node_id] = max(best.get(node_id, score), score)
    return best


def _timed(leg: Leg, stopwatch: Stopwatch) -> LegOutcome:
    start = stopwatch()
    try:
        found = leg()
    except CairnError as error:
        return LegOutcome(ms=(stopwatch() - start) * 1000, failure=error.reason)
    graph = found if isinstance(found, GraphFound) else None
    candidates = found.candidates if isinstance(found, GraphFound) else tuple(found)
    note = found.note if isinstance(found, NotedCandidates) else None
    ms = (stopwatch() - start) * 1000
    return LegOutcome(candidates=candidates, ms=ms, graph=graph, note=note)


def _outcome(future: Future[LegOutcome], seconds_left: float) -> LegOutcome:
    try:
        return future.result(timeout=max(0.0, seconds_left))
    except TimeoutError:
        future.cancel()
        return LegOutcome(failure=LATE)
