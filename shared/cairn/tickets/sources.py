"""Ticket sources: registered, changed, removed and opened. Secrets are sealed, and never shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from cairn.kernel.access import Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, Conflict, FieldError, NotFound, ValidationFailed
from cairn.oauth_client.client import SETTING as OAUTH
from cairn.oauth_client.client import Holder, bound_to, read_client
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
    from cairn.oauth_client.sign_in import SignIns, SignInShown
    from cairn.oauth_client.tokens import Tokens
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
    tokens: Tokens | None = None
    signing_in: SignIns | None = None

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
        self._opened(principal.workspace_id, source, secrets)
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
        self._opened(principal.workspace_id, source, secrets)
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
        """Remove one with its secrets and its sign-in; its tickets stay. NotFound without it."""
        principal.require(Role.ADMIN)
        holder, signed_in = self._leaving(principal, self.get(principal, source_id)), None
        with self._writing(principal) as write:
            source = _find_source(write.stores, source_id)
            if holder is not None:
                signed_in = write.stores.oauth_sign_ins.find(source_id)
            write.stores.ticket_sources.remove(source_id)
            _note(write, "ticket_source.removed", source)
        if holder is not None and self.signing_in is not None:
            self.signing_in.revoke(principal, holder, signed_in)

    def adapter(self, principal: Principal, source: TicketSource) -> TicketAdapter:
        """Return the adapter of a source."""
        secrets = self._secrets(principal, source.id)
        return self._opened(principal.workspace_id, source, secrets)

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

    def sign_in(self, principal: Principal, source_id: UUID) -> SignInShown:
        """Begin to sign in to one by a device code, and return the code; see `SignIns.begin`.

        NotFound without it, Conflict (`no-device-code`) for one that signs in otherwise.
        """
        signing_in, holder = self._signs_in(principal, self.get(principal, source_id))
        return signing_in.begin(principal, holder)

    def signed_in(self, principal: Principal, source_id: UUID) -> SignInShown:
        """Return how signing in to one stands; raises as `sign_in`."""
        signing_in, holder = self._signs_in(principal, self.get(principal, source_id))
        return signing_in.show(principal, holder)

    def poll_sign_in(self, principal: Principal, source_id: UUID) -> SignInShown:
        """Ask whether the person said yes. Then it is polled, and tickets that waited go on."""
        source = self.get(principal, source_id)
        signing_in, holder = self._signs_in(principal, source)
        shown = signing_in.poll(principal, holder)
        if shown.state == "signed-in" and source.state is SourceState.NEEDS_AUTH:
            self.change(principal, source_id, SourceChange(paused=False))
        return shown

    def sign_out(self, principal: Principal, source_id: UUID) -> None:
        """Forget its token; NotFound when it is not signed in."""
        signing_in, holder = self._signs_in(principal, self.get(principal, source_id))
        signing_in.end(principal, holder)

    def _signs_in(self, principal: Principal, source: TicketSource) -> tuple[SignIns, Holder]:
        holder = _holder_of(source, self._secrets(principal, source.id))
        if holder is None or self.signing_in is None:
            raise Conflict(
                "It does not sign in by a device code; renew its secrets instead.",
                reason="no-device-code",
                source_id=str(source.id),
            )
        return self.signing_in, holder

    def _leaving(self, principal: Principal, source: TicketSource) -> Holder | None:
        """Return how one signs in by a code, so that its server is told that it does no more."""
        if OAUTH not in source.config:
            return None
        try:
            return _holder_of(source, self._secrets(principal, source.id))
        except CairnError:  # its secrets cannot be read: it is removed all the same
            return None

    def _opened(
        self, workspace_id: UUID, source: TicketSource, secrets: Mapping[str, str]
    ) -> TicketAdapter:
        holder = _holder_of(source, secrets) if self.tokens else None
        if holder is None or self.tokens is None:
            return self.open_adapter(source.kind.value, source.config, secrets)
        bearer = self.tokens.of(workspace_id, holder)
        return self.open_adapter(source.kind.value, source.config, secrets, bearer=bearer)

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


SIGN_IN_ENTRIES = (
    "ticket_source.sign_in_begun",
    "ticket_source.signed_in",
    "ticket_source.signed_out",
)


def _holder_of(source: TicketSource, secrets: Mapping[str, str]) -> Holder | None:
    """Return how a source signs in by a device code; None for one that does not."""
    if OAUTH not in source.config:
        return None
    client = read_client(source.config[OAUTH], secrets)
    begun, done, ended = SIGN_IN_ENTRIES
    leads = sorted(f"{place} {at}" for place, at in destinations(dict(source.config)))
    return Holder(
        id=source.id,
        client=client,
        bound_to=bound_to(client, *leads),
        begun=begun,
        done=done,
        ended=ended,
    )


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
