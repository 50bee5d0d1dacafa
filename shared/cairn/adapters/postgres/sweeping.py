"""Work across workspaces: their ids; outbox rows, each handed to one caller; how long they wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psycopg.rows import scalar_row

from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import record
from cairn.writing.ports import OutboxRow

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.adapters.postgres.database import Database


@dataclass(frozen=True)
class ClaimOutbox:
    """Calls the definer function `claim_outbox` for some topics; ids only come back."""

    database: Database
    topics: Collection[str]

    def __call__(self, limit: int, stale: datetime, now: datetime) -> Sequence[OutboxRow]:
        """Return up to `limit` rows never sent, or sent before `stale` and unfinished."""
        parameters = {"limit": limit, "stale": stale, "now": now, "topics": list(self.topics)}
        with self.database.connection() as connection:
            cursor = connection.cursor(row_factory=record(OutboxRow))
            return cursor.execute(query("outbox.claim"), parameters).fetchall()


@dataclass(frozen=True)
class OldestRow:
    """Calls the definer function `oldest_outbox_row`; a topic and a time only come back."""

    database: Database
    prompt: Collection[str]

    def __call__(self) -> tuple[str, datetime] | None:
        """Return topic and time of the oldest row that nobody took, None when nothing waits."""
        with self.database.connection() as connection:
            parameters = {"prompt": list(self.prompt)}
            return connection.execute(query("outbox.oldest"), parameters).fetchone()


@dataclass(frozen=True)
class ListWorkspaces:
    """Calls the definer function `list_workspaces`."""

    database: Database

    def __call__(self) -> Sequence[UUID]:
        """Return the ids of all workspaces but deleted ones."""
        with self.database.connection() as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            return cursor.execute(query("tenancy.list_workspaces")).fetchall()


@dataclass(frozen=True)
class ListChains:
    """Calls the definer function `list_chains`."""

    database: Database

    def __call__(self) -> Sequence[UUID]:
        """Return the ids of all workspaces that have a chain, deleted ones too."""
        with self.database.connection() as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            return cursor.execute(query("tenancy.list_chains")).fetchall()
