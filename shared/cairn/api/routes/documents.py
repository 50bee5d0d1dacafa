"""Documents, direct uploads of them, and how their ingestion goes."""

import base64
from typing import Annotated, Any
from uuid import UUID

from fastapi import Body as BodyParameter
from fastapi import Path, Query, Response
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from cairn.api import pages
from cairn.api.answers import answer, replay_headers
from cairn.api.dependencies import ClientGiven, ClientWriter, Idempotency, Options, Services, Writer
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Metadata, Name, Names, ScopeName, at_most
from cairn.api.pages import Cursor, Limit, page_answer
from cairn.api.routing import router
from cairn.documents.ports import DocumentStatus, NewDocument, UploadTicket
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.records import convert
from cairn.reading.views import DocumentView, IngestionView
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.items import Deleted

routes = router("documents")

MAX_URI_CHARS = 2_000
MediaType = Annotated[str, Field(pattern=r"^[a-z]+/[a-zA-Z0-9.+\-]{1,100}$")]


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class DocumentTaken(TypedDict):
    """A document that is stored; its ingestion runs."""

    document_id: UUID
    ingestion_id: UUID
    status: DocumentStatus
    position: int


class DocumentIn(Body):
    """A document: exactly one of `text`, `content_base64` and `upload_id` carries its bytes."""

    source_uri: Annotated[str, Field(min_length=1), at_most(MAX_URI_CHARS)]
    title: Annotated[str, Field(min_length=1), at_most(500)] | None = None
    media_type: MediaType | None = None
    text: str | None = None
    content_base64: str | None = None
    upload_id: Annotated[UUID, Field(strict=False)] | None = None
    client_id: Name = GLOBAL_CLIENT
    scope: ScopeName | None = None
    agents: Names = Field(default_factory=list[str])
    data_subjects: Names = Field(default_factory=list[str])
    metadata: Metadata = Field(default_factory=dict[str, Any])
    produced_by_task_id: Annotated[UUID, Field(strict=False)] | None = None

    @model_validator(mode="after")
    def exactly_one_source(self) -> "DocumentIn":
        """Refuse a document without bytes, or with two kinds of them."""
        sources = [self.text, self.content_base64, self.upload_id]
        if sum(each is not None for each in sources) != 1:
            raise PydanticCustomError(
                "source", "Send exactly one of text, content_base64 and upload_id"
            )
        return self

    def record(self) -> NewDocument:
        """Return the use case's record; ValidationFailed when the base64 is not whole."""
        return convert(self, NewDocument, content=self._content())

    def _content(self) -> bytes | None:
        if self.text is not None:
            return self.text.encode("utf-8")
        if self.content_base64 is None:
            return None
        try:
            return base64.b64decode(self.content_base64, validate=True)
        except ValueError as exc:
            detail = "Expected standard base64 with its padding."
            raise ValidationFailed(
                detail, reason="base64", errors=[FieldError("body.content_base64", detail)]
            ) from exc


DocumentId = Annotated[UUID, Path(description="The document's id.")]


@routes.post(
    "/v1/documents",
    summary="Ingest a document",
    status_code=202,
    response_model=None,
    responses={
        **answers(202, "Stored; the ingestion runs", DocumentTaken),
        **problems("not-found", "conflict", body=True),
    },
)
def ingest_document(
    body: Annotated[
        DocumentIn,
        BodyParameter(
            openapi_examples={
                "markdown": {
                    "value": {
                        "source_uri": "handbook://on-call",
                        "title": "On call",
                        "media_type": "text/markdown",
                        "text": "# On call\n\nThe pager goes round every Monday.",
                    }
                }
            }
        ),
    ],
    caller: Writer,
    services: Services,
    idempotency: Idempotency,
) -> Response:
    """Store the bytes and start parsing, chunking, summaries and embedding.

    Sending a known `source_uri` again replaces what changed. Follow it at `/v1/ingestions/{id}`.
    """
    accepted = services.ingest_document(caller, body.record(), idempotency=idempotency)
    content: DocumentTaken = {
        "document_id": accepted.document_id,
        "ingestion_id": accepted.ingestion_id,
        "status": accepted.status,
        "position": accepted.position,
    }
    return answer(content, status=202, headers=replay_headers(replayed=accepted.replayed))


@routes.get(
    "/v1/documents",
    summary="List documents, newest first",
    response_model=None,
    responses={**answers(200, "One page", PageOf[DocumentView]), **problems()},
)
def list_documents(
    caller: ClientWriter,
    services: Services,
    options: Options,
    client_id: ClientGiven,
    source_uri: Annotated[
        str | None,
        Query(max_length=MAX_URI_CHARS, description="Its source, also as citations write it."),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the documents the key may see, without their sections."""
    filters = {"client_id": client_id, "source_uri": source_uri}
    after = pages.decode(cursor, route="documents", filters=filters)
    page = services.browse.list_documents(
        caller, client_id=client_id, source_uri=source_uri, limit=limit, after=after
    )
    return page_answer(page, route="documents", filters=filters, options=options)


@routes.get(
    "/v1/documents/{document_id}",
    summary="Read one document",
    response_model=None,
    responses={**answers(200, "The document", DocumentView), **problems("not-found")},
)
def get_document(document_id: DocumentId, caller: ClientWriter, services: Services) -> Response:
    """Read a document's state, its sections and how many of its chunks are embedded."""
    return answer(services.browse.get_document(caller, document_id))


@routes.delete(
    "/v1/documents/{document_id}",
    summary="Delete one document softly",
    response_model=None,
    responses={**answers(200, "It is hidden now", Deleted), **problems("not-found", "conflict")},
)
def delete_document(document_id: DocumentId, caller: Writer, services: Services) -> Response:
    """Hide a document, its sections and its chunks from search and lists."""
    return answer(services.delete_document(caller, document_id))


class UploadIn(Body):
    """What will be uploaded."""

    size: Annotated[int, Field(ge=1, le=2**40, description="In bytes, exactly.")]
    media_type: MediaType | None = None
    sha256: Sha256 | None = None


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
    """Return a URL to PUT the bytes to, once, with its headers; then ingest them by `upload_id`."""
    ticket = services.create_upload(
        caller, size=body.size, media_type=body.media_type, sha256=body.sha256
    )
    return answer(ticket, status=201)


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
