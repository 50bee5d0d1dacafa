"""A circuit breaker: an endpoint that keeps failing is left alone for a while. Not a retry."""

from __future__ import annotations

from contextlib import contextmanager
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING

from cairn.kernel.errors import CairnError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from cairn.kernel.clock import Stopwatch

FAILURES = 5
COOL_SECONDS = 30.0
MOST_ENDPOINTS = 1_000
"""Breakers kept; beyond it those whose circuits are closed are forgotten."""


class Circuit(StrEnum):
    """closed -> open (failures in a row) -> half_open (after a while) -> closed or open."""

    CLOSED = "closed"  # requests pass
    OPEN = "open"  # none passes
    HALF_OPEN = "half_open"  # one passes, and decides


class CircuitOpen(Unavailable):
    """Nothing was sent: the endpoint is left alone. Not worth a retry before `retry_after`."""


class Breaker:
    """Counts one endpoint's failures in a row; safe between threads, and of this process only.

    `is_fault` says which errors mean that the endpoint is ill; after any other it is well enough.
    `reason` is that of the refusal while the circuit is open.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        is_fault: Callable[[CairnError], bool],
        reason: str,
        stopwatch: Stopwatch,
        failures: int = FAILURES,
        cool_seconds: float = COOL_SECONDS,
    ) -> None:
        self._endpoint = endpoint
        self._is_fault = is_fault
        self._reason = reason
        self._stopwatch = stopwatch
        self._most = failures
        self._cool = cool_seconds
        self._lock = Lock()
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> Circuit:
        """Return the state at this moment."""
        with self._lock:
            return self._state()

    @contextmanager
    def guard(self) -> Generator[None]:
        """Let one request through and learn from how it ends.

        Raises CircuitOpen (with the state and the seconds until the next try) without a request
        while the circuit is open, or half open with one on its way.
        """
        probe = self._admit()
        ill: bool | None = None  # neither: whoever asked was interrupted
        try:
            yield
            ill = False
        except CairnError as problem:
            ill = self._is_fault(problem)
            raise
        finally:
            self._learn(ill, probe=probe)

    def _admit(self) -> bool:
        """Return whether this request is the one that decides about a half open circuit."""
        with self._lock:
            state = self._state()
            if state is Circuit.OPEN or (state is Circuit.HALF_OPEN and self._probing):
                raise CircuitOpen(
                    f"{self._endpoint} failed too often; it is left alone for a while.",
                    reason=self._reason,
                    retry_after=max(1.0, self._left()),
                    endpoint=self._endpoint,
                    circuit=state.value,
                )
            probe = state is Circuit.HALF_OPEN
            self._probing = self._probing or probe
            return probe

    def _learn(self, ill: bool | None, *, probe: bool) -> None:
        with self._lock:
            if probe:
                self._probing = False
            if ill is None:
                return
            if not ill:
                self._failures, self._opened_at = 0, None
                return
            self._failures += 1
            closed = self._opened_at is None
            if probe or (closed and self._failures >= self._most):
                self._opened_at = self._stopwatch()

    def _state(self) -> Circuit:
        if self._opened_at is None:
            return Circuit.CLOSED
        return Circuit.OPEN if self._left() > 0 else Circuit.HALF_OPEN

    def _left(self) -> float:
        began = self._stopwatch() if self._opened_at is None else self._opened_at
        return began + self._cool - self._stopwatch()


class Breakers:
    """One breaker for each address, all of one kind. Safe between threads."""

    def __init__(
        self, *, is_fault: Callable[[CairnError], bool], reason: str, stopwatch: Stopwatch
    ) -> None:
        self._is_fault = is_fault
        self._reason = reason
        self._stopwatch = stopwatch
        self._lock = Lock()
        self._kept: dict[str, Breaker] = {}

    def of(self, address: str, name: str) -> Breaker:
        """Return the breaker of `address`, whose refusals call the endpoint `name`."""
        with self._lock:
            if address not in self._kept:
                if len(self._kept) >= MOST_ENDPOINTS:
                    self._forget()
                self._kept[address] = Breaker(
                    name, is_fault=self._is_fault, reason=self._reason, stopwatch=self._stopwatch
                )
            return self._kept[address]

    def _forget(self) -> None:
        self._kept = {
            address: breaker
            for address, breaker in self._kept.items()
            if breaker.state is not Circuit.CLOSED
        }
