"""When a request to a server is sent again, and after what pause. Not which server."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, TypeVar

from cairn.kernel.errors import RateLimited, Unavailable
from cairn.kernel.resilience.breaker import CircuitOpen

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenacity import RetryCallState

    from cairn.kernel.clock import Stopwatch

STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """Calls again while `is_passing`: `attempts` times at most, and not past `deadline`.

    The pause is what the server asks for, and on top of it between 0 and 0.5, 1, 2, ... 8 seconds
    (full jitter: Brooker, Exponential Backoff And Jitter, 2015). A pause that would end past the
    deadline is not waited for; an open circuit is not asked again.
    """

    attempts: int
    is_passing: Callable[[BaseException], bool]
    stopwatch: Stopwatch
    pause: Callable[[float], None]
    deadline: float = inf

    def __call__(self, send: Callable[[], Result]) -> Result:
        """Return what `send` returns; raises its last error."""
        from tenacity import Retrying, retry_if_exception, wait_random_exponential

        jitter = wait_random_exponential(multiplier=FIRST_PAUSE, max=LONGEST_PAUSE)
        retrying = Retrying(
            retry=retry_if_exception(self._may_pass),
            stop=self._is_over,
            wait=lambda state: _asked_for(state) + jitter(state),
            sleep=self.pause,
            reraise=True,
        )
        return retrying(send)

    def _may_pass(self, problem: BaseException) -> bool:
        return not isinstance(problem, CircuitOpen) and self.is_passing(problem)

    def _is_over(self, state: RetryCallState) -> bool:
        pause = state.upcoming_sleep
        return state.attempt_number >= self.attempts or self.stopwatch() + pause >= self.deadline


def has_passing_status(problem: BaseException) -> bool:
    """Return whether the same request may succeed soon, going by the HTTP status kept with it."""
    return isinstance(problem, Unavailable) and problem.fields.get("status") in STATUSES


def _asked_for(state: RetryCallState) -> float:
    """Return the seconds the server asked for."""
    problem = state.outcome.exception() if state.outcome else None
    return problem.retry_after if isinstance(problem, Unavailable | RateLimited) else 0.0
