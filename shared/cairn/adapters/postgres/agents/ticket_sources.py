"""Ticket sources in PostgreSQL, and the two questions that are of every workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record
from cairn.kernel.errors import NotFound
from cairn.tickets.ticket import SourceKind, SourceState, TicketSource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.adapters.postgres.database import Database


SOURCE = record(TicketSource, kind=SourceKind, state=SourceState)


class PostgresTicketSources(Store):
    """The ticket sources of the transaction's workspace."""

    def add(self, source: TicketSource, sealed_secrets: bytes) -> bool:
        """Keep a new one; False when its name is taken."""
        added = self.write(
            "ticket_source.add",
            source,
            called=source.name,
            config=Jsonb(dict(source.config)),
            secrets=sealed_secrets,
        )
        return added.rowcount == 1

    def find(self, source_id: UUID) -> TicketSource | None:
        """Return one."""
        return self.first_of(SOURCE, "ticket_source.find", id=source_id, called=None)

    def named(self, name: str) -> TicketSource | None:
        """Return the one of a name."""
        return self.first_of(SOURCE, "ticket_source.find", id=None, called=name)

    def all(self) -> Sequence[TicketSource]:
        """Return every one, by name."""
        return self.all_of(SOURCE, "ticket_source.all")

    def secrets(self, source_id: UUID) -> bytes:
        """Return the sealed secrets; NotFound when there is no such source."""
        sealed: bytes | None = self.value("ticket_source.secrets", id=source_id)
        if sealed is None:
            raise NotFound("There is no such ticket source.", source_id=str(source_id))
        return sealed

    def cursor(self, source_id: UUID) -> str | None:
        """Return how far polling got."""
        return self.value("ticket_source.cursor", id=source_id)

    def change(self, source: TicketSource, sealed_secrets: bytes | None, now: datetime) -> None:
        """Replace settings and state, and the secrets unless None; it is polled at once."""
        config = Jsonb(dict(source.config))
        self.write("ticket_source.change", source, config=config, secrets=sealed_secrets, now=now)

    def polled(self, source_id: UUID, cursor: str | None, now: datetime) -> None:
        """Keep how far polling got; its failures are over, a refused sign-in too."""
        self.run("ticket_source.polled", id=source_id, cursor=cursor, now=now)

    def failed(self, source_id: UUID, error: str, state: SourceState, now: datetime) -> None:
        """Keep that polling failed, and why; a paused one stays paused."""
        self.run("ticket_source.failed", id=source_id, error=error, state=state.value, now=now)

    def remove(self, source_id: UUID) -> bool:
        """Remove one; its tickets stay. False when there is none."""
        return self.run("ticket_source.remove", id=source_id).rowcount == 1

    def event(self, source_id: UUID, delivery_id: str, now: datetime) -> bool:
        """Keep that a webhook delivery arrived; False when this one did before."""
        inserted = self.run(
            "ticket_source.event", source_id=source_id, delivery_id=delivery_id, now=now
        )
        return inserted.rowcount == 1


@dataclass(frozen=True)
class WorkspaceOfSource:
    """Calls the definer function that says whose a source is."""

    database: Database

    def __call__(self, source_id: UUID) -> UUID | None:
        """Return the workspace; None when there is no such source."""
        with self.database.connection() as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            return cursor.execute(query("ticket_source.workspace_of"), {"id": source_id}).fetchone()


@dataclass(frozen=True)
class SourcesDue:
    """Calls the definer function that names the sources that are to be polled."""

    database: Database

    def __call__(self, at: datetime, limit: int) -> Sequence[tuple[UUID, UUID]]:
        """Return (workspace, source) pairs, the longest waiting first."""
        parameters = {"at": at, "limit": limit}
        with self.database.connection() as connection:
            return connection.execute(query("ticket_source.due"), parameters).fetchall()
