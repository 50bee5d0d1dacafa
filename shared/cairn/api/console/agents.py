"""The page of registered agents: who calls as what, with which tools and keywords; disabled."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import Form, checked, number_of, refused_deed
from cairn.api.console.guard import Visitor, form_from
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.agents import AgentChangeIn, AgentIn
from cairn.api.routes.keys import known_tools
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, ValidationFailed

AGENTS = "/console/agents"
FIELDS = ("slug", "name", "owner", "description", "persona", "tools", "requests_a_minute")
KEYWORDS = ("keywords",)
DONE = {
    "registered": "It is registered. An owner makes its key under Keys, with its slug.",
    "changed": "It holds from its next request on.",
    "disable": "The agent may do nothing from its next request on.",
    "enable": "The agent may work again.",
    "keywords": "Its searches find what has these words, where subscriptions are switched on.",
}
Slug = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9._\-]{0,63}$")]

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(AGENTS)
def show_agents(request: Request, visitor: Reader) -> Response:
    """Show every registered agent, disabled ones too."""
    return _page(request, visitor)


@routes.post(AGENTS)
def register(request: Request, body: Body) -> Response:
    """Register an agent; its key is made under Keys."""
    visitor, form = form_from(request, body)
    visitor.principal.require(Role.ADMIN)
    try:
        new = checked(AgentIn, {"slug": form.get("slug", "").strip(), **_described(form)})
        visitor.services.agents.register(visitor.principal, new.slug, new.draft())
    except (Conflict, ValidationFailed) as error:
        return _page(request, visitor, **refused_deed(form, error, "slug"))
    return pages.go_to(f"{AGENTS}?done=registered")


@routes.post(AGENTS + "/{slug}/change")
def change(request: Request, slug: Slug, body: Body) -> Response:
    """Change what is said of an agent; without a list it has all tools of its key."""
    visitor, form = form_from(request, body)
    visitor.principal.require(Role.ADMIN)
    try:
        fields = _described(form)
        new = checked(AgentChangeIn, {**fields, "all_tools": "tools" not in fields})
        visitor.services.agents.change(visitor.principal, slug, new.changes())
    except (Conflict, ValidationFailed) as error:
        return _page(request, visitor, changed=slug, **refused_deed(form, error, "name"))
    return pages.go_to(f"{AGENTS}?done=changed")


@routes.post(AGENTS + "/{slug}/keywords")
def subscribe(request: Request, slug: Slug, body: Body) -> Response:
    """Let an agent's searches find what has some words; without any nothing but its own."""
    visitor, form = form_from(request, body)
    visitor.principal.require(Role.ADMIN)
    words = [word.strip() for word in form.get("keywords", "").split(",") if word.strip()]
    subscriptions = visitor.services.subscriptions
    try:
        if words:
            subscriptions.put(visitor.principal, slug, words)
        else:
            subscriptions.clear(visitor.principal, slug)
    except (Conflict, ValidationFailed) as error:
        return _page(request, visitor, changed=slug, **refused_deed(form, error, "keywords"))
    return pages.go_to(f"{AGENTS}?done=keywords")


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


def _described(form: dict[str, str]) -> dict[str, Any]:
    """Return what a form says of an agent."""
    values: dict[str, Any] = {
        name: text
        for name in ("name", "owner", "description", "persona")
        if (text := form.get(name, "").replace("\r\n", "\n").strip())
    }
    if tools := form.get("tools", "").split():
        values["tools"] = tools
    if rate := form.get("requests_a_minute", "").strip():
        values["requests_a_minute"] = rate if number_of(rate) is None else number_of(rate)
    return values


def _page(
    request: Request,
    visitor: Visitor,
    *,
    form: Form | None = None,
    changed: str = "",
    status: int = 200,
) -> Response:
    services, who = visitor.services, visitor.principal
    agents = services.agents.all(who)
    return shown(
        request,
        visitor,
        "agents.html",
        status=status,
        agents=agents,
        keywords={each.agent: ", ".join(each.keywords) for each in services.subscriptions.get(who)},
        personas=[each.name for each in services.personas.all(who)],
        form=form or Form(),
        blank=Form(),
        changed=changed,
        fields=(*FIELDS, *KEYWORDS),
        done=DONE.get(request.query_params.get("done", ""), ""),
    )
