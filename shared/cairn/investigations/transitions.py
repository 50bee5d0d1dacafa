"""The one table of which state follows which. Not who decides: that is the steps'."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.investigations.state import State
from cairn.kernel.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

MAX_DENIALS = 3
"""Denied actions after which an investigation halts."""

EDGES: Mapping[State, Set[State]] = MappingProxyType(
    {
        State.CREATED: frozenset({State.PLANNING, State.VERDICT, State.HALTED}),
        State.PLANNING: frozenset(
            {State.RETRIEVING, State.SAFETY_CHECK, State.VERDICT, State.HALTED}
        ),
        State.RETRIEVING: frozenset({State.PLANNING, State.VERDICT, State.HALTED}),
        State.SAFETY_CHECK: frozenset(
            {
                State.ACTING,
                State.WAITING_APPROVAL,
                State.PLANNING,  # denied once or twice: another way
                State.VERDICT,
                State.HALTED,
            }
        ),
        State.WAITING_APPROVAL: frozenset(
            {
                State.ACTING,  # approved
                State.SAFETY_CHECK,  # edited
                State.PLANNING,  # rejected, or the policy changed meanwhile
                State.VERDICT,
                State.HALTED,  # expired
            }
        ),
        State.ACTING: frozenset({State.OBSERVING, State.VERDICT, State.HALTED}),
        State.OBSERVING: frozenset({State.PLANNING, State.VERDICT, State.HALTED}),
        State.VERDICT: frozenset({State.WRITING_BACK, State.HALTED}),
        State.WRITING_BACK: frozenset({State.DONE, State.HALTED}),
        State.DONE: frozenset(),
        State.HALTED: frozenset(),
    }
)
"""Where each state may lead. Any state that costs leads to VERDICT when its budget is spent."""

RESUMED: Mapping[State, State] = MappingProxyType(
    {
        state: (
            state
            if state in (State.CREATED, State.WAITING_APPROVAL) or state.is_end
            else State.PLANNING
        )
        for state in State
    }
)
"""Where a new execution takes up what a lost one left, once `action.applied` was looked up."""


def check(source: State, target: State) -> None:
    """Raise Conflict (reason `no-such-transition`) for an edge that is none."""
    if target not in EDGES[source]:
        raise Conflict(
            f"An investigation does not go from {source} to {target}.", reason="no-such-transition"
        )
