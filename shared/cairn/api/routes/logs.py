"""What is logged of one session."""

from typing import Annotated, Any

from fastapi import Query, Response

from cairn.api.dependencies import Admin, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Name
from cairn.api.pages import Cursor, Limit, decode_key, key_page_answer
from cairn.api.routing import router
from cairn.sessions.logs import LogLine, LogStream

routes = router("operations")


@routes.get(
    "/v1/logs",
    summary="Read what is logged of a session",
    response_model=None,
    responses={**answers(200, "Lines, the newest first", PageOf[LogLine]), **problems()},
)
def read_session_log(
    caller: Admin,
    services: Services,
    options: Options,
    session_id: Annotated[Name, Query(description="Whose lines: the session's name.")],
    stream: Annotated[LogStream, Query(description="All lines, errors or events.")] = LogStream.ALL,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List a session's searches, calls of tools, chat events, messages and events: ids, no texts.

    `errors` are the lines with an error, `events` what chats told and agents observed.
    """
    filters: dict[str, Any] = {"session_id": session_id, "stream": stream.value}
    after = decode_key(cursor, kind=str, route="logs", filters=filters)
    lines = services.read_session_log(
        caller, session_id, stream=stream, after=after, limit=limit + 1
    )
    return key_page_answer(
        lines, limit=limit, key="at", route="logs", filters=filters, options=options
    )
