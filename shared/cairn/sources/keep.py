"""Sources as an admin keeps them: added, changed, paused, read now, removed. Nothing is read here.

Secrets are sealed, and never shown. A source is a data subject (docs/decisions/0015), and so is
each document it brings.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

from cairn.documents.accept import source_owner
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.safety.destinations import destinations, refuse_following, renewed
from cairn.sources.configs import check_secrets, parse_config
from cairn.sources.source import (
    KnowledgeKind,
    KnowledgeSource,
    KnowledgeState,
    SourceRow,
    SyncMode,
    SyncReport,
)
from cairn.tickets.personas import NAME
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import owners
from cairn.writing.ports import Topic
from cairn.writing.secrets import Secrets, clean_config, clean_secrets
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Writer, open_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from cairn.kernel.access import Principal, Scope
    from cairn.kernel.stores import Stores
    from cairn.sources.reader import CheckConfig
    from cairn.writing.writer import Write

MAX_SOURCES = 50
LEAST_SYNC_SECONDS, MOST_SYNC_SECONDS = 300, 30 * 86_400
MOST_ITEMS, MOST_BYTES = 50_000, 5_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSource:
    """A source as an admin wants it. Its documents are of `client_id`, and for `scope`."""

    name: str
    kind: KnowledgeKind
    config: Mapping[str, Any]
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    client_id: str = GLOBAL_CLIENT
    scope: Scope | None = None
    sync_seconds: int = 86_400
    max_items: int = 5_000
    max_bytes: int = 200_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChange:
    """What of a source changes; None leaves it. A secret of None is removed, others stay."""

    config: Mapping[str, Any] | None = None
    secrets: Mapping[str, str | None] | None = field(default=None, repr=False)
    sync_seconds: int | None = None
    max_items: int | None = None
    max_bytes: int | None = None
    paused: bool | None = None


@dataclass(frozen=True, slots=True)
class Sources(Writer):
    """The sources of a workspace: an admin's work. Each change is a ledger entry."""

    check: CheckConfig = field(kw_only=True)

    def add(self, principal: Principal, new: NewSource) -> KnowledgeSource:
        """Keep one, and read it at once.

        ValidationFailed names what is wrong, Conflict when its name is taken.
        """
        principal.require(Role.ADMIN)
        scope = principal.writing_scope(new.scope)
        config, secrets = clean_config(new.config), clean_secrets(new.secrets)
        self._check(new.kind, config, secrets)
        now = self.platform.clock()
        source = SourceRow(
            id=self.platform.new_id(),
            name=_checked_name(new.name),
            kind=new.kind,
            config=config,
            client_id=new.client_id,
            scope=scope.value,
            sync_seconds=_within("sync_seconds", new.sync_seconds, LEAST_SYNC_SECONDS),
            max_items=_within("max_items", new.max_items, 1),
            max_bytes=_within("max_bytes", new.max_bytes, 1),
            created_at=now,
            next_sync_at=now,
            data_subjects=(),
        )
        sealed = self._sealed(principal, source, secrets)
        source_owners = (*owners(source.client_id, ()), source_owner(source.uri))

        def prepared() -> Work[KnowledgeSource]:
            resolution = resolve(self.platform, principal, source_owners)
            row = replace(source, data_subjects=resolution.subjects_of(source_owners))
            return Work(
                resolution=resolution,
                do=lambda write: _add(write, row, sealed),
                keep=lambda _: {},
                read=lambda _: row,
            )

        self.write_once(principal, prepared, None)
        return self.get(principal, source.id)

    def all(self, principal: Principal) -> Sequence[KnowledgeSource]:
        """Return every one, by name."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return stores.sources.all()

    def get(self, principal: Principal, source_id: UUID) -> KnowledgeSource:
        """Return one; NotFound without it."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return find_source(stores, source_id)

    def change(
        self, principal: Principal, source_id: UUID, change: SourceChange
    ) -> KnowledgeSource:
        """Change one: it is read at once unless paused. Another address needs all secrets."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            before = find_source(stores, source_id)
        source = replace(_changed(before, change), next_sync_at=self.platform.clock())
        stored = self.secrets(principal, source_id)
        if destinations(dict(before.config)) != destinations(dict(source.config)):
            refuse_following(stored, change.secrets)
        secrets = clean_secrets(renewed(stored, change.secrets))
        self._check(source.kind, source.config, secrets)
        sealed = None if change.secrets is None else self._sealed(principal, source, secrets)
        with self._writing(principal, source) as write:
            if not write.stores.sources.change(source, sealed):
                raise Conflict("This source is being removed.", reason="source-removing")
            _note(write, "source.changed", source)
        return self.get(principal, source_id)

    def sync(
        self, principal: Principal, source_id: UUID, *, accept_deletions: bool = False
    ) -> KnowledgeSource:
        """Let it be read now, or go on; `accept_deletions` where much of it is gone on purpose."""
        return self._run(principal, source_id, SyncMode.SYNC, accept_deletions=accept_deletions)

    def preview(self, principal: Principal, source_id: UUID) -> KnowledgeSource:
        """Let it be found out what a sync would change."""
        return self._run(principal, source_id, SyncMode.PREVIEW)

    def remove(self, principal: Principal, source_id: UUID, *, documents: bool) -> KnowledgeSource:
        """Remove one with its secrets; its `documents` stay, or are deleted before it is gone."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            source = find_source(stores, source_id)
        with self._writing(principal, source) as write:
            now = write.now
            if documents:
                report = SyncReport(mode=SyncMode.REMOVE, started_at=now)
                if write.stores.sources.remove_all(
                    source_id, self.platform.new_id(), report, now=now
                ):
                    write.wake(Topic.SOURCE, source_id)
            else:
                write.stores.sources.remove(source_id)
            _note(write, "source.removed", source)
        return source if not documents else self.get(principal, source_id)

    def secrets(self, principal: Principal, source_id: UUID) -> dict[str, str]:
        """Return how to sign in: for who reads it, never for who asks."""
        with self.platform.transactions.reading(principal) as stores:
            sealed = stores.sources.secrets(source_id)
        return Secrets.of(self.platform).opened(principal.workspace_id, source_id, sealed)

    def _run(
        self,
        principal: Principal,
        source_id: UUID,
        mode: SyncMode,
        *,
        accept_deletions: bool = False,
    ) -> KnowledgeSource:
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            source = find_source(stores, source_id)
        if source.state is KnowledgeState.REMOVING:
            raise Conflict("This source is being removed.", reason="source-removing")
        if source.state is KnowledgeState.PAUSED and mode is SyncMode.SYNC:
            raise Conflict("This source is paused.", reason="source-paused")
        with open_write(self.platform, principal) as write:
            begin_run(
                write, self.platform.new_id(), source_id, mode, accept_deletions=accept_deletions
            )
        return self.get(principal, source_id)

    def _check(
        self, kind: KnowledgeKind, config: Mapping[str, Any], secrets: Mapping[str, str]
    ) -> None:
        parse_config(kind, config)
        check_secrets(kind, secrets)
        self.check(kind, config, secrets)

    def _sealed(
        self, principal: Principal, source: KnowledgeSource, secrets: Mapping[str, str]
    ) -> bytes:
        return Secrets.of(self.platform).sealed(principal.workspace_id, source.id, secrets)

    def _writing(self, principal: Principal, source: SourceRow) -> AbstractContextManager[Write]:
        owner, subjects = principal.workspace_id, source.data_subjects
        keys = self.platform.keys.get_or_create(owner, {owner, *subjects})
        return open_write(self.platform, principal, keys=keys, data_subjects=subjects)


