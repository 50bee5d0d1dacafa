"""Tool calls: which tool was called with what, what came of it, when and in whose investigation."""

from typing import Annotated, Any, cast
from uuid import UUID

from fastapi import Query, Response

from cairn.api import cursors
from cairn.api.dependencies import Options, Services, Writer
from cairn.api.documentation import answers, page_of, problems
from cairn.api.fields import Name
from cairn.api.pages import Cursor, Limit, key_page_answer
from cairn.api.routing import router

routes = router("investigations")

_ROUTE = "tool-calls"


@routes.get(
    "/v1/tool-calls",
    summary="List tool calls",
    response_model=None,
    responses={
        **answers(200, "Tool calls, the newest first", page_of("ToolCallView")),
        **problems(),
    },
)
def list_tool_calls(
    caller: Writer,
    services: Services,
    options: Options,
    investigation_id: Annotated[UUID | None, Query(description="Only those of this one.")] = None,
    connector: Annotated[Name | None, Query(description="Only those of its tools.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List what agents asked tools for: owner, input and output (redacted, cut), error, times."""
    filters: dict[str, Any] = {"investigation_id": investigation_id, "connector": connector}
    after = cursors.decode_key(cursor, kind=str, route=_ROUTE, filters=filters)
    found = services.investigations.browse.tool_calls(
        caller,
        investigation_id=investigation_id,
        connector=connector,
        before=after[1] if after else None,
        limit=limit + 1,
    )
    return key_page_answer(
        cast("list[object]", found),
        limit=limit,
        key="proposed_at",
        route=_ROUTE,
        filters=filters,
        options=options,
    )
