"""Rebuilds: make the projections anew from the ledger, or compare them with it."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body
from cairn.api.routing import router
from cairn.rebuild.runs import RebuildView

routes = router("operations")


class RebuildIn(Body):
    """What is wanted: a rebuild, or with `check` a comparison only."""

    check: Annotated[bool, Field(description="Compare, and change nothing.")] = False


@routes.post(
    "/v1/rebuilds",
    summary="Make the projections anew from the ledger",
    status_code=202,
    response_model=None,
    responses={
        **answers(202, "The rebuild; follow it by its id", RebuildView),
        **problems("conflict", body=True),
    },
)
def start_rebuild(body: RebuildIn, caller: Admin, services: Services) -> Response:
    """Replay the ledger beside the rows in use, then replace what differs in one transaction.

    Searches go on all the while. Writes wait only while the rows are put in place; then a write may
    be told to come again (503 `ledger-busy`).
    """
    return answer(services.start_rebuild(caller, check=body.check), status=202)


@routes.get(
    "/v1/rebuilds/{rebuild_id}",
    summary="Follow one rebuild",
    response_model=None,
    responses={**answers(200, "How far it is", RebuildView), **problems("not-found")},
)
def get_rebuild(
    rebuild_id: Annotated[UUID, Path(description="From the answer to POST /v1/rebuilds.")],
    caller: Admin,
    services: Services,
) -> Response:
    """Show a rebuild: running, finished with checksums by table, or failed with a reason."""
    return answer(services.show_rebuild(caller, rebuild_id))
