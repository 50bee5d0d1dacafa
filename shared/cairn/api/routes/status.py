"""How much work waits in a workspace."""

from fastapi import Response

from cairn.api.answers import answer
from cairn.api.dependencies import Services, Writer
from cairn.api.documentation import answers, problems
from cairn.api.routing import router
from cairn.reading.views import Status

routes = router("operations")


@routes.get(
    "/v1/status",
    summary="How much work waits",
    response_model=None,
    responses={**answers(200, "Counts", Status), **problems()},
)
def get_status(caller: Writer, services: Services) -> Response:
    """Count what waits for its embedding, what failed, and what is stored."""
    return answer(services.browse.get_status(caller))
