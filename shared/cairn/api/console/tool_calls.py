"""Tool calls: what agents asked tools for, whoever asked, with what came of it.

One call is the page of its citation.
"""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.guard import id_of
from cairn.api.console.routes import ConsoleRoute, Reader, shown

TOOL_CALLS = "/console/tool-calls"
SHOWN = 25
MAX_NAME = 256

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(TOOL_CALLS)
def show_tool_calls(
    request: Request,
    visitor: Reader,
    connector: str = "",
    investigation: str = "",
    session: str = "",
    before: str | None = None,
) -> Response:
    """Show tool calls, the newest first, narrowed by connector, investigation and session."""
    chosen = {
        "connector": connector.strip()[:MAX_NAME],
        "investigation": investigation.strip()[:MAX_NAME],
        "session": session.strip()[:MAX_NAME],
    }
    filters = {name: text for name, text in chosen.items() if text}
    calls = visitor.services.investigations.tool_calls(
        visitor.principal,
        investigation_id=id_of(filters["investigation"]) if "investigation" in filters else None,
        connector=filters.get("connector"),
        session_id=filters.get("session"),
        before=id_of(before) if before else None,
        limit=SHOWN + 1,
    )
    api_names = {"investigation": "investigation_id", "session": "session_id"}
    called = urlencode({api_names.get(name, name): text for name, text in filters.items()})
    return shown(
        request,
        visitor,
        "tool_calls.html",
        **pages.cut("calls", calls, SHOWN),
        chosen=chosen,
        command="".join(f" --{name} {pages.quoted(text)}" for name, text in filters.items()),
        address=f"{TOOL_CALLS}?{urlencode([*filters.items(), ('before', '')])}",
        path="/v1/tool-calls" + (f"?{called}" if called else ""),
    )
