"""Investigations without their machine: a planner, tools that answer from a table, evidence.

It follows plans as the steps do, without safety and storage, so that planners are tested alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from cairn.investigations.planning.heuristic import HeuristicPlanner
from cairn.investigations.ports import Planner, Question, Ruling
from cairn.investigations.state import (
    Brief,
    Evidence,
    NextKind,
    Observation,
    Plan,
    WorkingMemory,
)
from cairn.llm.budget import Budget, Limits
from cairn.safety.tools import Autonomy, Lane, ToolSpec
from cairn.tickets.personas import DEFAULT, Persona

WORKSPACE = UUID(int=1)
INVESTIGATION = UUID("0198a1b2-0000-7000-8000-0000000000aa")
TICKET = UUID("0198a1b2-0000-7000-8000-0000000000bb")

Answer = Callable[[Mapping[str, object]], object]


class ToolFailed(Exception):
    """A tool said that it did not work."""


def spec(key: str, lane: Lane = Lane.READ, **arguments: str) -> ToolSpec:
    """Return a tool; arguments are name=type, a type ending in ? is optional."""
    connector, name = key.split(".")
    return ToolSpec(
        connector=connector,
        name=name,
        description=f"{name} of {connector}",
        schema={
            "type": "object",
            "properties": {one: {"type": kind.strip("?")} for one, kind in arguments.items()},
            "required": [one for one, kind in arguments.items() if not kind.endswith("?")],
        },
        lane=lane,
        requires_approval_above_autonomy=Autonomy.PROPOSE if lane is Lane.WRITE else None,
    )


def question(
    memory: WorkingMemory, tools: Sequence[ToolSpec] = (), persona: Persona = DEFAULT
) -> Question:
    """Return a question without limits."""
    return Question(
        workspace_id=WORKSPACE,
        investigation_id=INVESTIGATION,
        persona=persona,
        tools=tools,
        memory=memory,
        budget=Budget(Limits(), stopwatch=lambda: 0.0),
    )


def brief(
    title: str,
    body: str = "",
    *,
    requester: str = "<EMAIL_1>",
    language: str = "en",
    suspicious: bool = False,
    customer: str = "Harbour Lane",
) -> Brief:
    """Return a redacted ticket."""
    return Brief(
        ticket_id=TICKET,
        source="api",
        external_id="T-1",
        title=title,
        body=body,
        customer=customer,
        requester=requester,
        language=language,
        suspicious=suspicious,
    )


@dataclass
class Desk:
    """Follows a planner's plans: `tools` answer, `documents` are found by every search.

    `refused` maps a tool's key to an outcome (denied, rejected, unknown) in the place of a call.
    """

    tools: Sequence[tuple[ToolSpec, Answer]] = ()
    documents: Sequence[Evidence] = ()
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    planner: Planner = field(default_factory=HeuristicPlanner)
    dry_run: bool = False
    plans: list[Plan] = field(default_factory=list[Plan])

    def work(self, ticket: Brief) -> tuple[Ruling, str, WorkingMemory]:
        """Return how it ended, the message, and the memory at the end."""
        memory = WorkingMemory(brief=ticket)
        asked = question(memory, [tool for tool, _ in self.tools])
        ruling = self.planner.triage(asked)
        while ruling is None:
            plan = self.planner.plan(asked)
            self.plans.append(plan)
            assert len(self.plans) <= 20, "the planner loops"
            if plan.kind is NextKind.CONCLUDE:
                ruling = self.planner.verdict(asked)
            else:
                memory = self._followed(plan, memory)
                asked = question(memory, [tool for tool, _ in self.tools])
        return ruling, self.planner.summary(asked, ruling), memory

    @property
    def called(self) -> list[str]:
        """Return the keys of the tools that were asked for, in order."""
        return [f"{plan.connector}.{plan.tool}" for plan in self.plans if plan.connector]

    def _followed(self, plan: Plan, memory: WorkingMemory) -> WorkingMemory:
        if plan.kind is NextKind.RETRIEVE:
            return replace(
                memory,
                evidence=tuple(self.documents),
                queries=(*memory.queries, plan.query),
            )
        seen = self._called(plan, len(memory.observations))
        return replace(
            memory,
            observations=(*memory.observations, seen),
            denials=memory.denials + (seen.outcome == "denied"),
        )

    def _called(self, plan: Plan, number: int) -> Observation:
        key = f"{plan.connector}.{plan.tool}"
        tool, answer = next(tool for tool in self.tools if tool[0].key == key)
        outcome, text = self.refused.get(key, "applied"), ""
        if outcome == "applied":
            try:
                text = json.dumps(answer(plan.arguments))
            except ToolFailed as problem:
                outcome, text = "failed", str(problem)
        return Observation(
            action_id=UUID(int=0xA000 + number),
            connector=plan.connector,
            tool=plan.tool,
            arguments=plan.arguments,
            outcome=outcome,
            text=text,
            dry_run=self.dry_run and tool.lane is Lane.WRITE,
            evidence=plan.evidence,
        )
