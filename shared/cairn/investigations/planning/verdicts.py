"""What any verdict has to satisfy, whoever gives it. Not the judging itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.investigations.state import Verdict

if TYPE_CHECKING:
    from cairn.investigations.ports import Ruling
    from cairn.investigations.state import Observation, WorkingMemory

APPLIED = "applied"
UNDONE = frozenset({"denied", "rejected", "unknown"})


def mended(one: Observation) -> bool:
    """Return whether an action really happened: applied, and not only simulated."""
    return one.outcome == APPLIED and not one.dry_run


def sober(ruling: Ruling, memory: WorkingMemory) -> Ruling:
    """Return the ruling, or needs_tech in its place when nothing supports that all is well.

    auto_resolved stands on knowledge that was found or on an action that was applied, and not
    beside an action whose outcome nobody knows, or whose last word was a refusal.
    """
    if ruling.verdict is not Verdict.AUTO_RESOLVED:
        return ruling
    acted = memory.observations
    if any(one.outcome == "unknown" for one in acted):
        return _tech(ruling, "The outcome of an action is not known.")
    if acted and acted[-1].outcome in UNDONE:
        return _tech(ruling, "The last action was refused.")
    if not memory.evidence and not any(mended(one) for one in acted):
        return _tech(ruling, "Nothing was found and nothing was done.")
    return ruling


def _tech(ruling: Ruling, reason: str) -> Ruling:
    return replace(ruling, verdict=Verdict.NEEDS_TECH, reason=reason)
