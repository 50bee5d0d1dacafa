"""The tools of MCP as a chat has them: in process, those that change or delete after a yes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.api.mcp.calling import call_tool, in_session
from cairn.api.mcp.catalogue import usable
from cairn.api.mcp.drift import held_to_its_list
from cairn.chat.tools import Does, Result, Toolbox
from cairn.llm.port import Tool as ModelTool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.api.mcp.tool import Tool
    from cairn.api.middleware import Log
    from cairn.bootstrap.api import ApiServices
    from cairn.kernel.access import Principal

DOES: Mapping[Does, str] = {
    Does.RECALL: "memory_recall",
    Does.REMEMBER: "memory_remember",
    Does.LIST: "memory_list",
    Does.DELETE: "memory_delete",
    Does.TICKET: "ticket_add",
}
ADDS = frozenset({"memory_remember", "memory_judge", "ticket_add"})
"""Tools that write and take nothing away: what a person asks to have kept is kept at once."""

MOST_AT_ONCE = 16
"""Tools that a model is told of together; of more than that, the eager ones first."""

NOT_HERE = frozenset({"conversation_record", "register_agent"})
"""A turn records itself, and a caller registers by itself."""


def toolbox(services: ApiServices, principal: Principal, log: Log, session: str) -> Toolbox:
    """Return the tools of a caller; what they write comes of the chat's session."""
    principal = held_to_its_list(services, principal, log)
    mine = {tool.name: tool for tool in usable(principal) if tool.name not in NOT_HERE}
    return Toolbox(
        tools=tuple(map(described, mine.values())),
        waits=frozenset(name for name, tool in mine.items() if not tool.reads and name not in ADDS),
        call=partial(_called, services, principal, log, mine, session),
        does={does: name for does, name in DOES.items() if name in mine},
        later=_later(mine) if len(mine) > MOST_AT_ONCE else frozenset(),
    )


def _later(tools: Mapping[str, Tool]) -> frozenset[str]:
    """Return the tools that a model searches for: seldom needed, and none that people ask for."""
    eager = {name for name, tool in tools.items() if tool.eager}
    return frozenset(tools) - eager - set(DOES.values())


def described(tool: Tool) -> ModelTool:
    """Return a tool as a model is told of it."""
    return ModelTool(name=tool.name, description=tool.description, schema=tool.input_schema())


def _called(
    services: ApiServices,
    principal: Principal,
    log: Log,
    tools: Mapping[str, Tool],
    session: str,
    name: str,
    arguments: Mapping[str, Any],
) -> Result:
    """Call a tool. One that asks by itself was confirmed before it came here, and is told so."""
    tool = tools[name]
    arguments = in_session(tool, arguments, session)
    result = _once(services, principal, log, tool, arguments)
    structured = result.structured or {}
    if token := structured.get("confirmation"):
        return _once(services, principal, log, tool, {**arguments, "confirmation": token})
    return result


def _once(
    services: ApiServices,
    principal: Principal,
    log: Log,
    tool: Tool,
    arguments: Mapping[str, Any],
) -> Result:
    called = call_tool(services, principal, tool, arguments, log=log)
    return Result(
        tool=tool.name,
        text=called.text,
        structured=called.structured,
        error=called.error,
        events=called.events,
    )
