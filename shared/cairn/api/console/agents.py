"""The page of registered agents: who calls as what, with which tools, disabled and enabled."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from cairn.api.console import pages
from cairn.api.console.guard import form_from
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.keys import known_tools

AGENTS = "/console/agents"
DONE = {
    "disable": "The agent may do nothing from its next request on.",
    "enable": "The agent may work again.",
}
Slug = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9._\-]{0,63}$")]

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(AGENTS)
def show_agents(request: Request, visitor: Reader) -> Response:
    """Show every registered agent, disabled ones too."""
    agents = visitor.services.agents.all(visitor.principal)
    done = DONE.get(request.query_params.get("done", ""), "")
    return shown(request, visitor, "agents.html", agents=agents, done=done)


@routes.post(AGENTS + "/{slug}/disable")
def disable(request: Request, slug: Slug, body: Body) -> Response:
    """Let an agent do nothing."""
    visitor, _ = form_from(request, body)
    visitor.services.agents.change(visitor.principal, slug, {}, disabled=True)
    return pages.go_to(f"{AGENTS}?done=disable")


@routes.post(AGENTS + "/{slug}/enable")
def enable(request: Request, slug: Slug, body: Body) -> Response:
    """Let an agent work again; refused while its list names tools that there are not."""
    visitor, _ = form_from(request, body)
    agents = visitor.services.agents
    known_tools(agents.get(visitor.principal, slug).tools or ())
    agents.change(visitor.principal, slug, {}, disabled=False)
    return pages.go_to(f"{AGENTS}?done=enable")
