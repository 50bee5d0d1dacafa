"""Registered agents in PostgreSQL, and which of them a key's holder belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.rows import class_row

from cairn.accounts.agents import Agent
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record
from cairn.kernel.access import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID


class Registered(NamedTuple):
    """How many agents a workspace has, and how many of them came of themselves lately."""

    total: int
    joined: int


def _agent(**row: Any) -> Agent:
    row["scopes"] = tuple(sorted(Scope(scope) for scope in row["scopes"]))
    return Agent(**row)


class PostgresAgents(Store):
    """The registered agents of the transaction's workspace."""

    def find(self, slug: str) -> Agent | None:
        """Return one."""
        return self.first_of(record(_agent), "agent.find", slug=slug)

    def all(self) -> Sequence[Agent]:
        """Return every one, by slug."""
        return self.all_of(record(_agent), "agent.all")

    def count(self, since: datetime) -> Registered:
        """Count them, and those that registered themselves after `since`."""
        parameters = {"workspace_id": self.principal.workspace_id, "since": since}
        with self.connection.cursor(row_factory=class_row(Registered)) as cursor:
            return cursor.execute(query("agent.count"), parameters).fetchone() or Registered(0, 0)

    def keep(self, agent: Agent) -> None:
        """Keep one as it is now."""
        scopes = [scope.value for scope in agent.scopes]
        self.write("agent.keep", agent, scopes=scopes)

    def join(self, principal_id: UUID, slug: str) -> bool:
        """Let a key's holder belong to an agent; False when it belongs to one already."""
        return self.run("agent.join", id=principal_id, slug=slug).rowcount == 1
