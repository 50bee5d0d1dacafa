"""Consolidations: ask for a run, see what one would do, follow runs."""

from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer, replay_headers
from cairn.api.dependencies import Admin, Idempotency, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Name
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.consolidation.requests import Preview
from cairn.consolidation.runs import RunView

routes = router("operations")

_ROUTE = "consolidations"


class RunAccepted(TypedDict):
    """A run that waits to begin; follow it by its id."""

    id: UUID
    state: str


class ConsolidationIn(Body):
    """What is to be consolidated. Without `client_id`, the memories of every client.

    `dry_run` plans only: the answer holds the plan and its cost, and no memory changes.
    """

    client_id: Name | None = None
    dry_run: Annotated[bool, Field(description="Plan, and change nothing.")] = False


@routes.post(
    "/v1/consolidations",
    summary="Consolidate memories",
    status_code=202,
    response_model=None,
    responses={
        **answers(202, "The run; follow it by its id", RunAccepted),
        **answers(200, "What a run would do (`dry_run`)", Preview),
        **problems("not-found", "conflict", "budget-exceeded", body=True),
    },
)
def start_consolidation(
    body: ConsolidationIn, caller: Admin, services: Services, idempotency: Idempotency
) -> Response:
    """Wake the consolidation machine, which also runs every six hours; or plan only.

    A dry run plans for a few seconds; `more` says that memories were left for lack of time.
    """
    if body.dry_run:
        return answer(services.preview_consolidation(caller, client_id=body.client_id))
    run = services.start_consolidation(caller, client_id=body.client_id, idempotency=idempotency)
    return answer(
        {"id": run.id, "state": run.state},
        status=202,
        headers=replay_headers(replayed=run.replayed),
    )


@routes.get(
    "/v1/consolidations",
    summary="List runs of the consolidation",
    response_model=None,
    responses={**answers(200, "Runs, the newest first", PageOf[RunView]), **problems()},
)
def list_consolidations(
    caller: Admin,
    services: Services,
    options: Options,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> Response:
    """List runs, dry ones too, with what they did, what they cost and why they failed."""
    return newest_answer(
        partial(services.consolidations.page, caller),
        limit=limit,
        cursor=cursor,
        key="created_at",
        route=_ROUTE,
        options=options,
    )


@routes.get(
    "/v1/consolidations/{run_id}",
    summary="Follow one run",
    response_model=None,
    responses={**answers(200, "How far it is", RunView), **problems("not-found")},
)
def get_consolidation(
    run_id: Annotated[UUID, Path(description="From the answer to POST /v1/consolidations.")],
    caller: Admin,
    services: Services,
) -> Response:
    """Show a run: waiting, running, finished or failed, and its counts so far."""
    return answer(services.consolidations.show(caller, run_id))
