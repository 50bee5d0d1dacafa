"""Disables a registered agent whose list names what is no tool, before it does anything.

Looked at when a server starts, and with each use of tools: a function has no such start.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.api.mcp.catalogue import resolve
from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from cairn.api.middleware import Log
    from cairn.bootstrap.api import ApiServices
    from cairn.kernel.access import Principal


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
