"""What was asked of models, on whose account and for how much: records, and who keeps them.

Never texts: a call is ids, a purpose, a model, counts and an outcome.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from cairn.llm.budget import Spent
from cairn.llm.port import Usage

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cairn.llm.port import Purpose

ANSWERED = "answered"
"""The outcome of a call that was good; every other outcome is a reason, such as chat-busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """On whose account a model is asked: a workspace, and the run (or search) it is part of.

    Each provider is tried `attempts` times at most, all of them together within `seconds`.
    """

    workspace_id: UUID
    run_id: UUID | None = None
    attempts: int = 3
    seconds: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One request to one provider. `cost_usd` None: without a price, or nobody knows.

    A request that failed has no tokens: what a provider that did not answer counts is not known.
    """

    id: UUID
    workspace_id: UUID
    run_id: UUID | None
    purpose: Purpose
    provider: str
    model: str
    started_at: datetime
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None
    ms: float = 0.0
    outcome: str = ANSWERED


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What was spent so far: in the workspace on one day (UTC), and in one run."""

    day: Spent = field(default_factory=Spent)
    run: Spent = field(default_factory=Spent)


class CallLog(Protocol):
    """Keeps the calls of every workspace, each seen by its own workspace only."""

    def spent(self, workspace_id: UUID, run_id: UUID | None, at: datetime) -> Spending:
        """Return what the day of `at` and the run have cost. Raises Unavailable."""
        ...

    def record(self, record: CallRecord) -> None:
        """Keep one call; a second time changes nothing. Raises Unavailable."""
        ...
