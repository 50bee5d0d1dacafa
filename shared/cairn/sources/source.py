"""A source of knowledge as it is stored, and what its runs say. Pure; not how a kind is read."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - a TypeAdapter reads these when it runs
from dataclasses import dataclass, field, replace
from datetime import datetime  # noqa: TC003
from enum import StrEnum
from typing import Any
from uuid import UUID  # noqa: TC003

from typing_extensions import TypedDict

SCHEME = "source://"
LISTED = 200
"""Changes that a report names; it counts them all."""


class KnowledgeKind(StrEnum):
    """What is read."""

    FOLDER = "folder"  # of this machine, below the folders that its owner allows
    GIT = "git"  # one branch of a repository
    BUCKET = "bucket"  # what is below a prefix of an S3 bucket
    SITE = "site"  # pages of a site, link by link
    CONFLUENCE = "confluence"  # pages of the spaces of a site
    NOTION = "notion"  # pages and rows that an integration was let see
    TICKETS = "tickets"  # of the workspace itself, resolved


class KnowledgeState(StrEnum):
    """active <-> paused; either -> removing, when it goes with what it brought."""

    ACTIVE = "active"
    PAUSED = "paused"
    REMOVING = "removing"


class SyncMode(StrEnum):
    """What a run does."""

    SYNC = "sync"
    PREVIEW = "preview"  # finds out what a sync would change, and changes nothing
    REMOVE = "remove"  # deletes every document, then the source


class SyncOutcome(StrEnum):
    """What became of an item, or would."""

    NEW = "new"
    CHANGED = "changed"
    GONE = "gone"
    REFUSED = "refused"


class SyncChange(TypedDict):
    """One item that a run changes or refuses; `reason` says why it is refused."""

    what: SyncOutcome
    key: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """How far a run is, or how it ended. `bytes` are those of the items it saw.

    `skipped` items are of no kind that is read, such as pictures. `changes` are the first 200.
    """

    mode: SyncMode
    started_at: datetime
    ended_at: datetime | None = None
    new: int = 0
    changed: int = 0
    gone: int = 0
    unchanged: int = 0
    skipped: int = 0
    refused: int = 0
    bytes: int = 0
    changes: tuple[SyncChange, ...] = ()

    def having(
        self, what: SyncOutcome, key: str, *, reason: str | None = None, size: int = 0
    ) -> SyncReport:
        """Return it with one more item."""
        changes = self.changes
        if len(changes) < LISTED:
            changes = (*changes, SyncChange(what=what, key=key, reason=reason))
        count: dict[str, Any] = {what.value: getattr(self, what.value) + 1}
        return replace(self, changes=changes, bytes=self.bytes + size, **count)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeSource:
    """A source and how reading it goes; its secrets are sealed and never shown.

    `documents`, `refused` and `bytes` are what stands of it now. `run` is under way. `error` is a
    code, `error_detail` the sentence.
    """

    id: UUID
    name: str
    kind: KnowledgeKind
    config: Mapping[str, Any]
    client_id: str
    scope: str
    state: KnowledgeState = KnowledgeState.ACTIVE
    sync_seconds: int
    max_items: int
    max_bytes: int
    created_at: datetime
    next_sync_at: datetime
    synced_at: datetime | None = None
    failures: int = 0
    error: str | None = None
    error_detail: str | None = None
    documents: int = 0
    refused: int = 0
    bytes: int = 0
    run: SyncReport | None = None
    last_sync: SyncReport | None = None
    last_preview: SyncReport | None = None

    @property
    def uri(self) -> str:
        """Return what it is called where something is forgotten."""
        return SCHEME + self.name

    def uri_of(self, key: str) -> str:
        """Return the source of the document that an item becomes."""
        return f"{self.uri}/{key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow(KnowledgeSource):
    """A source as it is stored; `version` is of what was last read to its end."""

    data_subjects: tuple[UUID, ...]
    run_id: UUID | None = None
    accept_deletions: bool = False
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredItem:
    """What is known of an item; without a document it was refused, for `reason`.

    `seen` is the run that saw it last. Without a mark its document may not be accepted yet.
    """

    key: str
    mark: str
    document_id: UUID | None = None
    bytes: int = 0
    reason: str | None = None
    seen: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What an item says, and where people find it; `subjects` are whom it is about."""

    body: bytes
    media_type: str | None = None
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    subjects: tuple[UUID, ...] = ()
