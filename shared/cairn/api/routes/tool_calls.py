"""Tool calls: which tool was called with what, what came of it, when and in whose investigation."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query, Response

from cairn.api.answers import answer
from cairn.api.dependencies import Options, Services, Writer
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Name
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.investigations.views import ToolCallView

routes = router("investigations")

_ROUTE = "tool-calls"


@routes.get(
    "/v1/tool-calls",
    summary="List tool calls",
    response_model=None,
    responses={
        **answers(200, "Tool calls, the newest first", PageOf[ToolCallView]),
        **problems(),
    },
)
def list_tool_calls(
    caller: Writer,
    services: Services,
    options: Options,
    investigation_id: Annotated[UUID | None, Query(description="Only those of this one.")] = None,
    connector: Annotated[Name | None, Query(description="Only those of its tools.")] = None,
    session_id: Annotated[Name | None, Query(description="Only those of this session.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List what agents asked tools for: owner, input and output (redacted, cut), error, times.

    Calls that agents made over MCP and HTTP are among them, with the owner `cairn`.
    """
    filters: dict[str, Any] = {
        "investigation_id": investigation_id,
        "connector": connector,
        "session_id": session_id,
    }
    return newest_answer(
        partial(services.investigations.tool_calls, caller, **filters),
        limit=limit,
        cursor=cursor,
        key="proposed_at",
        route=_ROUTE,
        filters=filters,
        options=options,
    )


@routes.get(
    "/v1/tool-calls/{action_id}",
    summary="Show a tool call",
    response_model=None,
    responses={**answers(200, "The tool call", ToolCallView), **problems("not-found")},
)
def get_tool_call(
    action_id: Annotated[UUID, Path(description="The id in a citation: `[tool:<id>]`.")],
    caller: Writer,
    services: Services,
) -> Response:
    """Show what a citation of a tool names: the call, and what the tool said."""
    return answer(services.investigations.tool_call(caller, action_id))
