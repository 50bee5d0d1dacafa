"""Builds the FastAPI app from its use cases. Not the entry point: the composition root is."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

from anyio import to_thread
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from starlette.exceptions import HTTPException

from cairn.api.calls import LogCalls
from cairn.api.edge import Edge
from cairn.api.fairness import Fairness
from cairn.api.gate import Gate
from cairn.api.mcp.serving import McpEndpoint
from cairn.api.middleware import REQUEST_ID, BodyLimit, Log, RequestContext
from cairn.api.nouns import IncludeNoun, Nouns
from cairn.api.options import ApiOptions
from cairn.api.problems import (
    Problem,
    from_error,
    from_http,
    from_validation,
    problem_response,
)
from cairn.api.sites import Sites
from cairn.api.widget.origins import WidgetOrigins
from cairn.bootstrap.api import ApiServices
from cairn.kernel.clock import Stopwatch, monotonic
from cairn.kernel.errors import CairnError
from cairn.kernel.ids import IdSource, new_id
from cairn.kernel.traces import TRACEPARENT

_TAGS = [
    {"name": "memories", "description": "What agents learn: events, facts, decisions, statuses."},
    {"name": "events", "description": "What agents do, in order, and what caused what."},
    {"name": "nodes", "description": "Nodes of any label, and typed edges between nodes."},
    {"name": "entities", "description": "Who and what is spoken of, and correcting it."},
    {"name": "documents", "description": "Files that are split, summarised and embedded."},
    {"name": "conversations", "description": "What was said, and the search in it."},
    {"name": "chat", "description": "Talking to an agent that remembers, and asks before changes."},
    {"name": "widget", "description": "The chat on a customer's page: what it may do, its door."},
    {"name": "checkpoints", "description": "States that programs of agents go on from."},
    {"name": "negotiations", "description": "What members' agents say to each other, signed."},
    {"name": "workflows", "description": "Steps that run by themselves, and ask people."},
    {"name": "feed", "description": "Whom a member should meet, and how well that is kept."},
    {"name": "contacts", "description": "Whom a member knows; nobody else sees them."},
    {"name": "discovery", "description": "Members, networks, intents and the meetings found."},
    {"name": "networks", "description": "Communities: who is in them, and what belongs there."},
    {"name": "publications", "description": "What everybody may read, on a host of its own."},
    {"name": "reports", "description": "What workflows made, kept for good."},
    {"name": "summaries", "description": "What memories come to, by what they are about."},
    {"name": "subscriptions", "description": "What agents find without being tagged for it."},
    {"name": "search", "description": "Recall over memories and documents."},
    {
        "name": "context",
        "description": "What an agent is given: recall as one block, a conversation made shorter.",
    },
    {"name": "searches", "description": "Why a search found what it found."},
    {"name": "graph", "description": "How what is known hangs together, and where it is from."},
    {"name": "memory graph", "description": "Moving a workspace's memory out and in."},
    {"name": "tasks", "description": "Work of several steps, from its start to its end."},
    {"name": "tickets", "description": "What customers ask for, and where it stands."},
    {"name": "sources", "description": "Where documents are read of, on a schedule."},
    {"name": "channels", "description": "Where people chat, operators decide and answer."},
    {"name": "ticket-sources", "description": "Help desks that tickets come from."},
    {"name": "connectors", "description": "What agents act through, how it is, what it offers."},
    {"name": "personas", "description": "How agents work, by kind of ticket."},
    {"name": "investigations", "description": "What agents do about tickets, and who lets them."},
    {
        "name": "webhooks",
        "description": "Who is told of what happens here, and who outside writes.",
    },
    {"name": "settings", "description": "What a workspace sets for its searches and models."},
    {"name": "ledger", "description": "The hash chain everything rests on."},
    {"name": "agents", "description": "Who calls as what, and what each may reach."},
    {"name": "keys", "description": "Who may do what."},
    {"name": "people", "description": "Who signs in to the console."},
    {"name": "operations", "description": "Health and work in progress."},
]


def create_app(
    services: ApiServices,
    options: ApiOptions | None = None,
    *,
    log: Log,
    ids: IdSource = new_id,
    stopwatch: Stopwatch = monotonic,
) -> FastAPI:
    """Return the ASGI app over `services`; nothing connects until a request comes."""
    chosen = options or ApiOptions()
    app = FastAPI(
        title="Cairn",
        version="1",
        summary="Memory and operations for AI agents",
        description="Errors are problem+json; docs/use/errors.md lists every type.",
        openapi_tags=_TAGS,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=partial(_serving, chosen),
    )
    app.state.services = services
    app.state.options = chosen
    app.state.mcp = McpEndpoint(services, chosen, log)
    nouns = Nouns(app)
    _describe(app, nouns)
    _handle_errors(app, nouns)
    app.add_middleware(IncludeNoun, nouns=nouns)
    app.add_middleware(LogCalls, services=services, log=log, stopwatch=stopwatch)
    _wrap(app, services, chosen, log=log, ids=ids, stopwatch=stopwatch)
    return app


def _describe(app: FastAPI, nouns: Nouns) -> None:
    """Let the app make its OpenAPI document when somebody asks for it, once."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            from cairn.api.openapi import document_of

            nouns.include_all()
            app.openapi_schema = document_of(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


@asynccontextmanager
async def _serving(options: ApiOptions, app: FastAPI) -> AsyncGenerator[None]:
    """Give a server its threads; a function has no lifespan and needs none."""
    if options.request_threads is not None:
        to_thread.current_default_thread_limiter().total_tokens = options.request_threads
    yield


def _wrap(
    app: FastAPI,
    services: ApiServices,
    options: ApiOptions,
    *,
    log: Log,
    ids: IdSource,
    stopwatch: Stopwatch,
) -> None:
    """Add the middleware, innermost first: the request context is outermost and sees everything."""
    if options.fairness is not None:
        app.add_middleware(Gate, fairness=Fairness(options.fairness, stopwatch))
    if options.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(options.cors_origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=[
                "authorization",
                "content-type",
                "idempotency-key",
                "last-event-id",
                "x-identity-token",  # what API Gateway wants in front of /jwt
                REQUEST_ID,
                TRACEPARENT,
            ],
            expose_headers=[REQUEST_ID, "idempotency-replayed", "retry-after"],
        )
    app.add_middleware(BodyLimit, max_bytes=options.max_body_bytes)
    app.add_middleware(WidgetOrigins, services=services)
    app.add_middleware(Sites, services=services, sites_url=options.sites_url, log=log)
    app.add_middleware(Edge, secrets=options.edge_secrets, only=options.edge_only)
    app.add_middleware(RequestContext, log=log, new_id=ids, stopwatch=stopwatch)


def _handle_errors(app: FastAPI, nouns: Nouns) -> None:
    def on_error(request: Request, exc: Exception) -> Response:
        problem = from_error(cast("CairnError", exc))
        response = _respond(request, problem)
        options: ApiOptions = app.state.options
        lacks_scope = problem.reason == "token-scope"
        if (response.status_code == 401 or lacks_scope) and options.issuer and _is_mcp(request):
            response.headers["www-authenticate"] = _sign_in(request, options, problem.reason)
        return response

    def on_http(request: Request, exc: Exception) -> Response:
        error = cast("HTTPException", exc)
        response = _respond(request, from_http(error))
        if error.status_code == 405:
            response.headers["allow"] = ", ".join(nouns.methods_of(request.scope))
        return response

    def on_validation(request: Request, exc: Exception) -> Response:
        return _respond(request, from_validation(cast("RequestValidationError", exc).errors()))

    app.add_exception_handler(CairnError, on_error)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(RequestValidationError, on_validation)


def _is_mcp(request: Request) -> bool:
    return request.url.path == "/mcp"


def _sign_in(request: Request, options: ApiOptions, reason: str) -> str:
    """Return where a client of MCP learns who signs it in (RFC 9728), and what was wrong."""
    where = f"{request.base_url}.well-known/oauth-protected-resource/mcp"
    challenge = f'Bearer resource_metadata="{where}"'
    if reason == "token-scope":
        challenge += ', error="insufficient_scope"'
    elif "authorization" in request.headers:
        challenge += ', error="invalid_token"'
    return challenge + (
        f', scope="{" ".join(options.token_scopes)}"' if options.token_scopes else ""
    )


def _respond(request: Request, problem: Problem) -> Response:
    return problem_response(problem, request.state.request_id)
