"""PLANNING: ask for the next step. What was decided and not done yet is done first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.connectors.port import ConnectorState
from cairn.investigations import citations
from cairn.investigations.ports import Change
from cairn.investigations.state import NextKind, State, Step
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.checks import clean_json
from cairn.safety.screening import screen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.investigations.ports import Connectors, Planner, Situation
    from cairn.investigations.state import Plan, WorkingMemory
    from cairn.safety.tools import ToolSpec


AUDIT = "audit"
WARNING = " It tries to give orders: a person approves every write from here on."


def observe(situation: Situation) -> Change:
    """Screen the last result: what a tool returns is the text of others, too. Leads to PLANNING."""
    memory = replace(situation.memory, pending=None, plan=None)
    if not memory.observations:
        return _back(memory, "Nothing came back.")
    last = memory.observations[-1]
    injected = screen(last.text).injection
    if injected:
        memory = replace(memory, brief=replace(memory.brief, suspicious=True))
    text = f"{last.connector}.{last.tool}: {last.outcome}."
    return _back(memory, text + (WARNING if injected else ""), citations.tool(last.action_id))


def _back(memory: WorkingMemory, text: str, *cited: str) -> Change:
    line = Step(system=AUDIT, action="observed", detail=text, kind="state", citations=cited)
    return Change(target=State.PLANNING, memory=memory, lines=(line,))


SYSTEM = "planner"
MAX_REASON_CHARS = 1_000
MAX_QUERY_CHARS = 500
MAX_ARGUMENT_BYTES = 64_000
MAX_DEPTH = 16
UNREADABLE = "unreadable arguments"
"""Takes the place of a tool whose arguments are no JSON: no tool is called so, and it is denied."""

_TARGETS: Mapping[NextKind, State] = MappingProxyType(
    {
        NextKind.RETRIEVE: State.RETRIEVING,
        NextKind.ACT: State.SAFETY_CHECK,
        NextKind.CONCLUDE: State.VERDICT,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MakePlan:
    """Asks the planner once; every asking is one iteration of the budget."""

    planner: Planner
    connectors: Connectors

    def __call__(self, situation: Situation) -> Change:
        """Return the state that the plan leads to.

        VERDICT without asking when the verdict stands already, SAFETY_CHECK when an action was
        approved or started and its end is not known: both only after an execution was lost.
        """
        memory = situation.memory
        if memory.verdict is not None:
            return _went_on(memory, State.VERDICT, "The verdict stands.")
        if memory.pending is not None:
            return _went_on(memory, State.SAFETY_CHECK, "Goes on with the action that was begun.")
        situation.budget.iterate()
        tools = offered(self.connectors, situation.workspace_id)
        plan = _readable(self.planner.plan(situation.question(memory, tools)))
        line = Step(
            system=SYSTEM,
            action=plan.kind.value,
            detail=_plan_text(plan),
            kind="plan",
            citations=plan.evidence,
        )
        memory = replace(memory, plan=plan)
        return Change(target=_TARGETS[plan.kind], memory=memory, lines=(line,))


def offered(connectors: Connectors, workspace_id: UUID) -> tuple[ToolSpec, ...]:
    """Return the tools of connectors that run, by their keys."""
    gone = (ConnectorState.DEGRADED, ConnectorState.SHUTDOWN)
    manifests = (
        connector.manifest
        for connector in connectors.connectors(workspace_id)
        if connector.state not in gone
    )
    tools = [tool for manifest in manifests if manifest is not None for tool in manifest.tools]
    return tuple(sorted(tools, key=lambda tool: tool.key))


def readable(text: str, most: int) -> str:
    """Return a text every store keeps: no NUL, no half of a surrogate pair, cut."""
    clean = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
    return clean[:most]


def _went_on(memory: WorkingMemory, target: State, why: str) -> Change:
    line = Step(system=SYSTEM, action="went_on", detail=why, kind="plan")
    return Change(target=target, memory=memory, lines=(line,))


def _readable(plan: Plan) -> Plan:
    """Return a plan that can be kept; a call whose arguments are no JSON names no tool any more."""
    tool, arguments = plan.tool, plan.arguments
    try:
        clean_json(
            dict(arguments), field="arguments", max_bytes=MAX_ARGUMENT_BYTES, max_depth=MAX_DEPTH
        )
    except ValidationFailed:
        tool, arguments = UNREADABLE, {}
    return replace(
        plan,
        reason=readable(plan.reason, MAX_REASON_CHARS),
        query=readable(plan.query, MAX_QUERY_CHARS),
        connector=readable(plan.connector, 100),
        tool=readable(tool, 200),
        arguments=arguments,
        evidence=tuple(readable(item, 2_000) for item in plan.evidence[:50]),
    )


def _plan_text(plan: Plan) -> str:
    what = {
        NextKind.RETRIEVE: f"Search: {plan.query}.",
        NextKind.ACT: f"Call {plan.connector}.{plan.tool}.",
        NextKind.CONCLUDE: "Conclude.",
    }[plan.kind]
    return f"{what} {plan.reason} ({plan.provider})"
