"""Which tools a caller reaches: by role, key, registered agent and edition. Asked at each request.

A caller that no agent was registered for reaches the tools of the gate, and is told what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.accounts.editions import LIVE_MEMORY
from cairn.api.dependencies import barred_error
from cairn.api.mcp.tool import may_use
from cairn.kernel.errors import Denied

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from cairn.api.mcp.tool import Tool
    from cairn.kernel.access import Principal
    from cairn.kernel.errors import CairnError

REGISTER, DOCS, SCRAPE = "register_agent", "read_docs", "scrape_url"
GATE_TOOLS = (REGISTER, DOCS, SCRAPE)
"""What a caller without a registered agent reaches."""

UNREGISTERED = (
    "Agent not registered: this key belongs to no registered agent. Call register_agent with a "
    "slug and a name, then call again. Until then only register_agent, read_docs and scrape_url "
    "work; read_docs with the name agents says more."
)


def tools_of(principal: Principal, tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return those of `tools` that a caller may use now, the eager ones first."""
    reached = [tool for tool in tools if reaches(tool, principal)]
    return tuple(sorted(reached, key=lambda tool: not tool.eager))


def reaches(tool: Tool, principal: Principal) -> bool:
    """Return whether a caller may use a tool now."""
    searches = tool.name in LIVE_MEMORY and not principal.live_memory
    if searches or tool.name in principal.left_out:
        return False
    if principal.barred == "unregistered":
        return tool.name in (REGISTER, DOCS) or (tool.name == SCRAPE and may_use(tool, principal))
    if principal.barred is not None:
        return tool.name == DOCS
    if tool.name == REGISTER and principal.agent is not None:
        return False  # an agent registers no other
    listed = principal.agent_tools is None or _has_any_name(tool, principal.agent_tools)
    return listed and may_use(tool, principal)


def refusal(tool: Tool | None, principal: Principal) -> CairnError | None:
    """Return what a barred caller is told of a tool that there is; None for everybody else."""
    if tool is None or principal.barred is None:
        return None
    if principal.barred == "unregistered":
        return Denied(UNREGISTERED, reason="agent-unregistered")
    return barred_error(principal)


def _has_any_name(tool: Tool, names: Collection[str]) -> bool:
    return any(tool.named(name) for name in names)
