"""A transition, written: the state by compare-and-set, the entry, the timeline, the sealed memory.

Not who decides on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cairn.investigations import citations
from cairn.investigations.ports import Change, Move, StepRow
from cairn.investigations.snapshot import Snapshots, delta
from cairn.investigations.state import EDGES, State, Step, Verdict, check
from cairn.kernel.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.journal import Journal
    from cairn.investigations.ports import Situation
    from cairn.investigations.state import Investigation, WorkingMemory
    from cairn.kernel.errors import BudgetExceeded, CairnError
    from cairn.kernel.stores import Stores
    from cairn.ledger.keys import KeyStore
    from cairn.writing.writer import Write


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
    text = _SAID[memory.verdict or Verdict.FAILED]
    reason = " ".join(memory.verdict_reason.split()).rstrip(".")
    cited = citations.ticket(memory.brief.ticket_id)
    return f"{text}: {reason} {cited}." if reason else f"{text} {cited}."


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


MAX_DETAIL_CHARS = 2_000
"""Of a line of the timeline; what is longer is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An investigation with its working memory."""

    investigation: Investigation
    memory: WorkingMemory


def find_investigation(stores: Stores, investigation_id: UUID) -> Investigation:
    """Return an investigation; NotFound, for another workspace's too."""
    investigation = stores.investigations.find(investigation_id)
    if investigation is None:
        raise NotFound("There is no such investigation.", investigation_id=str(investigation_id))
    return investigation


def unmoved(now: Investigation, seen: Investigation) -> bool:
    """Return whether nothing has moved an investigation since it was seen, in the same run."""
    return (now.state, now.run, now.moved_at) == (seen.state, seen.run, seen.moved_at)


def read(journal: Journal, workspace_id: UUID, investigation_id: UUID) -> Opened:
    """Return an investigation and its memory as they are now.

    Raises NotFound, BodyUnreadable when a data subject was forgotten.
    """
    with journal.reading(workspace_id) as stores:
        investigation = find_investigation(stores, investigation_id)
        sealed = stores.investigations.snapshot(investigation_id)
    return opened(
        journal.platform.keys, Snapshots(cipher=journal.platform.cipher), investigation, sealed
    )


def opened(
    keys: KeyStore, snapshots: Snapshots, investigation: Investigation, sealed: bytes
) -> Opened:
    """Return an investigation with its snapshot opened; BodyUnreadable."""
    workspace_id = investigation.workspace_id
    held = keys.get(workspace_id, investigation.data_subjects or (workspace_id,))
    memory = snapshots.open(investigation, sealed, held)
    return Opened(investigation=investigation, memory=memory)


def moved(
    write: Write, snapshots: Snapshots, before: Opened, change: Change, *, resumed: bool = False
) -> bool:
    """Write a transition; False, with nothing written, when the investigation has moved on.

    What was spent is what the memory says; from now on the investigation is about the write's data
    subjects. Raises Conflict for an edge that is none; what is `resumed` follows `RESUMED` instead.
    """
    investigation = replace(before.investigation, data_subjects=write.data_subjects)
    memory = change.memory
    if not resumed:
        check(investigation.state, change.target)
    move = Move(
        investigation_id=investigation.id,
        run=investigation.run,
        source=investigation.state,
        since=investigation.moved_at,
        target=change.target,
        snapshot=snapshots.seal(investigation, memory, write.resolution.keys),
        spending=memory.spending,
        now=write.now,
        verdict=change.verdict,
        error=change.error,
        data_subjects=write.data_subjects,
    )
    if not write.stores.investigations.move(move):
        return False
    for fact in change.facts:
        write.note(fact.type, {**ids(investigation), **fact.meta}, fact.body)
    for effect in change.effects:
        effect(write)
    type_ = "investigation.resumed" if resumed else "investigation.moved"
    position = write.note(type_, _meta(before, change), _body(before, change))
    add_lines(write, investigation, change.lines, position)
    return True


def add_lines(
    write: Write, investigation: Investigation, lines: Sequence[Step], position: int
) -> None:
    """Append lines to the timeline; their text stands in the entry at `position`."""
    rows = [
        StepRow(
            seq=0,
            state=investigation.state.value,
            system=step.system,
            action=step.action,
            kind=step.kind,
            ms=step.ms,
            position=position,
            line=place,
            at=write.now,
        )
        for place, step in enumerate(lines)
    ]
    write.stores.investigations.add_steps(investigation.id, rows)


def ids(investigation: Investigation) -> dict[str, str]:
    """Return what every entry about an investigation names in clear."""
    return {
        "investigation_id": str(investigation.id),
        "ticket_id": str(investigation.ticket_id),
    }


def line_bodies(lines: Sequence[Step]) -> list[Mapping[str, Any]]:
    """Return the texts of lines as an entry's body holds them."""
    return [
        {
            "system": line.system,
            "action": line.action,
            "detail": line.detail[:MAX_DETAIL_CHARS],
            "kind": line.kind,
            "ms": line.ms,
            "citations": list(line.citations),
        }
        for line in lines
    ]


def _meta(before: Opened, change: Change) -> dict[str, Any]:
    investigation, spending = before.investigation, change.memory.spending
    return {
        **ids(investigation),
        "from": investigation.state.value,
        "to": change.target.value,
        "run": investigation.run,
        "iterations": spending.iterations,
        "tokens": spending.tokens,
        "denials": change.memory.denials,
        "lines": len(change.lines),
    }


def _body(before: Opened, change: Change) -> dict[str, Any]:
    return {
        "lines": line_bodies(change.lines),
        "delta": delta(before.memory, change.memory),
    }
