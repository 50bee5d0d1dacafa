"""Messaging channels: added, changed, removed and opened by admins.

Each change is a ledger entry: its settings sealed, its secrets nowhere. They are never shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from cairn.channels.channel import ChannelKind, ChannelRow, ChannelSettings
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.safety.destinations import destinations, refuse_following, renewed
from cairn.tickets.personas import NAME
from cairn.writing.secrets import Secrets, clean_config, clean_secrets
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from cairn.channels.port import ChannelAdapter, OpenChannel
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

MAX_CHANNELS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChannel:
    """A channel as an admin wants it; `secrets` are how to sign in, and what signs deliveries."""

    name: str
    kind: ChannelKind
    config: Mapping[str, Any]
    secrets: Mapping[str, str]
    settings: ChannelSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelChange:
    """What of a channel changes; None leaves it. A secret of None is removed, others stay."""

    config: Mapping[str, Any] | None = None
    secrets: Mapping[str, str | None] | None = None
    settings: ChannelSettings | None = None
    paused: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """The messaging channels of a workspace: an admin's work."""

    platform: Platform
    open_channel: OpenChannel

    def create(self, principal: Principal, new: NewChannel) -> ChannelRow:
        """Add one; ValidationFailed names what is wrong, Conflict when its name is taken."""
        principal.require(Role.ADMIN)
        if not NAME.fullmatch(new.name):
            _refuse("name", "is 1 to 64 small letters, digits, dashes and underscores")
        now, secrets = self.platform.clock(), clean_secrets(new.secrets)
        channel = ChannelRow(
            id=self.platform.new_id(),
            name=new.name,
            kind=new.kind,
            config=clean_config(new.config),
            settings=new.settings.model_dump(mode="json"),
            paused=False,
            created_at=now,
            changed_at=now,
        )
        self.open_channel(channel.kind.value, channel.config, secrets)
        sealed = self._sealed(principal, channel.id, secrets)
        with self._writing(principal) as write:
            if len(write.stores.messaging.all()) >= MAX_CHANNELS:
                _refuse("name", f"is one too many: a workspace has {MAX_CHANNELS} channels at most")
            if not write.stores.messaging.add(channel, sealed):
                raise Conflict("A channel of this name exists.", reason="channel-exists")
            _note(write, "channel.added", channel)
        return channel

    def all(self, principal: Principal) -> Sequence[ChannelRow]:
        """Return every one, by name."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return stores.messaging.all()

    def names(self, principal: Principal) -> Sequence[tuple[UUID, str]]:
        """Return what channels are called, for everybody who signed in: to tie themselves."""
        principal.require_person()
        with self.platform.transactions.reading(principal) as stores:
            return [(each.id, each.name) for each in stores.messaging.all()]

    def get(self, principal: Principal, channel_id: UUID) -> ChannelRow:
        """Return one; NotFound without it."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return find_channel(stores, channel_id)

    def change(self, principal: Principal, channel_id: UUID, change: ChannelChange) -> ChannelRow:
        """Change one. Another address needs all secrets anew."""
        before = self.get(principal, channel_id)
        channel = replace(
            before,
            config=before.config if change.config is None else clean_config(change.config),
            settings=before.settings
            if change.settings is None
            else change.settings.model_dump(mode="json"),
            paused=before.paused if change.paused is None else change.paused,
            error=None if change.secrets is not None else before.error,
            changed_at=self.platform.clock(),
        )
        stored = self.secrets(principal, channel_id)
        if destinations(dict(before.config)) != destinations(dict(channel.config)):
            refuse_following(stored, change.secrets)
        secrets = clean_secrets(renewed(stored, change.secrets))
        self.open_channel(channel.kind.value, channel.config, secrets)
        sealed = None if change.secrets is None else self._sealed(principal, channel.id, secrets)
        with self._writing(principal) as write:
            find_channel(write.stores, channel_id)
            write.stores.messaging.change(channel, sealed)
            if _shuts_out(before, channel):  # who goes on in a thread is looked at anew
                write.stores.messaging.end_sessions(channel_id, write.now)
            _note(write, "channel.changed", channel)
        return channel

    def remove(self, principal: Principal, channel_id: UUID) -> None:
        """Remove one with its secrets and ties; what was said stays in its conversations."""
        principal.require(Role.ADMIN)
        with self._writing(principal) as write:
            channel = find_channel(write.stores, channel_id)
            write.stores.messaging.remove(channel_id)
            _note(write, "channel.removed", channel)

    def check(self, principal: Principal, channel_id: UUID) -> str:
        """Ask the channel whether its keys are good; return by which name it knows the app."""
        channel = self.get(principal, channel_id)
        return self.adapter(principal, channel).check()

    def adapter(self, principal: Principal, channel: ChannelRow) -> ChannelAdapter:
        """Return the adapter of a channel."""
        secrets = self.secrets(principal, channel.id)
        return self.open_channel(channel.kind.value, channel.config, secrets)

    def secrets(self, principal: Principal, channel_id: UUID) -> dict[str, str]:
        """Return the secrets, opened."""
        with self.platform.transactions.reading(principal) as stores:
            sealed = stores.messaging.secrets(channel_id)
        return Secrets.of(self.platform).opened(principal.workspace_id, channel_id, sealed)

    def _sealed(self, principal: Principal, channel_id: UUID, secrets: Mapping[str, str]) -> bytes:
        return Secrets.of(self.platform).sealed(principal.workspace_id, channel_id, secrets)

    def _writing(self, principal: Principal) -> AbstractContextManager[Write]:
        owner = principal.workspace_id
        keys = self.platform.keys.get_or_create(owner, (owner,))
        return open_write(self.platform, principal, keys=keys)


def find_channel(stores: Stores, channel_id: UUID) -> ChannelRow:
    """Return a channel; NotFound without it."""
    channel = stores.messaging.find(channel_id)
    if channel is None:
        raise NotFound("There is no such channel.", channel_id=str(channel_id))
    return channel


def _shuts_out(before: ChannelRow, after: ChannelRow) -> bool:
    settings = (ChannelSettings.model_validate(each.settings) for each in (before, after))
    was, now = (each.answers and each.outsiders for each in settings)
    return was and not now


def _note(write: Write, type_: str, channel: ChannelRow) -> None:
    write.note(
        type_,
        {"channel_id": str(channel.id), "kind": channel.kind.value, "paused": channel.paused},
        {
            "name": channel.name,
            "config": dict(channel.config),
            "settings": dict(channel.settings),
        },
    )


def _refuse(field: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
