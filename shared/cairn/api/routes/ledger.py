"""The ledger as its readers see it: entries by position, and whether the chain holds."""

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import Query, Response

from cairn.anchors.anchors import AnchoredVerification
from cairn.api import pages
from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Name, Timestamp
from cairn.api.pages import Cursor, Limit, Position, page_answer
from cairn.api.routing import router
from cairn.reading.views import LedgerEntryView, LedgerFilter, LedgerVerification

routes = router("ledger")


@routes.get(
    "/v1/ledger",
    summary="Read the ledger",
    response_model=None,
    responses={
        **answers(200, "One page", PageOf[LedgerEntryView]),
        **problems(),
    },
)
def list_ledger(
    caller: Admin,
    services: Services,
    options: Options,
    type: Annotated[
        str | None, Query(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$", max_length=100)
    ] = None,
    from_position: Annotated[Position, Query()] = 1,
    actor_id: Annotated[Name | None, Query()] = None,
    subject_id: Annotated[UUID | None, Query()] = None,
    recorded_from: Annotated[Timestamp | None, Query()] = None,
    recorded_to: Annotated[Timestamp | None, Query()] = None,
    newest_first: Annotated[bool, Query()] = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Read entries with their hashes. Bodies are encrypted and stay out of the answer."""
    where = LedgerFilter(
        type=type,
        from_position=from_position,
        actor_id=actor_id,
        subject_id=subject_id,
        recorded_from=recorded_from,
        recorded_to=recorded_to,
        newest_first=newest_first,
    )
    filters = asdict(where)
    after = pages.decode(cursor, route="ledger", filters=filters)
    page = services.browse.list_ledger(caller, where, limit=limit, after=after)
    return page_answer(page, route="ledger", filters=filters, options=options)


@routes.get(
    "/v1/ledger/verify",
    summary="Verify the ledger",
    response_model=None,
    responses={
        **answers(
            200,
            "Whether the chain holds, or where it breaks",
            LedgerVerification | AnchoredVerification,
        ),
        **problems(),
    },
)
def verify_ledger(
    caller: Admin, services: Services, anchors: Annotated[bool, Query()] = False
) -> Response:
    """Recompute every hash of the workspace's chain and name the first bad position.

    With `anchors` the chain is also held to the signed heads outside the database.
    """
    if anchors:
        return answer(services.verify_anchors(caller))
    return answer(services.verify_ledger(caller))
