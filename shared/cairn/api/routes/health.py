"""Liveness and readiness, for load balancers and launchers. No key needed, nothing told."""

from fastapi import Response

from cairn.api.answers import answer
from cairn.api.dependencies import Services
from cairn.api.documentation import answers, problems
from cairn.api.routing import router

routes = router("operations")
_SCHEMA = {"type": "object", "properties": {"status": {"type": "string"}}}


@routes.get(
    "/healthz",
    summary="Is the process up?",
    response_model=None,
    responses={**answers(200, "Yes", _SCHEMA, {"status": "ok"}), **problems(public=True)},
)
def healthz() -> Response:
    """Answer without touching anything else."""
    return answer({"status": "ok"})


@routes.get(
    "/readyz",
    summary="Can it serve?",
    response_model=None,
    responses={
        **answers(200, "Yes: the database answers", _SCHEMA, {"status": "ready"}),
        **problems(public=True),
    },
)
def readyz(services: Services) -> Response:
    """Ask the database for one row."""
    services.check_ready()
    return answer({"status": "ready"})
