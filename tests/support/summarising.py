"""The summarising use case over any stores, beside what tells and observes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tests.fakes.stores import InMemoryTransactions
from tests.support.graph import Graphing
from tests.support.observing import Observing
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Remembering, admin_of, fact

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.graph.node import Node
from cairn.kernel.access.system import system_principal
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.ledger.keys import BodyCipher, key_subjects
from cairn.memories.delete import DeleteMemory
from cairn.memories.items import NewMemory
from cairn.memories.kinds import MemoryKind
from cairn.summaries.append import SUMMARIES_A_WRITE, SummaryWriting
from cairn.summaries.ports import Condense
from cairn.summaries.texts import ByRules
from cairn.summaries.write import SummariseWorkspace
from cairn.writing.projectors import project

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

AGES = 1e9


@dataclass
class Summarising:
    """Everything that summaries are made of, and the use case over the same stores and keys."""

    system: Remembering
    condense: Condense = field(default_factory=ByRules)
    seconds: Callable[[], float] = field(default_factory=lambda: lambda: 0.0)
    a_write: int = SUMMARIES_A_WRITE

    def __post_init__(self) -> None:
        self.events = Observing(self.system)
        self.graph = Graphing(self.system)
        self.delete = DeleteMemory(
            platform_of(
                self.system.transactions,
                dispatcher=self.system.sent,
                clock=self.system.remember.platform.clock,
            )
        )

    def use(self) -> SummariseWorkspace:
        """Return the use case."""
        writing = SummaryWriting(
            platform_of(
                self.system.transactions,
                keys=self.system.keys,
                dispatcher=self.system.sent,
                clock=self.system.remember.platform.clock,
            )
        )
        return SummariseWorkspace(
            transactions=self.system.transactions,
            writing=writing,
            condense=self.condense,
            stopwatch=self.seconds,
            summaries_a_write=self.a_write,
        )

    def run(self, seconds: float = AGES) -> dict[str, Any]:
        """Summarise, and return the counts that are not zero."""
        counts = self.use()(self.system.principal.workspace_id, seconds=seconds)
        return {name: value for name, value in counts.items() if value}

    def say(self, *texts: str, session: str = "s", at: float = 0, **changes: Any) -> list[UUID]:
        """Remember messages of a session, a minute apart, `at` minutes past noon."""
        memories = [
            message(text, session=session, at=at + i, **changes) for i, text in enumerate(texts)
        ]
        outcomes = self.system.tell(*memories)
        assert all(outcome.id for outcome in outcomes), outcomes
        return [outcome.id for outcome in outcomes if outcome.id is not None]

    def summaries(self, kind: str | None = None, **where: Any) -> list[Node]:
        """Return the summaries that are there, as nodes, by kind and age."""
        found = [node for node in self.nodes().values() if node.label == "Summary"]
        return sorted(
            (
                item
                for item in found
                if item.state == "active"
                and kind in (None, item.kind)
                and all(getattr(item, name) == value for name, value in where.items())
            ),
            key=lambda item: (item.kind or "", item.occurred_at, item.id),
        )

    def nodes(self) -> dict[UUID, Node]:
        """Return every node that the ledger makes, replayed from its first entry."""
        return self.replayed().workspaces[self.system.principal.workspace_id].nodes

    def targets(self, summary_id: UUID, relation: str = "SUMMARIZES") -> set[UUID]:
        """Return what a node has open edges of one relation to, in the stores."""
        principal = system_principal(self.system.principal.workspace_id)
        with self.system.transactions.reading(principal) as stores:
            held = stores.summaries.edges([summary_id])
        return {item.target_id for item in held if item.relation == relation}

    def entries(self, type_: str) -> list[Any]:
        """Return the entries of one type."""
        with self.system.transactions.reading(self.system.principal) as stores:
            return list(stores.ledger.page(after=0, limit=10_000, type_=type_))

    def replayed(self) -> InMemoryTransactions:
        """Return empty stores to which the whole ledger was applied again."""
        workspace_id = self.system.principal.workspace_id
        with self.system.transactions.reading(self.system.principal) as stores:
            entries = list(stores.ledger.page(after=0, limit=100_000))
        fresh, texts = InMemoryTransactions(), dict[UUID, str]()
        fresh.create_workspace(workspace_id)
        with fresh.writing(self.system.principal) as stores:
            for entry in entries:
                owners = key_subjects(workspace_id, entry.data_subjects)
                keys = self.system.keys.get(workspace_id, owners)
                body = (
                    BodyCipher().open(entry.id, workspace_id, owners, keys, entry.body)
                    if entry.body
                    else {}
                )
                projection = project(entry, body, texts)
                texts |= {row.id: row.text for row in projection.nodes if row.text is not None}
                stores.nodes.apply([projection])
        return fresh


def message(text: str, *, session: str = "s", at: float = 0, **changes: Any) -> NewMemory:
    """A message of a session, `at` minutes past noon."""
    given: dict[str, Any] = {
        "type": MemoryKind.EVENT,
        "session_id": session,
        "occurred_at": NOON + timedelta(minutes=at),
        "source_agent": "bot",
    }
    return fact(text, **(given | changes))


def summarising_in_postgres(database: "Database") -> Iterator[Summarising]:
    """Summarising over PostgreSQL, in a new workspace; its pool is closed at the end."""
    name = f"summaries-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    system = Remembering(transactions=StoreTransactions(pool), principal=admin_of(workspace_id))
    yield Summarising(system)
    pool.close()


def ticking() -> Callable[[], float]:
    """Return a stopwatch that goes on a second each time it is looked at."""
    seconds = count()
    return lambda: float(next(seconds))
