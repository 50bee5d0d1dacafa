"""Ticket sources: registered, changed, removed and opened. Secrets are sealed, and never shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from cairn.kernel.access import Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.safety.destinations import destinations, refuse_following, renewed
from cairn.tickets.adapter import PlainAdapter
from cairn.tickets.personas import NAME
from cairn.tickets.ticket import API_SOURCE, SourceKind, SourceState, TicketSource
from cairn.writing.secrets import Secrets, clean_config, clean_secrets
from cairn.writing.writer import Write, open_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.tickets.adapter import OpenAdapter, TicketAdapter
    from cairn.tickets.polling import Mended
    from cairn.writing.platform import Platform

MAX_SOURCES = 50
LEAST_POLL_SECONDS, MOST_POLL_SECONDS = 60, 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSource:
    """A source as an admin wants it; `secrets` are how to sign in, and what signs its webhooks."""

    name: str
    kind: SourceKind
    config: Mapping[str, Any]
    secrets: Mapping[str, str]
    persona: str = "default"
    poll_seconds: int = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChange:
    """What of a source changes; None leaves it. A secret of None is removed, others stay."""

    config: Mapping[str, Any] | None = None
    secrets: Mapping[str, str | None] | None = None
    persona: str | None = None
    poll_seconds: int | None = None
    paused: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketSources:
    """The ticket sources of a workspace: an admin's work. Each change is a ledger entry."""

    platform: Platform
    open_adapter: OpenAdapter
    mended: Mended

    def create(self, principal: Principal, new: NewSource) -> TicketSource:
        """Register one; ValidationFailed names what is wrong, Conflict when its name is taken."""
        principal.require(Role.ADMIN)
        source = TicketSource(
            id=self.platform.new_id(),
            name=_checked_name(new.name),
            kind=new.kind,
            config=clean_config(new.config),
            persona=new.persona,
            poll_seconds=_seconds(new.poll_seconds),
            created_at=self.platform.clock(),
        )
        secrets = clean_secrets(new.secrets)
        self.open_adapter(source.kind.value, source.config, secrets)
        sealed = self._sealed(principal, source, secrets)
        with self._writing(principal) as write:
            stores = write.stores
            if len(stores.ticket_sources.all()) >= MAX_SOURCES:
                _refuse("name", f"is one too many: a workspace has at most {MAX_SOURCES} sources")
            if not stores.ticket_sources.add(source, sealed):
                raise Conflict("A ticket source of this name exists.", reason="source-exists")
            _note(write, "ticket_source.registered", source)
        return source

    def all(self, principal: Principal) -> Sequence[TicketSource]:
        """Return every one, by name; the plain one is not among them."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return stores.ticket_sources.all()

    def get(self, principal: Principal, source_id: UUID) -> TicketSource:
        """Return one; NotFound without it."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return _find_source(stores, source_id)

    def change(self, principal: Principal, source_id: UUID, change: SourceChange) -> TicketSource:
        """Change one; new secrets end `needs-auth`, and the tickets that waited are queued.

        Another address needs all secrets anew.
        """
        principal.require(Role.ADMIN)
        source_before = self.get(principal, source_id)
        source = _changed(source_before, change)
        stored_secrets = self._secrets(principal, source_id)
        if destinations(dict(source_before.config)) != destinations(dict(source.config)):
            refuse_following(stored_secrets, change.secrets)
        secrets = clean_secrets(renewed(stored_secrets, change.secrets))
        self.open_adapter(source.kind.value, source.config, secrets)
        sealed = None
        if change.secrets is not None:
            sealed = self._sealed(principal, source, secrets)
        with self._writing(principal) as write:
            _find_source(write.stores, source_id)
            write.stores.ticket_sources.change(source, sealed, write.now)
            _note(write, "ticket_source.changed", source)
        if source_before.state is SourceState.NEEDS_AUTH and source.state is SourceState.ACTIVE:
            self.mended(principal.workspace_id, f"source:{source.name}")
        return source

    def remove(self, principal: Principal, source_id: UUID) -> None:
        """Remove one with its secrets; its tickets stay. NotFound without it."""
        principal.require(Role.ADMIN)
        with self._writing(principal) as write:
            source = _find_source(write.stores, source_id)
            write.stores.ticket_sources.remove(source_id)
            _note(write, "ticket_source.removed", source)

    def adapter(self, principal: Principal, source: TicketSource) -> TicketAdapter:
        """Return the adapter of a source."""
        secrets = self._secrets(principal, source.id)
        return self.open_adapter(source.kind.value, source.config, secrets)

    def adapter_of(self, workspace_id: UUID, source: str) -> TicketAdapter:
        """Return the adapter of a ticket's source; NotFound when it was removed."""
        if source == API_SOURCE:
            return PlainAdapter()
        principal = system_principal(workspace_id)
        with self.platform.transactions.reading(principal) as stores:
            ticket_source = stores.ticket_sources.named(source)
        if ticket_source is None:
            raise NotFound("There is no such ticket source.", source=source)
        return self.adapter(principal, ticket_source)

    def _secrets(self, principal: Principal, source_id: UUID) -> dict[str, str]:
        with self.platform.transactions.reading(principal) as stores:
            sealed = stores.ticket_sources.secrets(source_id)
        return Secrets.of(self.platform).opened(principal.workspace_id, source_id, sealed)

    def _sealed(
        self, principal: Principal, source: TicketSource, secrets: Mapping[str, str]
    ) -> bytes:
        return Secrets.of(self.platform).sealed(principal.workspace_id, source.id, secrets)

    def _writing(self, principal: Principal) -> AbstractContextManager[Write]:
        owner = principal.workspace_id
        keys = self.platform.keys.get_or_create(owner, (owner,))
        return open_write(self.platform, principal, keys=keys)


def _note(write: Write, type_: str, source: TicketSource) -> None:
    """Plan the entry of a change: its settings sealed, its secrets nowhere."""
    write.note(
        type_,
        {"source_id": str(source.id), "kind": source.kind.value, "state": source.state.value},
        {
            "name": source.name,
            "config": dict(source.config),
            "persona": source.persona,
            "poll_seconds": source.poll_seconds,
        },
    )


def _changed(source_before: TicketSource, change: SourceChange) -> TicketSource:
    state = source_before.state
    if change.secrets is not None and state is SourceState.NEEDS_AUTH:
        state = SourceState.ACTIVE
    if change.paused is not None:
        state = SourceState.PAUSED if change.paused else SourceState.ACTIVE
    return replace(
        source_before,
        config=source_before.config if change.config is None else clean_config(change.config),
        persona=change.persona or source_before.persona,
        poll_seconds=(
            source_before.poll_seconds
            if change.poll_seconds is None
            else _seconds(change.poll_seconds)
        ),
        state=state,
        failures=0,
        error=None if state is SourceState.ACTIVE else source_before.error,
    )


def _find_source(stores: Stores, source_id: UUID) -> TicketSource:
    source = stores.ticket_sources.find(source_id)
    if source is None:
        raise NotFound("There is no such ticket source.", source_id=str(source_id))
    return source


def _checked_name(name: str) -> str:
    if not NAME.fullmatch(name) or name == API_SOURCE:
        _refuse("name", "is 1 to 64 small letters, digits, dashes and underscores, and not api")
    return name


def _seconds(seconds: int) -> int:
    if not LEAST_POLL_SECONDS <= seconds <= MOST_POLL_SECONDS:
        _refuse("poll_seconds", f"is from {LEAST_POLL_SECONDS} to {MOST_POLL_SECONDS}")
    return seconds


def _refuse(field: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
