"""How a step of an investigation begins its line: when, who, what, in the colour of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.text import Text

KINDS = {
    "state": "dim",
    "plan": "cyan",
    "search": "blue",
    "action": "magenta",
    "approval": "yellow",
    "verdict": "green",
    "message": "green",
    "error": "red",
}
"""Kinds of steps, with their colours."""


def begun(step: Mapping[str, Any]) -> Text:
    """Return the beginning of a step's line, for its words to be appended."""
    from rich.text import Text

    colour = KINDS.get(step["kind"], "")
    line = Text()
    line.append(f"{step['at'][11:19]} ", style="dim")
    line.append("● ", style=colour)
    line.append(f"{step['system']:<20} ", style="bold")
    line.append(f"{step['action']:<12} ", style=colour)
    return line
