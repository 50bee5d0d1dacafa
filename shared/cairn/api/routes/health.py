"""Liveness and readiness, for load balancers and launchers. No key needed, nothing told."""

from typing import Literal

from fastapi import Response
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Services
from cairn.api.documentation import answers, problems
from cairn.api.routing import router

routes = router("operations")


class Health(TypedDict):
    """The process is up."""

    status: Literal["ok"]


class Readiness(TypedDict):
    """Whether the work that waits is being done."""

    status: Literal["ready", "behind"]
    oldest_waiting_seconds: int


@routes.get(
    "/healthz",
    summary="Is the process up?",
    response_model=None,
    responses={**answers(200, "Yes", Health, {"status": "ok"}), **problems(public=True)},
)
def get_health() -> Response:
    """Answer without touching anything else."""
    return answer({"status": "ok"})


@routes.get(
    "/readyz",
    summary="Can it serve?",
    response_model=None,
    responses={
        **answers(
            200,
            "Yes: the database answers; `behind` when work waits for more than 15 minutes",
            Readiness,
            {"status": "ready", "oldest_waiting_seconds": 0},
        ),
        **problems(public=True),
    },
)
def get_readiness(services: Services) -> Response:
    """Ask the database for one row: the oldest work that nobody took."""
    backlog = services.check_ready()
    status = "behind" if backlog.behind else "ready"
    return answer({"status": status, "oldest_waiting_seconds": backlog.seconds})