def begin_run(
    write: Write,
    run_id: UUID,
    source_id: UUID,
    mode: SyncMode,
    *,
    accept_deletions: bool = False,
) -> None:
    """Begin a run and wake a worker; of one that is under way only wake a worker."""
    report = SyncReport(mode=mode, started_at=write.now)
    write.stores.sources.begin(
        source_id, run_id, report, now=write.now, accept_deletions=accept_deletions
    )
    write.wake(Topic.SOURCE, source_id)


def find_source(stores: Stores, source_id: UUID) -> SourceRow:
    """Return a source as it is stored; NotFound without it."""
    source = stores.sources.find(source_id)
    if source is None:
        raise NotFound("There is no such source.", source_id=str(source_id))
    return source


def _add(write: Write, source: SourceRow, sealed: bytes) -> KnowledgeSource:
    write.register()
    stores = write.stores
    if len(stores.sources.all()) >= MAX_SOURCES:
        _refuse("name", f"is one too many: a workspace has at most {MAX_SOURCES} sources")
    if not stores.sources.add(source, sealed):
        raise Conflict("A source of this name exists.", reason="source-exists")
    write.entries.add(
        "source.added",
        _meta(source),
        _body(source),
        data_subjects=source.data_subjects,
        occurred_at=write.now,
    )
    write.append()
    begin_run(write, write.entries.new_id(), source.id, SyncMode.SYNC)
    return source


def _note(write: Write, type_: str, source: SourceRow) -> None:
    """Plan the entry of a change: its settings sealed, its secrets nowhere."""
    write.note(type_, _meta(source), _body(source))


def _meta(source: KnowledgeSource) -> dict[str, Any]:
    return {
        "source_id": str(source.id),
        "kind": source.kind.value,
        "state": source.state.value,
        "scope": source.scope,
    }


def _body(source: KnowledgeSource) -> dict[str, Any]:
    return {
        "name": source.name,
        "config": dict(source.config),
        "client_id": source.client_id,
        "sync_seconds": source.sync_seconds,
        "max_items": source.max_items,
        "max_bytes": source.max_bytes,
    }


def _changed(source: SourceRow, change: SourceChange) -> SourceRow:
    state = source.state
    if state is KnowledgeState.REMOVING:
        raise Conflict("This source is being removed.", reason="source-removing")
    if change.paused is not None:
        state = KnowledgeState.PAUSED if change.paused else KnowledgeState.ACTIVE
    numbers = {
        name: _within(name, value, LEAST_SYNC_SECONDS if name == "sync_seconds" else 1)
        for name in ("sync_seconds", "max_items", "max_bytes")
        if (value := getattr(change, name)) is not None
    }
    config = source.config if change.config is None else clean_config(change.config)
    return replace(source, config=config, state=state, **numbers)


def _checked_name(name: str) -> str:
    if not NAME.fullmatch(name):
        _refuse("name", "is 1 to 64 small letters, digits, dashes and underscores")
    return name


MOST = {"sync_seconds": MOST_SYNC_SECONDS, "max_items": MOST_ITEMS, "max_bytes": MOST_BYTES}


def _within(name: str, value: int, least: int) -> int:
    if not least <= value <= MOST[name]:
        _refuse(name, f"is from {least} to {MOST[name]}")
    return value


def _refuse(field_: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{field_} {message}.", errors=[FieldError(field_, message)])
