"""The tools of MCP as a chat has them: in process, those that change or delete after a yes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.api.mcp.catalogue import TOOLS
from cairn.api.mcp.server import logged
from cairn.api.mcp.tool import may_use
from cairn.chat.tools import Does, Result, Toolbox
from cairn.kernel.clock import monotonic
from cairn.llm.port import Tool as ModelTool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.api.mcp.tool import Tool
    from cairn.api.middleware import Log
    from cairn.bootstrap.api import ApiServices
    from cairn.kernel.access import Principal

DOES: Mapping[Does, frozenset[str]] = {
    Does.RECALL: frozenset({"recall", "memory_recall"}),
    Does.REMEMBER: frozenset({"remember", "memory_remember"}),
    Does.LIST: frozenset({"memory-list", "memory_list"}),
    Does.DELETE: frozenset({"memory-delete", "memory_delete"}),
    Does.TICKET: frozenset({"ticket_add"}),
}
ADDS = frozenset({"remember", "memory_remember", "memory_feedback", "ticket_add"})
"""Tools that write and take nothing away: what a person asks to have kept is kept at once."""

NOT_HERE = frozenset({"conversation-record", "conversation_record"})
"""A turn records itself."""


def toolbox(services: ApiServices, principal: Principal, log: Log) -> Toolbox:
    """Return the tools of a caller."""
    mine = {
        tool.name: tool for tool in TOOLS if may_use(tool, principal) and tool.name not in NOT_HERE
    }
    return Toolbox(
        tools=tuple(map(_described, mine.values())),
        waits=frozenset(name for name, tool in mine.items() if not tool.reads and name not in ADDS),
        call=partial(_called, services, principal, log, mine),
        does={does: name for does, names in DOES.items() for name in names & mine.keys()},
    )


def _described(tool: Tool) -> ModelTool:
    schema = tool.arguments.model_json_schema()
    return ModelTool(name=tool.name, description=tool.description, schema=schema)


def _called(
    services: ApiServices,
    principal: Principal,
    log: Log,
    tools: Mapping[str, Tool],
    name: str,
    arguments: Mapping[str, Any],
) -> Result:
    """Call a tool. One that asks by itself was confirmed before it came here, and is told so."""
    tool = tools[name]
    result = _once(services, principal, log, tool, arguments)
    asked = result.structured or {}
    if asked.get("state") == "pending" and (token := asked.get("confirmation")):
        return _once(services, principal, log, tool, {**arguments, "confirmation": token})
    return result


def _once(
    services: ApiServices,
    principal: Principal,
    log: Log,
    tool: Tool,
    arguments: Mapping[str, Any],
) -> Result:
    called = logged(tool, services, principal, dict(arguments), log, monotonic)
    text = "\n".join(getattr(part, "text", "") for part in called.content)
    code = text.partition(":")[0] if called.is_error else None
    return Result(tool=tool.name, text=text, structured=called.structured_content, error=code)
