"""Calls of tools in PostgreSQL: what an investigation asked for, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.adapters.postgres.database import bound
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record
from cairn.investigations.ports import ActionRow, ActionState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.adapters.postgres.database import Database
    from cairn.kernel.access import Principal

KEEP_TIMEOUT_MS = 2_000
ACTION = record(ActionRow, state=ActionState)


@dataclass(frozen=True, slots=True)
class KeepCall:
    """Keeps the record of a call that is over, in a transaction that waits for no disk."""

    database: Database

    def __call__(self, principal: Principal, action: ActionRow) -> None:
        """Insert one row; Unavailable when the database does not answer in time."""
        with bound(
            self.database, principal, timeout_ms=KEEP_TIMEOUT_MS, read_only=False
        ) as connection:
            connection.execute(query("search_run.commit_lightly"))
            PostgresActions(connection, principal).add(action)


class PostgresActions(Store):
    """The tool calls of the transaction's workspace: what was asked for and what came of it."""

    def add(self, action: ActionRow) -> None:
        """Keep a proposed or denied action; the same id again changes nothing."""
        self.write("tool_call.add", action)

    def find(self, action_id: UUID) -> ActionRow | None:
        """Return one."""
        return self.first_of(ACTION, "tool_call.find", id=action_id)

    def same(self, investigation_id: UUID, digest: str) -> ActionRow | None:
        """Return the investigation's newest action of this digest that was not denied."""
        parameters = {"investigation_id": investigation_id, "digest": digest}
        return self.first_of(ACTION, "tool_call.same", **parameters)

    def earlier(
        self, ticket_id: UUID, but: UUID, *, connector: str, tool: str, limit: int
    ) -> Sequence[ActionRow]:
        """Return a tool's writes for a ticket that happened or may have, the newest first.

        Those of the investigation `but`, reads, dry runs and what is known to have failed are left
        out.
        """
        return self.all_of(
            ACTION,
            "tool_call.earlier",
            ticket_id=ticket_id,
            but=but,
            connector=connector,
            tool=tool,
            limit=limit,
        )

    def recent(
        self,
        ticket_id: UUID,
        but: UUID,
        *,
        owner: UUID | None,
        alone: bool,
        since: datetime,
        limit: int,
    ) -> Sequence[ActionRow]:
        """Return reads that brought a result since, the newest first.

        Of other investigations than `but`, of the ticket or of tickets of the data subject `owner`,
        and about it then as now; `alone` is of tickets that are about nobody else.
        """
        return self.all_of(
            ACTION,
            "tool_call.recent",
            ticket_id=ticket_id,
            but=but,
            owner=owner,
            alone=alone,
            since=since,
            limit=limit,
        )

    def open(self, investigation_id: UUID) -> Sequence[ActionRow]:
        """Return what was started and has no end."""
        return self.all_of(ACTION, "tool_call.open", investigation_id=investigation_id)

    def deny(self, action_id: UUID, *, error: str, now: datetime) -> bool:
        """Deny a proposed one: the rules changed before it started. False when it is not proposed.

        `error` is the code of the refusal.
        """
        return self.run("tool_call.deny", id=action_id, error=error, now=now).rowcount == 1

    def start(self, action_id: UUID, *, dry_run: bool, now: datetime) -> bool:
        """Start a proposed one; False when it was started before."""
        return self.run("tool_call.start", id=action_id, dry_run=dry_run, now=now).rowcount == 1

    def end(
        self,
        action_id: UUID,
        state: ActionState,
        *,
        output: bytes,
        is_error: bool,
        error: str | None,
        now: datetime,
    ) -> bool:
        """End a started one; False when it has ended."""
        ended = self.run(
            "tool_call.end",
            id=action_id,
            state=state.value,
            output=output,
            is_error=is_error,
            error=error,
            now=now,
        )
        return ended.rowcount == 1

    def page(
        self,
        *,
        investigation_id: UUID | None,
        connector: str | None,
        session_id: str | None = None,
        before: UUID | None,
        limit: int,
        principal_id: UUID | None = None,
    ) -> Sequence[ActionRow]:
        """Return tool calls, of a principal its own only, the newest first."""
        return self.all_of(
            ACTION,
            "tool_call.page",
            investigation_id=investigation_id,
            connector=connector,
            session_id=session_id,
            before=before,
            limit=limit,
            caller=principal_id,
        )
