"""Ingestions: how far a document's way through the state machine is."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Response

from cairn.api.answers import answer
from cairn.api.dependencies import Services, Writer
from cairn.api.documentation import answers, problems
from cairn.api.routing import router
from cairn.reading.views import IngestionView

routes = router("documents")


@routes.get(
    "/v1/ingestions/{ingestion_id}",
    summary="Follow one ingestion",
    response_model=None,
    responses={**answers(200, "How far it is", IngestionView), **problems("not-found")},
)
def get_ingestion(
    ingestion_id: Annotated[UUID, Path(description="From the answer to POST /v1/documents.")],
    caller: Writer,
    services: Services,
) -> Response:
    """Show the status, the counts so far and, when it failed, why."""
    return answer(services.browse.get_ingestion(caller, ingestion_id))
