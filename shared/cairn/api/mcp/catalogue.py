"""Every tool, in the order clients see them. Add a tool here and in docs/use/mcp.md."""

from cairn.api.mcp import agent_tools, edit_tools, memory_tools, work_tools
from cairn.api.mcp.tool import Tool

TOOLS: tuple[Tool, ...] = (
    memory_tools.REMEMBER,
    memory_tools.RECALL,
    memory_tools.CONTEXT,
    memory_tools.GET,
    memory_tools.LINEAGE,
    edit_tools.LIST,
    edit_tools.EDIT,
    edit_tools.DELETE,
    edit_tools.PIN,
    edit_tools.NEVER_RECALL,
    work_tools.WRITE_REPORT,
    work_tools.LATEST_REPORTS,
    work_tools.LIST_REPORTS,
    work_tools.SEARCH_CONVERSATIONS,
    work_tools.RECORD_MESSAGE,
    work_tools.CHANGE_CONVERSATION,
    work_tools.CREATE_TASK,
    work_tools.UPDATE_TASK,
    work_tools.COMPLETE_TASK,
    agent_tools.START,
    agent_tools.READ,
    agent_tools.APPROVALS,
    agent_tools.CALLS,
)
