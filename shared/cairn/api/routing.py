"""The router every noun uses: strict JSON bodies, known query parameters, 415 before parsing."""

import re
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query
from fastapi.routing import APIRoute

from cairn.api.problems import Refused
from cairn.api.strict_json import parse
from cairn.kernel.errors import FieldError, ValidationFailed

_SAFE_NAME = re.compile(r"[A-Za-z0-9_\-]{1,64}")


class StrictRequest(Request):
    """A request whose JSON is parsed strictly, once, and kept for the idempotency hash."""

    async def json(self) -> Any:
        """Return the body's JSON value; Refused (malformed-body) when it is not strict JSON."""
        if not hasattr(self.state, "json"):
            self.state.json = parse(await self.body())
        return self.state.json


async def any_query() -> None:
    """Depend on this where a caller outside may add query parameters: webhooks, OAuth, OIDC."""


class StrictRoute(APIRoute):
    """Hands a `StrictRequest` to the framework.

    Refuses bodies not declared as JSON, and query parameters the route does not know or would
    read only one value of: a filter that is ignored answers another question.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the framework's handler behind the content type check."""
        handle = super().get_route_handler()
        takes_body = self.body_field is not None
        takes_any = any(each.call is any_query for each in self.dependant.dependencies)
        names = {
            field.alias
            for field in get_flat_params(self.dependant)
            if isinstance(field.field_info, Query)
        }

        async def strict(request: Request) -> Response:
            if not takes_any:
                _require_known(request, names)
            if takes_body:
                require_json(request)
            return await handle(StrictRequest(request.scope, request.receive))

        return strict


def router(tag: str) -> APIRouter:
    """Return a router for one noun. An operation's id is its function's name."""
    return APIRouter(
        tags=[tag],
        route_class=StrictRoute,
        generate_unique_id_function=lambda route: route.name,
    )


def _require_known(request: Request, names: set[str]) -> None:
    counts = Counter(name for name, _ in request.query_params.multi_items())
    listed = f"This path takes {', '.join(sorted(names))}." if names else "This path takes none."
    wrong = [
        FieldError(
            f"query.{name if _SAFE_NAME.fullmatch(name) else '?'}",
            "may be given once." if name in names else f"is not known. {listed}",
        )
        for name, times in counts.items()
        if name not in names or times > 1
    ]
    if wrong:
        raise ValidationFailed(
            "A query parameter is not one of this path's.", reason="query", errors=wrong
        )


def require_json(request: Request) -> None:
    """Raise Refused (unsupported-media-type) for a body that is not said to be plain JSON."""
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
