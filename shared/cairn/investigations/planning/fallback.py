"""A planner that asks another when the first has no answer. Budgets are nobody's to step over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from cairn.kernel.errors import Unavailable, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.investigations.ports import Planner, Question, Ruling
    from cairn.investigations.state import Plan

Said = TypeVar("Said")


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackPlanner:
    """Asks `first`, and `rules` in its place when it is Unavailable or its request refused.

    `report` is told which part of planning fell back, and why. BudgetExceeded passes through.
    """

    first: Planner
    rules: Planner
    report: Callable[[str, dict[str, Any]], None] = field(default=lambda event, fields: None)

    def triage(self, question: Question) -> Ruling | None:
        """As `Planner`; what rules skip costs no call."""
        return self.rules.triage(question) or self._asked(
            "triage", question, lambda one: one.triage(question)
        )

    def plan(self, question: Question) -> Plan:
        """As `Planner`."""
        return self._asked("plan", question, lambda one: one.plan(question))

    def verdict(self, question: Question) -> Ruling:
        """As `Planner`."""
        return self._asked("verdict", question, lambda one: one.verdict(question))

    def summary(self, question: Question, ruling: Ruling) -> str:
        """As `Planner`."""
        return self._asked("summary", question, lambda one: one.summary(question, ruling))

    def _asked(self, part: str, question: Question, ask: Callable[[Planner], Said]) -> Said:
        try:
            return ask(self.first)
        except (Unavailable, ValidationFailed) as problem:
            fields = {
                "workspace_id": str(question.workspace_id),
                "investigation_id": str(question.investigation_id),
                "part": part,
                "reason": problem.reason,
            }
            self.report("planner.fell_back", fields)
            return ask(self.rules)
