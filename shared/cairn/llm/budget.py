"""How much one task may spend on models, checked before each call. Not a quota over time."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from decimal import Decimal
from threading import Lock
from typing import TYPE_CHECKING

from cairn.kernel.errors import BudgetExceeded

if TYPE_CHECKING:
    from cairn.kernel.clock import Stopwatch
    from cairn.llm.port import ChatRequest, Usage

BYTES_A_TOKEN = 3  # of a prompt, fewer than any text has, so that the estimate is rather high


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a task may spend in all; None is no limit of that sort."""

    tokens: int | None = None
    usd: Decimal | None = None
    seconds: float | None = None
    iterations: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a task has spent; `unpriced_calls` cost money nobody knows the amount of."""

    tokens: int = 0
    usd: Decimal = Decimal(0)
    seconds: float = 0.0
    iterations: int = 0
    unpriced_calls: int = 0


class Budget:
    """Counts one task's spending; `spent` of an earlier run is carried on after a resume.

    A check reserves nothing: calls made at the same time may together pass a limit, the next
    cannot.
    """

    def __init__(self, limits: Limits, *, stopwatch: Stopwatch, spent: Spent | None = None) -> None:
        self._limits = limits
        self._stopwatch = stopwatch
        self._spent = spent or Spent()
        self._began = stopwatch()
        self._lock = Lock()

    @property
    def spent(self) -> Spent:
        """Return what has been spent so far, the time since this budget was made included."""
        with self._lock:
            elapsed = self._stopwatch() - self._began
            return replace(self._spent, seconds=self._spent.seconds + elapsed)

    def check(self, *, tokens: int = 0, usd: Decimal | None = None) -> None:
        """Raise BudgetExceeded if a call of this size would pass a limit, or time has run out.

        `usd` is None for a model without a price: then tokens alone decide.
        """
        spent, limits = self.spent, self._limits
        _refuse("tokens", limits.tokens, spent.tokens + tokens)
        _refuse("usd", limits.usd, spent.usd + (usd or Decimal(0)))
        _refuse("seconds", limits.seconds, spent.seconds)

    def iterate(self) -> None:
        """Count one round of a loop; BudgetExceeded, and not counted, when none is left."""
        with self._lock:
            _refuse("iterations", self._limits.iterations, self._spent.iterations + 1)
            self._spent = replace(self._spent, iterations=self._spent.iterations + 1)

    def record(self, usage: Usage, cost_usd: Decimal | None) -> None:
        """Add a call that was made, whether or not it passed a limit."""
        with self._lock:
            self._spent = replace(
                self._spent,
                tokens=self._spent.tokens + usage.total,
                usd=self._spent.usd + (cost_usd or Decimal(0)),
                unpriced_calls=self._spent.unpriced_calls + (cost_usd is None),
            )


def estimate_tokens(request: ChatRequest) -> int:
    """Return the prompt's tokens, rather too many: a third of its UTF-8 bytes, rounded up."""
    texts = [request.system, request.context, *(message.text for message in request.messages)]
    for tool in request.tools:
        texts += [tool.name, tool.description, json.dumps(tool.schema)]
    if request.schema is not None:
        texts.append(json.dumps(request.schema))
    size = sum(len(text.encode("utf-8", errors="replace")) for text in texts)
    return -(-size // BYTES_A_TOKEN)


def _refuse(kind: str, limit: Decimal | float | None, would_be: Decimal | float) -> None:
    if limit is not None and would_be > limit:
        raise BudgetExceeded(
            f"The budget of {limit} {kind} is spent.",
            reason=f"budget-{kind}",
            limit=str(limit),
            would_be=str(would_be),
        )
