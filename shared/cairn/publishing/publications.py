"""Publish, list and withdraw: what a person does about the workspace's sites. Not their reading.

A publication is a snapshot. Its row comes first and says whom it shows, so that a forgetting finds
it whatever happens to who publishes; it is read by others once every file is stored, and until it
is withdrawn; files go after that.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.publishing.addresses import (
    NO_SITES,
    ROOT,
    SITES_SETTING,
    PublicHost,
    checked_name,
    public_host,
    site_of,
    unguessable_name,
)
from cairn.publishing.files import check_files
from cairn.publishing.pages import Passage, render
from cairn.writing.append import append_unprojected, principal_actor
from cairn.writing.entries import plan_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.documents.ports import ObjectStore
    from cairn.forgetting.ports import ObjectEraser
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform

MAX_PUBLICATIONS = 1_000
MAX_TITLE_CHARS = 256
GIVEN_UP_AFTER = timedelta(hours=1)
"""A publication that is not whole by then is not being stored any more."""


class PublicationKind(StrEnum):
    """What a publication was made of."""

    REPORT = "report"
    DOCUMENT = "document"
    FILES = "files"


LABELS = {PublicationKind.REPORT: "Report", PublicationKind.DOCUMENT: "Document"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPublication:
    """What is to be published: a node of a kind, or `files` by their paths.

    Without a `name` its address cannot be guessed.
    """

    kind: PublicationKind
    node_id: UUID | None = None
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    title: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A section or chunk of a document; `held_back` by a taint."""

    id: UUID
    label: str
    text: str
    headings: tuple[str, ...]
    data_subjects: tuple[UUID, ...]
    held_back: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A report or document as it is when it is published."""

    id: UUID
    title: str
    text: str
    data_subjects: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file of a publication: its SHA-256 in hex, and its bytes."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A row of `publication`."""

    id: UUID
    site: str
    name: str
    kind: PublicationKind
    title: str
    node_id: UUID | None
    files: Mapping[str, StoredFile]
    published_by: UUID
    published_at: datetime
    shown: tuple[UUID, ...] = ()
    data_subjects: tuple[UUID, ...] = ()
    is_served: bool = True

    @property
    def path(self) -> str:
        """The path of its address."""
        return f"{ROOT}{self.site}/{self.name}/"


def object_key(workspace_id: UUID, publication_id: UUID, path: str = "") -> str:
    """Return where a file of a publication is; without a path, the prefix of all of them."""
    return f"sites/{workspace_id}/{publication_id}/{path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publications:
    """Publishing of one workspace. `sites_url` is where sites are served; empty: nowhere.

    Raises Denied for who is neither an admin nor an operator: publishing is a person's decision.
    """

    platform: Platform
    objects: ObjectStore
    eraser: ObjectEraser
    random_bytes: Callable[[int], bytes]
    sites_url: str

    def url(self, publication: Publication) -> str | None:
        """Return its address; None where sites are not served."""
        return f"{self.sites_url}{publication.path}" if self.sites_url else None

    def host(self, principal: Principal) -> PublicHost:
        """Return where the workspace's sites are, or why nowhere."""
        principal.require(Role.ADMIN, Role.AGENT)
        return public_host(self.sites_url, self._site(principal.workspace_id))

    def _site(self, workspace_id: UUID) -> str:
        keys = self.platform.keys.get_or_create(workspace_id, [workspace_id])
        return site_of(keys[workspace_id])

    def list(self, principal: Principal) -> Sequence[Publication]:
        """Return what is public, newest first."""
        principal.require(Role.ADMIN, Role.AGENT)
        with self.platform.transactions.reading(principal) as stores:
            return stores.publications.list()

    def publish(self, principal: Principal, new: NewPublication) -> Publication:
        """Make a snapshot and let everybody read it.

        Raises ValidationFailed for a name or files that are none, NotFound for a node that is not
        there, Conflict for a name that is taken, or for what is held back.
        """
        principal.require_operator()
        if not self.sites_url:
            raise Conflict(
                f"This deployment serves no sites: set {SITES_SETTING}.", reason=NO_SITES
            )
        name = checked_name(new.name) if new.name else unguessable_name(self.random_bytes(16))
        if new.kind is PublicationKind.FILES:
            check_files(new.files)
        self._clean_up(principal)
        publication, files = self._begin(principal, new, name)
        for path, content in files.items():
            self.objects.put(object_key(principal.workspace_id, publication.id, path), content)
        if not self._show(principal, publication):
            self._erase(principal, publication.id)
            raise Conflict("It was forgotten, or its name taken, meanwhile.", reason="gone")
        self._log("publish", publication.id, len(files))
        return publication

    def withdraw(self, principal: Principal, publication_id: UUID) -> None:
        """Let nobody read it any more, then remove its files; NotFound when it is not public."""
        principal.require_operator()
        with self.platform.transactions.writing(principal) as stores:
            every = {each.id: each for each in stores.publications.list()}
            publication = every.get(publication_id)
            if publication is None or not stores.publications.withdraw(publication_id):
                raise NotFound("There is no such publication.", publication_id=str(publication_id))
            self._record(stores, principal, "publication.withdrawn", publication)
        self._erase(principal, publication_id)
        self._log("withdraw", publication_id, 0)

    def _begin(
        self, principal: Principal, new: NewPublication, name: str
    ) -> tuple[Publication, Mapping[str, bytes]]:
        """Keep the row of what is to be stored, while what it shows cannot change."""
        now, workspace_id = self.platform.clock(), principal.workspace_id
        site = self._site(workspace_id)
        with self.platform.transactions.writing(principal) as stores:
            snapshot = _snapshot(stores, new, now)
            publication = Publication(
                id=self.platform.new_id(),
                site=site,
                name=name,
                kind=new.kind,
                title=snapshot.title,
                node_id=new.node_id,
                files={path: _described(content) for path, content in snapshot.files.items()},
                published_by=principal.principal_id,
                published_at=now,
                shown=snapshot.shown,
                data_subjects=snapshot.data_subjects,
            )
            _require_room(stores, publication)
            stores.publications.add(publication)
        return publication, snapshot.files

    def _show(self, principal: Principal, publication: Publication) -> bool:
        """Let it be read; False when it was forgotten meanwhile, or another took its name."""
        with self.platform.transactions.writing(principal) as stores:
            taken = stores.publications.is_taken(publication.site, publication.name)
            if taken or not stores.publications.show(publication.id):
                return False
            self._record(stores, principal, "publication.published", publication)
            return True

    def _clean_up(self, principal: Principal) -> None:
        """Remove what others left when they were killed."""
        before = self.platform.clock() - GIVEN_UP_AFTER
        with self.platform.transactions.reading(principal) as stores:
            left_over = stores.publications.left_over(before)
        for publication_id in left_over:
            self._erase(principal, publication_id)

    def _erase(self, principal: Principal, publication_id: UUID) -> None:
        """Remove the files, then the row: a kill in between is got over by the next publication."""
        with self.platform.transactions.writing(principal) as stores:
            stores.publications.give_up(publication_id)
        self.eraser.erase(object_key(principal.workspace_id, publication_id))
        with self.platform.transactions.writing(principal) as stores:
            stores.publications.remove(publication_id)

    def _record(
        self, stores: Stores, principal: Principal, type_: str, publication: Publication
    ) -> None:
        now = self.platform.clock()
        node = {"node_id": str(publication.node_id)} if publication.node_id else {}
        entry = plan_entry(
            id=self.platform.new_id(),
            workspace_id=principal.workspace_id,
            type=type_,
            actor=principal_actor(principal),
            occurred_at=now,
            meta={"publication_id": str(publication.id), "kind": publication.kind.value, **node},
        )
        append_unprojected(stores, [entry], now)

    def _log(self, op: str, publication_id: UUID, files: int) -> None:
        self.platform.log(
            "publications", {"op": op, "publication_id": str(publication_id), "files": files}
        )


