"""What allow-lists name, and whether it exists: looked at when a server starts, and by `doctor`.

A list that ships and names what does not exist refuses the start; for one of a registered agent
see `drift`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.accounts.editions import EDITIONS
from cairn.api.chat_tools import ADDS, DOES, NOT_HERE
from cairn.api.mcp.catalogue import TOOLS
from cairn.api.mcp.drift import missing
from cairn.api.mcp.reach import GATE_TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cairn.accounts.agents import Agent
    from cairn.api.mcp.tool import Tool

SHIPPED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "the gate": frozenset(GATE_TOOLS),
        "chat": frozenset({*DOES.values(), *ADDS, *NOT_HERE}),
        **{f"the edition {each.name}": each.without for each in EDITIONS.values()},
    }
)
"""The lists of tools that ship, by whose they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many tools lists name, and how many of those there are: the same when all is well."""

    tools: int
    eager: int
    listed: int
    registered: int


def require_shipped(tools: Sequence[Tool] = TOOLS) -> None:
    """Raise RuntimeError where a list that ships names a tool that does not exist."""
    existing = {tool.name for tool in tools}
    drifted = {
        whose: sorted(names - existing) for whose, names in SHIPPED.items() if names - existing
    }
    if drifted:
        raise RuntimeError(f"Lists that ship name tools that do not exist: {drifted}")


def coverage(agents: Iterable[Agent] = ()) -> Coverage:
    """Return it of the lists that ship and of those of agents."""
    listed: set[str] = set()
    listed.update(*SHIPPED.values(), *(agent.tools or () for agent in agents))
    return Coverage(
        tools=len(TOOLS),
        eager=sum(tool.eager for tool in TOOLS),
        listed=len(listed),
        registered=len(listed) - len(missing(listed)),
    )
