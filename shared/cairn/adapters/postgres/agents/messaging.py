"""Messaging channels in PostgreSQL, and the one question that is of every workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psycopg.types.json import Jsonb

from cairn.adapters.postgres.store import Store, record, scalar
from cairn.channels.channel import ChannelKind, ChannelRow
from cairn.kernel.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.adapters.postgres.database import Database

_CHANNEL = record(ChannelRow, kind=ChannelKind)


class PostgresMessaging(Store):
    """The messaging channels of the transaction's workspace."""

    def add(self, channel: ChannelRow, sealed_secrets: bytes) -> bool:
        """Keep a new one; False when its name is taken."""
        added = self.write(
            "channel.add",
            channel,
            called=channel.name,
            config=Jsonb(dict(channel.config)),
            settings=Jsonb(dict(channel.settings)),
            secrets=sealed_secrets,
        )
        return added.rowcount == 1

    def find(self, channel_id: UUID) -> ChannelRow | None:
        """Return one."""
        return self.first_of(_CHANNEL, "channel.find", id=channel_id)

    def all(self) -> Sequence[ChannelRow]:
        """Return every one, by name."""
        return self.all_of(_CHANNEL, "channel.all")

    def secrets(self, channel_id: UUID) -> bytes:
        """Return the sealed secrets; NotFound when there is no such channel."""
        sealed: bytes | None = self.value("channel.secrets", id=channel_id)
        if sealed is None:
            raise NotFound("There is no such channel.", channel_id=str(channel_id))
        return sealed

    def change(self, channel: ChannelRow, sealed_secrets: bytes | None) -> None:
        """Keep other settings; None leaves the secrets as they are."""
        self.write(
            "channel.change",
            channel,
            config=Jsonb(dict(channel.config)),
            settings=Jsonb(dict(channel.settings)),
            secrets=sealed_secrets,
        )

    def remove(self, channel_id: UUID) -> None:
        """Remove one with all that is its own."""
        self.run("channel.remove", id=channel_id)


@dataclass(frozen=True)
class WorkspaceOfChannel:
    """Calls the definer function that says whose a channel is."""

    database: Database

    def __call__(self, channel_id: UUID) -> UUID | None:
        """Return the workspace; None when there is no such channel."""
        with self.database.connection() as connection:
            return scalar(connection, "channel.workspace_of", {"id": channel_id})