def _require_room(stores: Stores, publication: Publication) -> None:
    if stores.publications.is_taken(publication.site, publication.name):
        message = "is taken; withdraw what has it, or choose another"
        raise Conflict(f"The name {publication.name} {message}.", reason="name-taken")
    if stores.publications.count() >= MAX_PUBLICATIONS:
        raise Conflict(
            f"A workspace has at most {MAX_PUBLICATIONS} publications.", reason="publications"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Snapshot:
    """What is stored, and whom and what it shows."""

    title: str
    files: Mapping[str, bytes]
    shown: tuple[UUID, ...] = ()
    data_subjects: tuple[UUID, ...] = ()


def _snapshot(stores: Stores, new: NewPublication, now: datetime) -> _Snapshot:
    """Return the files of a publication, read or rendered."""
    title = clean_text(new.title, field="title", max_chars=MAX_TITLE_CHARS) if new.title else None
    title = " ".join(scrub(title).text.split()) if title else None
    if new.kind is PublicationKind.FILES:
        if title is None:
            raise ValidationFailed("title is missing.", errors=[FieldError("title", "is missing")])
        return _Snapshot(title=title, files=new.files)
    source = stores.publications.source(new.node_id, LABELS[new.kind]) if new.node_id else None
    if source is None:
        raise NotFound(f"There is no such {new.kind}.", **{f"{new.kind}_id": str(new.node_id)})
    parts = stores.publications.parts(source.id) if new.kind is PublicationKind.DOCUMENT else ()
    if any(part.held_back for part in parts):
        raise Conflict("A part of it is held back; see `cairn taints`.", reason="held-back")
    passages = [
        Passage(headings=part.headings, text=part.text) for part in parts if part.label == "Chunk"
    ]
    if new.kind is PublicationKind.REPORT:
        passages = [Passage(headings=(), text=source.text)]
    if not passages:
        raise Conflict("The document has no text yet; its ingestion runs.", reason="no-text")
    title = title or source.title
    subjects = {*source.data_subjects, *(who for part in parts for who in part.data_subjects)}
    return _Snapshot(
        title=title,
        files=render(title, passages, now),
        shown=(source.id, *(part.id for part in parts)),
        data_subjects=tuple(sorted(subjects)),
    )


def _described(content: bytes) -> StoredFile:
    return StoredFile(sha256=hashlib.sha256(content).hexdigest(), size=len(content))
