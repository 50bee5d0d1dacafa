"""Whether the process lives and the database answers; metrics for Prometheus."""

import hmac
from typing import Literal

from fastapi import Request, Response
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Options, Services
from cairn.api.documentation import answers, problems
from cairn.api.problems import Refused
from cairn.api.routing import router
from cairn.kernel.errors import Unauthenticated

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


@routes.get("/metrics", include_in_schema=False)
def metrics(request: Request, services: Services, options: Options) -> Response:
    """Show them; there is no such path where they are told to CloudWatch instead."""
    if options.metrics_token is None:
        raise Refused("not-found", "There is no such path.", reason="route")
    header = request.headers.get("authorization", "").encode()
    if not hmac.compare_digest(header, f"Bearer {options.metrics_token}".encode()):
        raise Unauthenticated("The token of /metrics is missing or wrong.", reason="metrics-token")
    return Response(services.show_metrics(), media_type="text/plain; version=1.0.0")
