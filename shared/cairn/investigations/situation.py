"""What a step of an investigation is given and what it answers. Pure values; not the steps.

A step may ask models, tools and stores to read. It holds no transaction, and what it wants written
it returns: `RunStep` writes all of it at once, or, when the investigation has moved on, nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cairn.investigations.ports import Question

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.investigations.journal import Page
    from cairn.investigations.state import Investigation, State, Step, Verdict, WorkingMemory
    from cairn.llm.budget import Budget
    from cairn.safety.tools import ToolSpec
    from cairn.tickets.personas import Persona


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """An investigation as a step finds it."""

    investigation: Investigation
    memory: WorkingMemory
    persona: Persona
    budget: Budget

    @property
    def workspace_id(self) -> UUID:
        """Return the workspace."""
        return self.investigation.workspace_id

    def question(self, memory: WorkingMemory, tools: Sequence[ToolSpec] = ()) -> Question:
        """Return what a planner may read: everything but the vault."""
        return Question(
            workspace_id=self.workspace_id,
            investigation_id=self.investigation.id,
            persona=self.persona,
            tools=tools,
            memory=without_vault(memory),
            budget=self.budget,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """An entry a step wants in the ledger: `meta` in clear (ids, codes, counts), `body` sealed."""

    type: str
    meta: Mapping[str, Any]
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])


Effect = Callable[["Page"], None]
"""A change of rows, in the transaction of the transition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a step wants: the next state, the memory, the lines people see, entries and rows."""

    target: State
    memory: WorkingMemory
    lines: tuple[Step, ...]
    facts: tuple[Fact, ...] = ()
    effects: tuple[Effect, ...] = ()
    verdict: Verdict | None = None
    error: str | None = None


StepFunction = Callable[[Situation], Change]


def without_vault(memory: WorkingMemory) -> WorkingMemory:
    """Return the memory as models may see it."""
    return replace(memory, vault={})
