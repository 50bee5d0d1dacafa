"""Every tool, in the order clients see them. Add a tool here and in docs/use/mcp.md."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.api.mcp import (
    agent_tools,
    contact_tools,
    context_tools,
    edit_tools,
    feed_tools,
    graph_tools,
    intent_tools,
    knowledge_tools,
    memory_tools,
    negotiation_tools,
    network_tools,
    opportunity_tools,
    profile_tools,
    publication_tools,
    registry_tools,
    report_tools,
    work_tools,
    workflow_tools,
)
from cairn.api.mcp.reach import tools_of

if TYPE_CHECKING:
    from cairn.api.mcp.tool import Tool
    from cairn.kernel.access import Principal

TOOLS: tuple[Tool, ...] = (
    memory_tools.REMEMBER,
    memory_tools.RECALL,
    memory_tools.CONTEXT,
    context_tools.COMPACT,
    context_tools.SESSION,
    memory_tools.FEEDBACK,
    graph_tools.GET,
    graph_tools.TRACE,
    graph_tools.WRITE,
    graph_tools.RELATE,
    graph_tools.QUERY,
    graph_tools.WALK,
    edit_tools.LIST,
    edit_tools.CORRECT,
    edit_tools.DELETE,
    edit_tools.FORGET,
    edit_tools.PIN,
    edit_tools.EXCLUDE,
    knowledge_tools.READ,
    knowledge_tools.BAKE,
    profile_tools.READ,
    report_tools.WRITE,
    report_tools.READ,
    report_tools.LIST,
    publication_tools.HOST,
    work_tools.SEARCH_CONVERSATIONS,
    work_tools.RECORD_MESSAGE,
    work_tools.CHANGE_CONVERSATION,
    work_tools.CREATE_TASK,
    work_tools.UPDATE_TASK,
    work_tools.COMPLETE_TASK,
    agent_tools.ADD_TICKET,
    agent_tools.LIST_TICKETS,
    agent_tools.START,
    agent_tools.READ,
    agent_tools.APPROVALS,
    agent_tools.CALLS,
    agent_tools.SETTINGS,
    workflow_tools.LIST,
    workflow_tools.RUN,
    workflow_tools.READ,
    feed_tools.READ,
    feed_tools.HEALTH,
    opportunity_tools.DISCOVER,
    opportunity_tools.CREATE,
    opportunity_tools.LIST,
    opportunity_tools.SEND,
    opportunity_tools.ACCEPT,
    opportunity_tools.REJECT,
    *network_tools.EVERY,
    negotiation_tools.LIST,
    negotiation_tools.READ,
    negotiation_tools.RESPOND,
    contact_tools.ADD,
    contact_tools.LIST,
    contact_tools.SEARCH,
    contact_tools.INTEGRATIONS,
    contact_tools.SYNC,
    intent_tools.CREATE,
    intent_tools.LIST,
    intent_tools.SEARCH,
    intent_tools.UPDATE,
    intent_tools.STAND,
    intent_tools.DELETE,
    intent_tools.ANSWER,
    intent_tools.READ_PROFILE,
    intent_tools.GENERATE_PROFILE,
    intent_tools.UPDATE_PROFILE,
    registry_tools.REGISTER_AGENT,
    registry_tools.READ_DOCS,
    registry_tools.SCRAPE_URL,
)


def resolve(name: str) -> Tool | None:
    """Return the tool of a name or an alias."""
    return next((tool for tool in TOOLS if tool.named(name)), None)


def usable(principal: Principal) -> tuple[Tool, ...]:
    """Return the tools that a caller may have called for it; the gate is MCP's alone."""
    if principal.barred == "unregistered":
        principal = replace(principal, barred=None)
    return tools_of(principal, TOOLS)
