"""OBSERVING: look at what an action brought before a planner does. Not the call, nor redaction:
the act step hides values before a result is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.investigations import citations
from cairn.investigations.situation import Change
from cairn.investigations.state import State, Step
from cairn.safety.screening import screen

if TYPE_CHECKING:
    from cairn.investigations.situation import Situation
    from cairn.investigations.state import WorkingMemory

SYSTEM = "audit"
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
    said = f"{last.connector}.{last.tool}: {last.outcome}."
    return _back(memory, said + (WARNING if injected else ""), citations.tool(last.action_id))


def _back(memory: WorkingMemory, said: str, *cited: str) -> Change:
    line = Step(system=SYSTEM, action="observed", detail=said, kind="state", citations=cited)
    return Change(target=State.PLANNING, memory=memory, lines=(line,))
