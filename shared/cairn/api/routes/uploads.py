"""Uploads: a ticket to send a document that is larger than a request may be."""

from typing import Annotated

from fastapi import Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Services, Writer
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body
from cairn.api.routes.documents import MediaType
from cairn.api.routing import router
from cairn.documents.items import UploadTicket

routes = router("documents")


class UploadIn(Body):
    """What will be uploaded."""

    size: Annotated[int, Field(ge=1, le=2**40, description="In bytes, exactly.")]
    media_type: MediaType | None = None


@routes.post(
    "/v1/uploads",
    summary="Prepare the upload of a large document",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "Where to PUT it, and until when", UploadTicket),
        **problems(body=True),
    },
)
def create_upload(body: UploadIn, caller: Writer, services: Services) -> Response:
    """Return a URL to PUT the bytes to; then ingest them by `upload_id`."""
    ticket = services.create_upload(caller, size=body.size, media_type=body.media_type)
    return answer(ticket, status=201)
