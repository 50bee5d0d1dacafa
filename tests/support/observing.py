"""The observe use case over any stores, and events as callers send them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tests.support.remembering import NOON, Remembering, admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.events.draft import EventOutcome, NewEvent
from cairn.events.observe import Observe
from cairn.kernel.access import Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@dataclass
class Observing:
    """Observe beside the remembering it shares stores, keys and clock with."""

    system: Remembering

    def __post_init__(self) -> None:
        remember = self.system.remember
        self.observe = Observe(remember.platform)

    def see(self, *events: NewEvent, **options: Any) -> tuple[EventOutcome, ...]:
        """Observe a batch and return its outcomes."""
        return self.observe(self.system.principal, events, **options).outcomes

    def see_one(self, event: NewEvent) -> UUID:
        """Observe one event and return its id."""
        (outcome,) = self.see(event)
        assert outcome.id is not None, outcome
        return outcome.id


def event(type: str = "tool.execute", *, at: float = 0, **changes: Any) -> NewEvent:
    """An event of session `s`, `at` seconds past noon, unless changed."""
    given: dict[str, Any] = {
        "client_id": "global",
        "scope": Scope.ADMIN,
        "occurred_at": NOON + timedelta(seconds=at),
        "session_id": "s",
    }
    return NewEvent(type=type, **(given | changes))


class Seeing(Observing):
    """Observing with a way to look at the open edges, wherever they are stored."""

    database: "Database | None" = None

    def edges(self, relation: str) -> set[tuple[UUID, UUID, Any]]:
        """(source, target, what is special) of the open edges of one relation.

        Special are milliseconds, the mechanism, the role, the score; the weight of others.
        """
        workspace_id = self.system.principal.workspace_id
        if self.database is None:
            stored = self.system.transactions.workspaces[workspace_id].edges.values()
            found = [
                (e.source_id, e.target_id, e.properties, e.weight)
                for e in stored
                if e.relation == relation
            ]
        else:
            with self.database.connect_as_superuser() as root:
                found = root.execute(
                    """SELECT source_id, target_id, properties, weight FROM edge
                        WHERE workspace_id = %s AND relation = %s AND superseded_at IS NULL""",
                    [workspace_id, relation],
                ).fetchall()
        return {
            (source, target, _special(props, weight)) for source, target, props, weight in found
        }


def _special(properties: Any, weight: float) -> Any:
    names = ("delta_ms", "mechanism", "role", "score")
    return next((properties[name] for name in names if name in properties), weight)


def seeing_in_postgres(database: "Database") -> Iterator[Seeing]:
    """Seeing over PostgreSQL, in a new workspace; its pool is closed at the end."""
    name = f"contract-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    system = Remembering(transactions=StoreTransactions(pool), principal=admin_of(workspace_id))
    found = Seeing(system)
    found.database = database
    yield found
    pool.close()
