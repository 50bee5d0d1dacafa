"""Registered agents: who calls as what, and what each may reach."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.accounts.agents import Agent, AgentDraft, AgentKey, AgentRegistered
from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services, ToolCaller, Writer
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, Name, ScopeName, Timestamp, examples
from cairn.api.routes.keys import ToolName, known_tools
from cairn.api.routing import router
from cairn.kernel.access import Role, Scope
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.reading.views import KeyView
from cairn.sessions.knowledge import LEAST_CHARS, MOST_CHARS, USUAL_CHARS, Form, KnowledgeView

routes = router("agents")

Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._\-]{0,63}$")]
AgentSlug = Annotated[str, Path(max_length=64, description="The agent's slug.")]


class AgentView(TypedDict):
    """A registered agent: what is said of it, and what it may reach."""

    slug: str
    id: UUID
    name: str
    owner: str | None
    description: str
    specialists: list[str]
    persona: str
    edition: str
    tools: list[str] | None
    scopes: list[Scope]
    requests_a_minute: int | None
    live_memory: bool
    disabled: str | None
    joined: bool
    version: int
    registered_at: datetime
    changed_at: datetime


class ToolCoverage(TypedDict):
    """How many tools there are, and of those that lists name how many exist: all, when well."""

    tools: int
    eager: int
    listed: int
    registered: int


class AgentList(TypedDict):
    """Every agent, and whether what their lists name exists."""

    items: list[AgentView]
    coverage: ToolCoverage


class AgentWithKey(TypedDict):
    """A new agent with the key that was made for it. The secret is in this answer only."""

    agent: AgentView
    key: KeyView | None
    secret: str | None


class AgentKeyIn(Body):
    """The key to make for a new agent; the scopes are the agent's."""

    role: Annotated[Role, Field(strict=False)] = Role.AGENT
    own_memory: bool = False
    client_id: Name | None = None
    expires_at: Timestamp | None = None


class AgentIn(Body):
    """An agent to register. Without a list of tools it has those that its key's role has."""

    model_config = examples(
        {
            "slug": "support",
            "name": "Support agent",
            "owner": "Ada Keeper",
            "description": "Answers customers about ferries.",
            "tools": ["memory_recall", "context_get"],
            "scopes": ["public", "shared"],
            "key": {"own_memory": False},
        }
    )

    slug: Slug
    name: Name
    owner: Name | None = None
    description: Annotated[str, Field(max_length=2_000)] = ""
    specialists: Annotated[list[Slug], Field(max_length=20)] = Field(default_factory=list[str])
    persona: Annotated[str, Field(max_length=64)] = "default"
    edition: Annotated[str, Field(max_length=64)] = ""
    tools: Annotated[list[ToolName], Field(min_length=1, max_length=64)] | None = None
    scopes: Annotated[list[ScopeName], Field(min_length=1, max_length=3)] | None = None
    requests_a_minute: Annotated[int, Field(ge=1, le=6_000)] | None = None
    live_memory: bool = True
    key: AgentKeyIn | None = None

    def draft(self) -> AgentDraft:
        """Return the use case's record; ValidationFailed for tools that there are not."""
        fields = self.model_dump(exclude={"slug", "key"})
        return AgentDraft(**_as_record(fields))


class AgentChangeIn(Body):
    """What is to change; `disabled` true lets the agent do nothing, false lets it work again."""

    name: Name | None = None
    owner: Name | None = None
    description: Annotated[str, Field(max_length=2_000)] | None = None
    specialists: Annotated[list[Slug], Field(max_length=20)] | None = None
    persona: Annotated[str, Field(max_length=64)] | None = None
    edition: Annotated[str, Field(max_length=64)] | None = None
    tools: Annotated[list[ToolName], Field(min_length=1, max_length=64)] | None = None
    all_tools: bool = False
    scopes: Annotated[list[ScopeName], Field(min_length=1, max_length=3)] | None = None
    requests_a_minute: Annotated[int, Field(ge=1, le=6_000)] | None = None
    live_memory: bool | None = None
    disabled: bool | None = None

    def changes(self) -> dict[str, Any]:
        """Return the fields that were given, as the use case's record has them."""
        fields = self.model_dump(exclude={"disabled", "all_tools"}, exclude_none=True)
        if self.all_tools and self.tools is not None:
            wrong = "is given together with all_tools"
            raise ValidationFailed(f"tools {wrong}.", errors=[FieldError("tools", wrong)])
        return _as_record(fields) | ({"tools": None} if self.all_tools else {})


