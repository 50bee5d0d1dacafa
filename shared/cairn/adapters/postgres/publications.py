"""What is published of a workspace, in PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, record, scalar
from cairn.publishing.publications import Part, Publication, PublicationKind, Source, StoredFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.adapters.postgres.database import Database


def _files(value: Mapping[str, Any]) -> Mapping[str, StoredFile]:
    return {path: StoredFile(**file) for path, file in value.items()}


def _served(*, id: UUID, files: Mapping[str, StoredFile]) -> tuple[UUID, Mapping[str, StoredFile]]:
    return id, files


_PUBLICATION = partial(record, Publication, kind=PublicationKind, files=_files)


class PostgresPublications(Store):
    """Publications, and what may become some."""

    def source(self, node_id: UUID, label: str) -> Source | None:
        """Return a report or document in use."""
        return self.first_of(record(Source), "publication.source", id=node_id, label=label)

    def parts(self, document_id: UUID) -> Sequence[Part]:
        """Return a document's sections and chunks, in its order."""
        return self.all_of(record(Part), "publication.parts", id=document_id)

    def count(self) -> int:
        """Return how many there are, with those that are being stored."""
        return self.value("publication.count")

    def is_taken(self, site: str, name: str) -> bool:
        """Return whether an address leads somewhere."""
        return self.value("publication.is_taken", site=site, slug=name)

    def add(self, publication: Publication) -> None:
        """Keep one whose files are being stored."""
        files = {path: asdict(file) for path, file in publication.files.items()}
        self.write("publication.add", publication, files=json.dumps(files))

    def show(self, publication_id: UUID) -> bool:
        """Make it public; False when it is not there to be."""
        return self.run("publication.show", id=publication_id).rowcount == 1

    def withdraw(self, publication_id: UUID) -> bool:
        """Take it away from everybody; False when it is not public."""
        return self.run("publication.withdraw", id=publication_id).rowcount == 1

    def give_up(self, publication_id: UUID) -> None:
        """Let it never become public, if it is not."""
        self.run("publication.give_up", id=publication_id)

    def left_over(self, before: datetime) -> Sequence[UUID]:
        """Return some whose files are to be removed."""
        return self.values("publication.left_over", before=before)

    def remove(self, publication_id: UUID) -> None:
        """Remove the row of one that was withdrawn."""
        self.run("publication.remove", id=publication_id)

    def list(self) -> Sequence[Publication]:
        """Return those that are public, newest first."""
        return self.all_of(_PUBLICATION(), "publication.list")

    def served(self, site: str, name: str) -> tuple[UUID, Mapping[str, StoredFile]] | None:
        """Return the publication at an address, and its files."""
        row = record(_served, files=_files)
        return self.first_of(row, "publication.served", site=site, slug=name)


@dataclass(frozen=True)
class WorkspaceOfPublication:
    """Whose an address is, of any workspace."""

    database: Database

    def __call__(self, site: str, name: str) -> UUID | None:
        """Return the workspace; None for an address that leads nowhere."""
        with self.database.connection() as connection:
            return scalar(connection, "publication.workspace_of", {"site": site, "name": name})
