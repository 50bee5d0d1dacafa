"""What allow-lists name, and whether it exists: looked at when a server starts, and by `doctor`.

A list that ships and names what does not exist refuses the start; one of a registered agent
disables that agent (`cairn.accounts.agents`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.accounts.editions import EDITIONS
from cairn.api.chat_tools import ADDS, DOES, NOT_HERE
from cairn.api.mcp.catalogue import TOOLS, resolve
from cairn.api.mcp.reach import GATE_TOOLS
from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.accounts.agents import Agent
    from cairn.api.mcp.tool import Tool
    from cairn.api.middleware import Log
    from cairn.bootstrap.api import ApiServices
    from cairn.kernel.access import Principal

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


def missing(names: Collection[str] | None) -> tuple[str, ...]:
    """Return those of a list of tools that do not exist."""
    return tuple(sorted(name for name in names or () if resolve(name) is None))


def check_agents(services: ApiServices, log: Log) -> None:
    """Disable every registered agent whose list names what does not exist, and say so.

    A workspace that cannot be looked at now is left: each request is held to its list as well.
    """
    try:
        workspaces = services.workspaces()
    except CairnError as problem:
        return _not_checked(log, problem)
    for workspace_id in workspaces:
        try:
            _disable(services, workspace_id, log)
        except CairnError as problem:
            _not_checked(log, problem)


def held_to_its_list(services: ApiServices, caller: Principal, log: Log) -> Principal:
    """Return the caller, disabled where its agent's list names what does not exist."""
    if caller.barred is not None or not missing(caller.agent_tools):
        return caller
    _disable(services, caller.workspace_id, log)
    return replace(caller, barred="disabled")


def _not_checked(log: Log, problem: CairnError) -> None:
    log.error("agents.not_checked", extra={"error": problem.code, "reason": problem.reason})


def _disable(services: ApiServices, workspace_id: UUID, log: Log) -> None:
    for agent in services.agents.disable_drifted(workspace_id, missing):
        fields = {"agent_id": str(agent.id), "missing": list(missing(agent.tools))}
        log.error("agent.tool_drift", extra={"workspace_id": str(workspace_id), **fields})
