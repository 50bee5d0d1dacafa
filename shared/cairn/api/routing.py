"""The router every noun uses: bodies are strict JSON, and 415 comes before parsing."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from cairn.api.problems import Refused
from cairn.api.strict_json import parse


class StrictRequest(Request):
    """A request whose JSON is parsed strictly, once, and kept for the idempotency hash."""

    async def json(self) -> Any:
        """Return the body's JSON value; Refused (malformed-body) when it is not strict JSON."""
        if not hasattr(self.state, "json"):
            self.state.json = parse(await self.body())
        return self.state.json


class StrictRoute(APIRoute):
    """Hands a `StrictRequest` to the framework, and refuses bodies not declared as JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the framework's handler behind the content type check."""
        handle = super().get_route_handler()
        takes_body = self.body_field is not None

        async def strict(request: Request) -> Response:
            if takes_body:
                _require_json(request)
            return await handle(StrictRequest(request.scope, request.receive))

        return strict


def router(tag: str) -> APIRouter:
    """Return a router for one noun."""
    return APIRouter(tags=[tag], route_class=StrictRoute)


def _require_json(request: Request) -> None:
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise Refused(
            "unsupported-media-type",
            "Send the body as application/json.",
            reason="content-type" if media_type else "no-content-type",
        )
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused(
            "unsupported-media-type",
            "Compressed request bodies are not accepted.",
            reason="content-encoding",
        )
