"""A workspace in a real database with the use cases around it, for integration tests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from tests.support.platform import platform_of

from cairn.adapters.postgres.accounts import Admit, create_workspace
from cairn.adapters.postgres.database import Database
from cairn.adapters.postgres.memory.search_runs import PostgresSearchRuns
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.access import ALL_SCOPES, Principal, Role, Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.memories.items import NewMemory, Remembered
from cairn.memories.kinds import MemoryKind
from cairn.memories.remember import Remember
from cairn.recall.recall import silent
from cairn.recall.searches.recorder import RunRecorder, not_kept
from cairn.writing.ports import OutboxRow

MORNING = datetime(2026, 5, 1, 9, tzinfo=UTC)


@dataclass
class Sent:
    """A dispatcher that keeps what it was given."""

    rows: list[OutboxRow] = field(default_factory=list)

    def send(self, rows: Sequence[OutboxRow]) -> None:
        self.rows.extend(rows)


@dataclass
class World:
    """One workspace; `admin` is its first key's principal."""

    workspace_id: UUID
    key: str
    admin: Principal
    pool: Database
    owner_url: str
    remember: Remember

    def as_other(self, **changes: Any) -> Principal:
        """A principal of this workspace, an agent with all scopes unless changed."""
        given = {"role": Role.AGENT, "allowed_scopes": ALL_SCOPES, "name": "other"} | changes
        return Principal(workspace_id=self.workspace_id, principal_id=new_id(), **given)

    def tell(self, *memories: NewMemory) -> Remembered:
        """Remember as the admin."""
        return self.remember(self.admin, memories)


def open_world(owner_url: str, app_url: str, name: str) -> World:
    """A workspace called `name` in a migrated database; close its pool afterwards."""
    pool = Database(app_url, size=3)
    workspace_id, key = create_workspace(owner_url, name, clock=utc_now, new_id=new_id)
    transactions = StoreTransactions(pool)
    return World(
        workspace_id=workspace_id,
        key=key,
        admin=Admit(pool, utc_now)(key).principal,
        pool=pool,
        owner_url=owner_url,
        remember=Remember(platform_of(transactions, dispatcher=Sent())),
    )


def recorded_at_once(pool: Database) -> RunRecorder:
    """What keeps searches; an answer waits for it as long as it takes."""
    insert = PostgresSearchRuns(pool).insert
    return RunRecorder(insert, not_kept, outlives_answers=True, report=silent, budget_s=60.0)


def memory(text: str, **changes: Any) -> NewMemory:
    """A fact without a key, unless changed."""
    given = {
        "type": MemoryKind.FACT,
        "client_id": "global",
        "importance": 5,
        "scope": Scope.ADMIN,
        "occurred_at": MORNING,
    }
    return NewMemory(text=text, **(given | changes))
