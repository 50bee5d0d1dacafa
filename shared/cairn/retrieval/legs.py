"""Running the legs of a search side by side, each with its deadline. Not what a leg looks for."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass

from cairn.clock import Stopwatch
from cairn.errors import CairnError
from cairn.retrieval.records import Candidate

Leg = Callable[[], Sequence[Candidate]]

LATE = "late"


@dataclass(frozen=True, slots=True, kw_only=True)
class LegOutcome:
    """What one leg did. `failure` is None, `late`, or the reason of the error it ended with."""

    candidates: tuple[Candidate, ...] = ()
    ms: float = 0.0
    failure: str | None = None


def run_legs(
    legs: Mapping[str, Leg], *, pool: Executor, deadline_s: float, stopwatch: Stopwatch
) -> dict[str, LegOutcome]:
    """Run all legs at once and return what each found, in the order given, within `deadline_s`.

    A leg that raises one of Cairn's errors, or has not answered in time, is an outcome with its
    failure and no candidates; the others stand. A late leg ends by its own statement timeout.
    """
    start = stopwatch()
    running = {name: pool.submit(_timed, leg, stopwatch) for name, leg in legs.items()}
    return {
        name: _outcome(future, start + deadline_s - stopwatch()) for name, future in running.items()
    }


def _timed(leg: Leg, stopwatch: Stopwatch) -> LegOutcome:
    start = stopwatch()
    try:
        found = tuple(leg())
    except CairnError as error:
        return LegOutcome(ms=(stopwatch() - start) * 1000, failure=error.reason)
    return LegOutcome(candidates=found, ms=(stopwatch() - start) * 1000)


def _outcome(future: Future[LegOutcome], seconds_left: float) -> LegOutcome:
    try:
        return future.result(timeout=max(0.0, seconds_left))
    except TimeoutError:
        future.cancel()
        return LegOutcome(failure=LATE)
