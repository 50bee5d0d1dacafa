"""Nodes without a vector of the present embedding model: how many there are, and queue them."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Response

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import answers, problems
from cairn.api.routing import router
from cairn.reembedding.reindex import MissingVectors, Reindexed

routes = router("operations")


@routes.get(
    "/v1/reindex",
    summary="How many nodes have no vector of the present model",
    response_model=None,
    responses={**answers(200, "Counts", MissingVectors), **problems()},
)
def count_missing_vectors(caller: Admin, services: Services) -> Response:
    """Count the nodes that are found by keyword only, and those of them that wait for a vector."""
    return answer(services.count_missing_vectors(caller))


@routes.post(
    "/v1/reindex",
    summary="Queue nodes that have no vector of the present model",
    status_code=202,
    response_model=None,
    responses={**answers(202, "What was looked at and queued", Reindexed), **problems()},
)
def reindex(
    caller: Admin,
    services: Services,
    after: Annotated[
        UUID | None, Query(description="The `after` of the answer before, to go on there.")
    ] = None,
) -> Response:
    """Queue a part of the workspace; ask again with `after` while there is `more`.

    A node that waits already is not queued again, so the whole may be repeated.
    """
    return answer(services.reindex(caller, after=after), status=202)
