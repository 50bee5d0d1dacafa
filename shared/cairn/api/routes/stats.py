"""What a workspace holds, how good it is, and what lost what it belongs to: numbers, no texts."""

from collections.abc import Mapping

from fastapi import Response

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import answers, problems
from cairn.api.routing import router
from cairn.operations.stats import Stats
from cairn.rebuild.orphans import Orphans

routes = router("operations")


@routes.get(
    "/v1/stats",
    summary="What the workspace holds and how good it is",
    response_model=None,
    responses={**answers(200, "Numbers", Stats), **problems()},
)
def get_stats(caller: Admin, services: Services) -> Response:
    """Count nodes, decayed facts, junk, duplicates, contradictions, bytes, vectors and what waits.

    Rates are exact up to 2,000 active memories and of a random sample beyond; each says which.
    """
    return answer(services.get_stats(caller))


@routes.get(
    "/v1/stats/orphans",
    summary="Rows that lost what they belong to",
    response_model=None,
    responses={**answers(200, "Counts and ids by kind", Mapping[str, Orphans]), **problems()},
)
def find_orphans(caller: Admin, services: Services) -> Response:
    """Find nodes without an entry, edges without an end, vectors without a node, and the like.

    Each kind is counted up to 1,000.
    """
    return answer(services.find_orphans(caller))
