"""What models have cost the workspace. An admin's route."""

from typing import Annotated

from fastapi import Query, Response

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Day
from cairn.api.routing import router
from cairn.llm.costs import CostBy, CostReport

routes = router("operations")


@routes.get(
    "/v1/costs",
    summary="Report what models have cost",
    response_model=None,
    responses={**answers(200, "The costs of a period", CostReport), **problems()},
)
def get_costs(
    caller: Admin,
    services: Services,
    by: Annotated[CostBy, Query(description="What a row is: model, purpose, day, workspace.")] = (
        CostBy.MODEL
    ),
    since: Annotated[
        Day | None, Query(description="The first day (UTC); 29 days before the last unless said.")
    ] = None,
    until: Annotated[
        Day | None, Query(description="The last day (UTC); today unless said.")
    ] = None,
) -> Response:
    """Report tokens, US dollars and calls by model, purpose, day, or of the whole workspace.

    A model without a price costs nothing here and is counted in `unpriced_calls`. Calls whose
    details are gone are in `total` and in `dropped_calls`, not in rows of models and purposes.
    """
    return answer(services.costs(caller, by=by, since=since, until=until))
