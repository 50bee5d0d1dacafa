"""How an investigation ends without a model: budgets, errors, and what only a person may do.

Pure: the verdict is fixed, and the message comes from a template.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.investigations import citations
from cairn.investigations.situation import Change
from cairn.investigations.state import State, Step, Verdict
from cairn.investigations.transitions import EDGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.investigations.situation import Situation
    from cairn.investigations.state import WorkingMemory
    from cairn.kernel.errors import BudgetExceeded, CairnError

SYSTEM = "cairn"

_BUDGETS: Mapping[str, str] = MappingProxyType(
    {
        "budget-tokens": "The tokens it may use are spent.",
        "budget-usd": "The money it may cost is spent.",
        "budget-seconds": "The time it may take is over.",
        "budget-iterations": "It has taken as many steps as it may.",
    }
)

_SAID: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.AUTO_RESOLVED: "This ticket was resolved automatically",
        Verdict.NEEDS_TECH: "A technician has to look at this ticket",
        Verdict.NEEDS_L2: "A specialist has to look at this ticket",
        Verdict.NEEDS_CLIENT: "This ticket waits for an answer of the requester",
        Verdict.SKIPPED: "This ticket was not investigated",
        Verdict.FAILED: "The investigation of this ticket failed",
        Verdict.FAILED_BUDGET: "The investigation of this ticket stopped at its budget",
    }
)


def fixed(memory: WorkingMemory, verdict: Verdict, reason: str) -> WorkingMemory:
    """Return the memory with a verdict no model is asked about; the first one fixed stays."""
    if memory.verdict is not None:
        return memory
    return replace(memory, verdict=verdict, verdict_reason=reason)


def template_summary(memory: WorkingMemory) -> str:
    """Return the message that goes with a fixed verdict, its claim with the ticket as source."""
    said = _SAID[memory.verdict or Verdict.FAILED]
    reason = " ".join(memory.verdict_reason.split()).rstrip(".")
    cited = citations.ticket(memory.brief.ticket_id)
    return f"{said}: {reason} {cited}." if reason else f"{said} {cited}."


def spent_out(situation: Situation, error: BudgetExceeded) -> Change:
    """Return the end of an investigation whose budget is spent: a verdict, or what follows one.

    A breach while the verdict is given (its summary could not be paid for) goes on to write back.
    """
    why = _BUDGETS.get(error.reason, "The workspace's budget for models is spent.")
    memory = fixed(situation.memory, Verdict.FAILED_BUDGET, why)
    state = situation.investigation.state
    if state is State.VERDICT:
        memory = replace(memory, summary=template_summary(memory))
    target = State.WRITING_BACK if state is State.VERDICT else State.VERDICT
    line = Step(system=SYSTEM, action="budget", detail=why, kind="error")
    verdict = memory.verdict if state is State.VERDICT else None
    if target not in EDGES[state]:
        raise error
    return Change(target=target, memory=memory, lines=(line,), verdict=verdict, error=error.reason)


def broken(situation: Situation, error: CairnError) -> Change:
    """Return the end of an investigation that an error nobody can repeat away stopped."""
    return halted(situation.memory, Verdict.FAILED, error.detail, code=error.reason)


def halted(memory: WorkingMemory, verdict: Verdict, why: str, *, code: str) -> Change:
    """Return a change to HALTED: a person is called, nothing is written back.

    Nobody would be called about what was resolved: that verdict does not stand. Another one does,
    and whoever is called reads what stopped it before its reason.
    """
    if memory.verdict is Verdict.AUTO_RESOLVED:
        memory = replace(memory, verdict=None)
    elif memory.verdict is not None:
        memory = replace(memory, verdict_reason=f"{why} {memory.verdict_reason}".strip())
    memory = fixed(memory, verdict, why)
    line = Step(system=SYSTEM, action="halted", detail=why, kind="error")
    return Change(
        target=State.HALTED, memory=memory, lines=(line,), verdict=memory.verdict, error=code
    )


def handed_over(memory: WorkingMemory, why: str, *, code: str, action: str = "handed") -> Change:
    """Return a change to VERDICT with needs_tech: what happens next is for a person to say."""
    memory = fixed(memory, Verdict.NEEDS_TECH, why)
    line = Step(system=SYSTEM, action=action, detail=why, kind="error")
    return Change(target=State.VERDICT, memory=memory, lines=(line,), error=code)
