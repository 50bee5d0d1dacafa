"""What a search asked of chat models: its budget, and each use with its cost. Not the asking."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING

from cairn.llm.port import Usage

if TYPE_CHECKING:
    from decimal import Decimal

    from cairn.llm.budget import Budget
    from cairn.llm.costs import Call
    from cairn.llm.port import Purpose


class Source(StrEnum):
    """Who answered."""

    RULES = "rules"
    LLM = "llm"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """One attempt to have a chat model answer; `failure` is why the rules answered after all.

    `provider` and `model` are None when none answered. `cost_usd` is None for an unknown price.
    `cached` answers cost nothing and took no call.
    """

    purpose: Purpose
    ms: float
    provider: str | None = None
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None
    failure: str | None = None
    cached: bool = False


class ModelCalls:
    """The model uses of one search, in the order they ended; safe between its threads.

    `call` says on whose account models are asked: the workspace's, for this search.
    """

    def __init__(self, budget: Budget, call: Call) -> None:
        self.budget = budget
        self.call = call
        self._uses: list[ModelUse] = []
        self._lock = Lock()

    def add(self, use: ModelUse) -> None:
        """Write one use down."""
        with self._lock:
            self._uses.append(use)

    @property
    def uses(self) -> tuple[ModelUse, ...]:
        """Return every use so far."""
        with self._lock:
            return tuple(self._uses)

    @property
    def cost_usd(self) -> Decimal:
        """Return what the calls cost together; those without a price are in `uses` with None."""
        return self.budget.spent.usd
