"""The numbers of a workspace: what it holds, what waits, what models have cost."""

from typing import Annotated

from fastapi import Query, Response
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services, Writer
from cairn.api.documentation import answers, problems
from cairn.api.fields import Day
from cairn.api.routing import router
from cairn.llm.costs import CostBy, CostReport
from cairn.operations.stats import Stats
from cairn.reading.views import Status
from cairn.rebuild.missing_keys import Orphans

routes = router("operations")


class OrphansByKind(TypedDict):
    """Rows that lost what they belong to, by what they lack."""

    node_without_entry: Orphans
    edge_without_end: Orphans
    vector_without_node: Orphans
    entity_without_reference: Orphans
    entry_without_row: Orphans


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
    responses={**answers(200, "Counts and ids by kind", OrphansByKind), **problems()},
)
def find_orphans(caller: Admin, services: Services) -> Response:
    """Find nodes without an entry, edges without an end, vectors without a node, and the like.

    Each kind is counted up to 1,000.
    """
    return answer(services.find_orphans(caller))


@routes.get(
    "/v1/costs",
    summary="Report what models have cost",
    response_model=None,
    responses={**answers(200, "The costs of a period", CostReport), **problems()},
)
def get_costs(
    caller: Admin,
    services: Services,
    by: Annotated[CostBy, Query(description="What a row is.")] = CostBy.MODEL,
    since: Annotated[
        Day | None, Query(description="The first day (UTC); 29 days before the last unless said.")
    ] = None,
    until: Annotated[
        Day | None, Query(description="The last day (UTC); today unless said.")
    ] = None,
) -> Response:
    """Report tokens, US dollars and calls by model, purpose, day, persona or investigation.

    A model without a price costs nothing here and is counted in `unpriced_calls`. Calls whose
    details are gone are in `total` and in `dropped_calls`, not in rows of models and purposes; by
    persona and investigation (the dearest hundred) so are those made for something else.
    """
    return answer(services.costs(caller, by=by, since=since, until=until))


@routes.get(
    "/v1/status",
    summary="How much work waits",
    response_model=None,
    responses={**answers(200, "Counts", Status), **problems()},
)
def get_status(caller: Writer, services: Services) -> Response:
    """Count what waits for its embedding, what failed, and what is stored."""
    return answer(services.browse.get_status(caller))
