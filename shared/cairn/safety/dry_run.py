"""Whether a call is only rehearsed. Not how: tools do it themselves, or the host in their place.

    rehearsed = not approved and (autonomy is not act, or the tool is dangerous)     for writes

`approved` is a person's word, a standing grant's, or the tool's own: one that says above which
autonomy it runs by itself has approved what lies above. Reads are called as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.safety.action import Outcome
from cairn.safety.tools import Autonomy, Lane

if TYPE_CHECKING:
    from cairn.safety.tools import ToolSpec


def is_rehearsed(
    tool: ToolSpec, autonomy: Autonomy, outcome: Outcome, *, approved: bool = False
) -> bool:
    """Return whether a call may be made as a dry run only; what waits for a person always may."""
    if approved:
        return False
    if outcome is Outcome.NEEDS_APPROVAL:
        return True
    if tool.lane is Lane.READ:
        return False
    return autonomy is not Autonomy.ACT or (tool.dangerous and not _says_itself(tool, autonomy))


def may_rehearse(tool: ToolSpec, outcome: Outcome | None) -> bool:
    """Return whether a person can be shown what a call would do: a write that waits for them."""
    return outcome is Outcome.NEEDS_APPROVAL and tool.lane is Lane.WRITE


def _says_itself(tool: ToolSpec, autonomy: Autonomy) -> bool:
    above = tool.requires_approval_above_autonomy
    return above is not None and autonomy.rank > above.rank