def _as_record(fields: dict[str, Any]) -> dict[str, Any]:
    if fields.get("tools") is not None:
        fields["tools"] = known_tools(fields["tools"])
    if "scopes" in fields:
        fields["scopes"] = tuple(fields["scopes"] or ())
    if "specialists" in fields:
        fields["specialists"] = tuple(fields["specialists"])
    return fields


@routes.post(
    "/v1/agents",
    summary="Register an agent",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It is registered", AgentWithKey),
        **problems("conflict", body=True),
    },
)
def register_agent(body: AgentIn, caller: Writer, services: Services) -> Response:
    """Register an agent: an admin any, with a key for it; an agent's key that has none, itself."""
    key = body.key and AgentKey(
        role=body.key.role,
        own_memory=body.key.own_memory,
        client_id=body.key.client_id,
        expires_at=body.key.expires_at,
    )
    registered = services.agents.register(caller, body.slug, body.draft(), key)
    return answer(_with_key(registered), status=201)


@routes.get(
    "/v1/agents",
    summary="List agents",
    response_model=None,
    responses={**answers(200, "Every agent, by slug", AgentList), **problems()},
)
def list_agents(caller: Admin, services: Services) -> Response:
    """List the registered agents, disabled ones too, and how their lists cover what exists."""
    from cairn.api.mcp.surface import coverage

    agents = services.agents.all(caller)
    return answer({"items": [shown(item) for item in agents], "coverage": asdict(coverage(agents))})


@routes.get(
    "/v1/agents/{slug}",
    summary="Show an agent",
    response_model=None,
    responses={**answers(200, "The agent", AgentView), **problems("not-found")},
)
def get_agent(slug: AgentSlug, caller: Writer, services: Services) -> Response:
    """Show an agent; an agent's key reads its own."""
    return answer(shown(services.agents.get(caller, slug)))


@routes.patch(
    "/v1/agents/{slug}",
    summary="Change an agent",
    response_model=None,
    responses={
        **answers(200, "The agent as it is now", AgentView),
        **problems("not-found", body=True),
    },
)
def change_agent(
    slug: AgentSlug, body: AgentChangeIn, caller: Admin, services: Services
) -> Response:
    """Change what is given of an agent, disable or enable it; its next request is held to that."""
    changes = body.changes()
    if body.disabled is False and "tools" not in changes:
        known_tools(services.agents.get(caller, slug).tools or ())  # else it is disabled again
    changed = services.agents.change(caller, slug, changes, disabled=body.disabled)
    return answer(shown(changed))


class KnowledgeIn(Body):
    """How much an agent is given, and whether it is shown a line of each instead of all."""

    summary: bool = False
    max_chars: Annotated[int, Field(ge=LEAST_CHARS, le=MOST_CHARS)] = USUAL_CHARS


@routes.post(
    "/v1/agents/{slug}/knowledge",
    summary="Bake what an agent is given",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "The new version", KnowledgeView),
        **problems("not-found", body=True),
    },
)
def bake_knowledge(
    slug: AgentSlug, body: KnowledgeIn, caller: Admin, services: Services
) -> Response:
    """Keep a snapshot of what is tagged for an agent and of what its subscription finds."""
    baked = services.knowledge.bake(caller, slug, summary=body.summary, max_chars=body.max_chars)
    return answer(baked, status=201)


@routes.get(
    "/v1/agents/{slug}/knowledge",
    summary="Read what an agent is given",
    response_model=None,
    responses={
        **answers(200, "The snapshot as it may be shown now", KnowledgeView),
        **problems("not-found"),
    },
)
def read_knowledge(
    slug: AgentSlug,
    caller: ToolCaller,
    services: Services,
    version: Annotated[
        int | None, Query(ge=1, le=2**31 - 1, description="An older one, of the last 20.")
    ] = None,
    form: Annotated[Form | None, Query(description="Its own form without one.")] = None,
) -> Response:
    """Read an agent's snapshot, by its summary where it has one; an agent's key reads its own."""
    return answer(services.knowledge.read(caller, slug, version=version, form=form))


def shown(agent: Agent) -> dict[str, Any]:
    """Return an agent as its fields are answered."""
    return {name: getattr(agent, name) for name in AgentView.__annotations__}


def _with_key(registered: AgentRegistered) -> dict[str, Any]:
    return {"agent": shown(registered.agent), "key": registered.key, "secret": registered.secret}
