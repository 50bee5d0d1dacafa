"""Every tool, in the order clients see them. Add a tool here and in docs/use/mcp.md."""

from cairn.api.mcp import (
    agent_tools,
    conversation_tools,
    graph_tools,
    memory_tools,
    report_tools,
    work_tools,
)
from cairn.api.mcp.tool import Tool

TOOLS: tuple[Tool, ...] = (
    memory_tools.REMEMBER,
    memory_tools.RECALL,
    memory_tools.CONTEXT,
    memory_tools.GET,
    graph_tools.LINEAGE,
    report_tools.WRITE,
    report_tools.READ_LATEST,
    report_tools.LIST,
    conversation_tools.SEARCH,
    work_tools.CREATE,
    work_tools.UPDATE,
    work_tools.COMPLETE,
    agent_tools.START,
    agent_tools.READ,
    agent_tools.APPROVALS,
    agent_tools.CALLS,
)
