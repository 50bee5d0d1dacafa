"""Addresses of the console that lead nowhere. Not those of things that are not there any more.

Its routes come after all others, which they would hide.
"""

from fastapi import APIRouter, Response

from cairn.api.console import guard, pages
from cairn.api.console.routes import ConsoleRoute, Reader
from cairn.kernel.errors import NotFound

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get("/console")
def go_home() -> Response:
    """Lead to Home."""
    return pages.go_to(guard.HOME)


@routes.get("/console/{rest:path}")
def show_nothing(visitor: Reader, rest: str) -> Response:
    """Say that there is no such page, to who is signed in."""
    raise NotFound("There is no page at this address. Choose one of the menu, or begin at Home.")
