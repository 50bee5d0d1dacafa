"""Which modules hold the routes of a noun, read with the first request for it. Not the routes.

A function that starts cold then pays for what it is asked, and not for every route there is.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from fastapi import APIRouter, FastAPI
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

ROUTES = "cairn.api.routes"
CONSOLE = "cairn.api.console"
NOUNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "memories": (f"{ROUTES}.memories", f"{ROUTES}.memory_edits", f"{ROUTES}.namespaces"),
        "namespaces": (f"{ROUTES}.namespaces",),
        "events": (f"{ROUTES}.events",),
        "nodes": (f"{ROUTES}.nodes", f"{ROUTES}.graph"),
        "relationships": (f"{ROUTES}.nodes",),
        "entities": (f"{ROUTES}.entities",),
        "documents": (f"{ROUTES}.documents",),
        "uploads": (f"{ROUTES}.documents",),
        "ingestions": (f"{ROUTES}.documents",),
        "conversations": (f"{ROUTES}.conversations",),
        "checkpoints": (f"{ROUTES}.checkpoints",),
        "chat": (f"{ROUTES}.chat",),
        "chats": (f"{ROUTES}.chats",),
        "channels": (f"{ROUTES}.channels",),
        "widget": (f"{ROUTES}.widget", f"{ROUTES}.widget_door"),
        "widget.js": (f"{ROUTES}.widget_door",),
        "reports": (f"{ROUTES}.reports",),
        "publications": (f"{ROUTES}.publications",),
        "subscriptions": (f"{ROUTES}.subscriptions",),
        "tasks": (f"{ROUTES}.tasks",),
        "webhooks": (f"{ROUTES}.webhooks",),
        "incoming-webhooks": (f"{ROUTES}.incoming_webhooks",),
        "connectors": (f"{ROUTES}.connectors",),
        "export": (f"{ROUTES}.memory_graph",),
        "import": (f"{ROUTES}.memory_graph",),
        "search": (f"{ROUTES}.search",),
        "context": (f"{ROUTES}.context", f"{ROUTES}.compaction"),
        "summaries": (f"{ROUTES}.summaries",),
        "profile": (f"{ROUTES}.profile",),
        "discover": (f"{ROUTES}.opportunities",),
        "opportunities": (f"{ROUTES}.opportunities",),
        "profiles": (f"{ROUTES}.member_profiles",),
        "intents": (f"{ROUTES}.intents", f"{ROUTES}.members"),
        "searches": (f"{ROUTES}.searches",),
        "query": (f"{ROUTES}.graph",),
        "ledger": (f"{ROUTES}.ledger",),
        "agents": (f"{ROUTES}.agents", f"{ROUTES}.negotiations"),
        "negotiations": (f"{ROUTES}.negotiations",),
        "keys": (f"{ROUTES}.keys",),
        "whoami": (f"{ROUTES}.keys",),
        "forget": (f"{ROUTES}.forget",),
        "claim": (f"{ROUTES}.keys",),
        "status": (f"{ROUTES}.stats",),
        "consolidations": (f"{ROUTES}.maintenance",),
        "rebuilds": (f"{ROUTES}.maintenance",),
        "reindex": (f"{ROUTES}.maintenance",),
        "taint": (f"{ROUTES}.maintenance",),
        "taints": (f"{ROUTES}.maintenance",),
        "stats": (f"{ROUTES}.stats",),
        "logs": (f"{ROUTES}.logs",),
        "costs": (f"{ROUTES}.stats",),
        "approvals": (f"{ROUTES}.approvals",),
        "grants": (f"{ROUTES}.approvals",),
        "redaction": (f"{ROUTES}.approvals",),
        "settings": (f"{ROUTES}.settings",),
        "tool-calls": (f"{ROUTES}.investigations",),
        "investigations": (f"{ROUTES}.investigations",),
        "escalations": (f"{ROUTES}.people",),
        "escalation-channels": (f"{ROUTES}.people",),
        "candidates": (f"{ROUTES}.people",),
        "people": (f"{ROUTES}.persons",),
        "proposals": (f"{ROUTES}.people",),
        "tickets": (f"{ROUTES}.tickets",),
        "sources": (f"{ROUTES}.sources",),
        "ticket-sources": (f"{ROUTES}.ticket_sources",),
        "feed": (f"{ROUTES}.feed",),
        "contacts": (f"{ROUTES}.contacts",),
        "integrations": (f"{ROUTES}.contacts",),
        "personas": (f"{ROUTES}.personas",),
        "scim": (f"{ROUTES}.scim", "cairn.api.scim.routes"),
        "workflows": (f"{ROUTES}.workflows",),
        "workflow-runs": (f"{ROUTES}.workflows",),
        "networks": (f"{ROUTES}.networks",),
        "members": (f"{ROUTES}.members",),
        "metrics": (f"{ROUTES}.health",),
        "healthz": (f"{ROUTES}.health",),
        "readyz": (f"{ROUTES}.health",),
        ".well-known": (f"{ROUTES}.oauth",),
        "oauth": (f"{ROUTES}.oauth",),
        "": (f"{CONSOLE}.routes",),
        "console": (
            f"{CONSOLE}.routes",
            f"{CONSOLE}.passkeys",
            f"{CONSOLE}.issuer",
            f"{CONSOLE}.saml",
            f"{CONSOLE}.people",
            f"{CONSOLE}.scim",
            f"{CONSOLE}.keys",
            f"{CONSOLE}.agents",
            f"{CONSOLE}.personas",
            f"{CONSOLE}.settings",
            f"{CONSOLE}.device_sign_in",
            f"{CONSOLE}.connectors",
            f"{CONSOLE}.sources",
            f"{CONSOLE}.ticket_sources",
            f"{CONSOLE}.channels",
            f"{CONSOLE}.webhooks",
            f"{CONSOLE}.widget",
            f"{CONSOLE}.costs",
            f"{CONSOLE}.upkeep",
            f"{CONSOLE}.stats",
            f"{CONSOLE}.transfer",
            f"{CONSOLE}.audit",
            f"{CONSOLE}.workflows",
            f"{CONSOLE}.networks",
            f"{CONSOLE}.discovery.feed",
            f"{CONSOLE}.discovery.intents",
            f"{CONSOLE}.discovery.profile",
            f"{CONSOLE}.discovery.opportunities",
            f"{CONSOLE}.discovery.negotiations",
            f"{CONSOLE}.discovery.contacts",
            f"{CONSOLE}.discovery.integrations",
            f"{CONSOLE}.approvals",
            f"{CONSOLE}.cited",
            f"{CONSOLE}.chats",
            f"{CONSOLE}.memories",
            f"{CONSOLE}.memory_merging",
            f"{CONSOLE}.publications",
            f"{CONSOLE}.documents",
            f"{CONSOLE}.forgetting",
            f"{CONSOLE}.searches",
            f"{CONSOLE}.investigations",
            f"{CONSOLE}.tool_calls",
            f"{CONSOLE}.escalations",
            f"{CONSOLE}.review",
            f"{CONSOLE}.tickets",
            f"{CONSOLE}.conversations",
            f"{CONSOLE}.summaries",
            f"{CONSOLE}.clients",
            f"{CONSOLE}.taints",
            f"{CONSOLE}.ledger",
            f"{CONSOLE}.graph",
            f"{CONSOLE}.entities",
            f"{CONSOLE}.nowhere",  # the last: it takes what no page has
        ),
        "mcp": ("cairn.api.mcp.endpoint",),
    }
)
"""The modules of each noun: the first part of a path, after `/v1` where there is one."""


class Nouns:
    """The routes an app has so far. A module is included once."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._included: dict[str, APIRouter] = {}

    def include(self, path: str) -> None:
        """Include the routes of the noun that `path` names; a path without one has none."""
        parts = [part for part in path.split("/", 3) if part]
        noun = parts[1] if parts[:1] == ["v1"] and len(parts) > 1 else "".join(parts[:1])
        for module in NOUNS.get(noun, ()):
            self._include(module)

    def include_all(self) -> None:
        """Include every route, for the document that describes them."""
        for modules in NOUNS.values():
            for module in modules:
                self._include(module)

    def methods_of(self, scope: Scope) -> list[str]:
        """Return every method of a request's path; the framework's 405 names those of one route."""
        routes = [
            route
            for router in self._included.values()
            for route in router.routes
            if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE
        ]
        return sorted({method for route in routes for method in route.methods or ()})

    def _include(self, module: str) -> None:
        if module not in self._included:
            self._included[module] = import_module(module).routes
            self._app.include_router(self._included[module])


class IncludeNoun:
    """Sees to it that a request's routes are there before it is routed."""

    def __init__(self, app: ASGIApp, *, nouns: Nouns) -> None:
        self.app = app
        self.nouns = nouns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "http":
            self.nouns.include(scope["path"])
        await self.app(scope, receive, send)
