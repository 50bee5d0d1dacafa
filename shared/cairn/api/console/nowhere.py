"""The page of an address that leads to none. Its module stands last: it takes what is left."""

from contextlib import suppress

from fastapi import APIRouter, Request

from cairn.api.console.guard import visitor_of
from cairn.api.console.routes import ConsoleRoute
from cairn.kernel.errors import CairnError, NotFound

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get("/console/{path:path}")
def nowhere(request: Request, path: str) -> None:
    """Say so on a page, with the menu for who is signed in: a browser asks here, and no program."""
    with suppress(CairnError):
        visitor_of(request)
    raise NotFound("There is no such page. The menu leads to all of them.", path=path[:200])
