"""What an investigation may spend, over all its processes. Not what a model costs: `llm` says that.

Time is that of the steps, by a monotonic clock: waiting for a person or for a place in the queue
costs nothing, and a clock that jumps changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.investigations.state import Spending
from cairn.llm.budget import Budget, Limits, Spent

if TYPE_CHECKING:
    from cairn.kernel.clock import Stopwatch
    from cairn.tickets.persona import Persona


def budget_of(persona: Persona, spending: Spending, stopwatch: Stopwatch) -> Budget:
    """Return the persona's budget with what earlier steps spent carried on."""
    limits = Limits(
        tokens=persona.max_tokens,
        usd=persona.max_usd,
        seconds=float(persona.max_seconds),
        iterations=persona.max_iterations,
    )
    spent = Spent(
        tokens=spending.tokens,
        usd=spending.usd,
        seconds=spending.ms / 1000,
        iterations=spending.iterations,
        unpriced_calls=spending.unpriced_calls,
    )
    return Budget(limits, stopwatch=stopwatch, spent=spent)


def spending_of(budget: Budget) -> Spending:
    """Return what was spent so far, to be kept with the transition."""
    spent = budget.spent
    return Spending(
        tokens=spent.tokens,
        usd=spent.usd,
        ms=round(max(spent.seconds, 0.0) * 1000),
        iterations=spent.iterations,
        unpriced_calls=spent.unpriced_calls,
    )
