"""What a workspace publishes: publish, list, withdraw. Not the reading of it (`api/sites.py`)."""

import base64
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Services, Writer
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, Text, at_most, examples
from cairn.api.routing import router
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.publishing.addresses import MAX_NAME_CHARS, MAX_PATH_CHARS, PublicHost
from cairn.publishing.files import MAX_FILES
from cairn.publishing.publications import (
    MAX_TITLE_CHARS,
    NewPublication,
    Publication,
    PublicationKind,
    Publications,
)

routes = router("publications")


class FileIn(Body):
    """A file to publish, by its path below the publication's address."""

    path: Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARS)]
    content_base64: str


class PublicationIn(Body):
    """What to publish: exactly one of `report_id`, `document_id` and `files`."""

    model_config = examples(
        {"report_id": "01982f4e-7c1a-7b3e-9a52-3f1f5d0c8e11", "name": "tides-of-march"}
    )

    report_id: Annotated[UUID, Field(strict=False)] | None = None
    document_id: Annotated[UUID, Field(strict=False)] | None = None
    files: Annotated[list[FileIn], Field(min_length=1, max_length=MAX_FILES)] | None = None
    title: Annotated[Text, at_most(MAX_TITLE_CHARS)] | None = None
    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)] | None = None

    @model_validator(mode="after")
    def exactly_one_source(self) -> "PublicationIn":
        """Refuse nothing to publish, or two things at once."""
        sources = [self.report_id, self.document_id, self.files]
        if sum(each is not None for each in sources) != 1:
            raise PydanticCustomError(
                "source", "Send exactly one of report_id, document_id and files"
            )
        return self

    def record(self) -> NewPublication:
        """Return the use case's record; ValidationFailed when a file's base64 is not whole."""
        kind = (
            PublicationKind.REPORT
            if self.report_id
            else PublicationKind.DOCUMENT
            if self.document_id
            else PublicationKind.FILES
        )
        return NewPublication(
            kind=kind,
            node_id=self.report_id or self.document_id,
            files=_contents(self.files or []),
            title=self.title,
            name=self.name,
        )


class PublishedPath(TypedDict):
    """A file of a publication."""

    path: str
    size: int
    sha256: str


class PublicationOut(TypedDict):
    """What is published, and where."""

    id: UUID
    url: str | None
    name: str
    kind: PublicationKind
    title: str
    node_id: UUID | None
    files: list[PublishedPath]
    is_served: bool
    published_by: UUID
    published_at: datetime


class PublicHostOut(TypedDict):
    """Where a workspace's sites are; with a `reason` they are nowhere, and the rest is null."""

    hostname: str | None
    url: str | None
    source: str | None
    reason: str | None


class PublicationWithdrawn(TypedDict):
    """What nobody reads any more."""

    id: UUID


@routes.post(
    "/v1/publications",
    summary="Publish a report, a document or files",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "Everybody may read it", PublicationOut),
        **problems("not-found", "conflict", body=True),
    },
)
def publish(body: PublicationIn, caller: Writer, services: Services) -> Response:
    """Put a snapshot on the web. For admins and operators; its address needs no key."""
    publication = services.publications.publish(caller, body.record())
    return answer(publication_json(services.publications, publication), status=201)


@routes.get(
    "/v1/publications",
    summary="List what is published",
    response_model=None,
    responses={**answers(200, "The newest first", ListOf[PublicationOut]), **problems()},
)
def list_publications(caller: Writer, services: Services) -> Response:
    """List what everybody may read, with addresses."""
    listed = services.publications.list(caller)
    return answer({"items": [publication_json(services.publications, each) for each in listed]})


@routes.get(
    "/v1/publications/host",
    summary="Tell where sites are served",
    response_model=None,
    responses={**answers(200, "The host, or why there is none", PublicHostOut), **problems()},
)
def public_host(caller: Writer, services: Services) -> Response:
    """Tell the public host and what the workspace's addresses begin with, as the setting says."""
    return answer(public_host_json(services.publications.host(caller)))


@routes.delete(
    "/v1/publications/{publication_id}",
    summary="Withdraw what is published",
    response_model=None,
    responses={
        **answers(200, "Nobody reads it any more", PublicationWithdrawn),
        **problems("not-found"),
    },
)
def withdraw_publication(
    publication_id: Annotated[UUID, Path(description="The publication's id.")],
    caller: Writer,
    services: Services,
) -> Response:
    """Take a publication off the web, at once."""
    services.publications.withdraw(caller, publication_id)
    gone: PublicationWithdrawn = {"id": publication_id}
    return answer(gone)


def public_host_json(host: PublicHost) -> PublicHostOut:
    """Return the JSON form of where sites are served."""
    return {
        "hostname": host.hostname,
        "url": host.url,
        "source": host.source,
        "reason": host.reason,
    }


def publication_json(publications: Publications, publication: Publication) -> PublicationOut:
    """Return the JSON form of a publication."""
    return {
        "id": publication.id,
        "url": publications.url(publication),
        "name": publication.name,
        "kind": publication.kind,
        "title": publication.title,
        "node_id": publication.node_id,
        "files": [
            {"path": path, "size": file.size, "sha256": file.sha256}
            for path, file in sorted(publication.files.items())
        ],
        "is_served": publication.is_served,
        "published_by": publication.published_by,
        "published_at": publication.published_at,
    }


def _contents(files: list[FileIn]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    for number, file in enumerate(files):
        try:
            content = base64.b64decode(file.content_base64, validate=True)
        except ValueError as exc:
            detail = "Expected standard base64 with its padding."
            place = f"body.files.{number}.content_base64"
            raise ValidationFailed(
                detail, reason="base64", errors=[FieldError(place, detail)]
            ) from exc
        if file.path in contents:
            detail = "is there twice"
            raise ValidationFailed(
                f"A path {detail}.", errors=[FieldError(f"body.files.{number}.path", detail)]
            )
        contents[file.path] = content
    return contents
