"""The page of an address that leads to none. Its module stands last: it takes what is left."""

from fastapi import APIRouter

from cairn.api.console.routes import ConsoleRoute
from cairn.kernel.errors import NotFound

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get("/console/{path:path}")
def nowhere(path: str) -> None:
    """Say so on a page: a browser asks here, and no program."""
    raise NotFound("There is no such page. The menu leads to all of them.", path=path[:200])
