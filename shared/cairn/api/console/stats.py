"""The page of statistics: what the workspace holds, and how good it is. Numbers, and no texts."""

from fastapi import APIRouter, Request, Response

from cairn.api.console.routes import ConsoleRoute, Reader, shown

STATS = "/console/stats"
COUNTS = {
    "labels": "Kinds of nodes",
    "kinds": "Kinds of memories",
    "states": "States",
    "categories": "Categories",
    "knowledge_categories": "Categories of knowledge",
    "vectors": "Vectors by model",
    "outbox": "Work that waits",
}
"""What is counted by name, with its title."""
RATES = {
    "decayed": "Facts whose confidence has decayed below 50 %",
    "junk": "Memories that say nothing",
    "duplicates": "Duplicates of older ones",
    "contradictions": "Contradicted ones",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(STATS)
def show_stats(request: Request, visitor: Reader) -> Response:
    """Show the numbers of the workspace, as they are now."""
    stats = visitor.services.get_stats(visitor.principal)
    return shown(
        request,
        visitor,
        "stats.html",
        stats=stats,
        counts=[(name, title, getattr(stats, name)) for name, title in COUNTS.items()],
        rates=[(title, getattr(stats, name)) for name, title in RATES.items()],
    )
