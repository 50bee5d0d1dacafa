"""Consolidation over any stores: what is told gets its vector at once, then runs work it off."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Remembering, admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.consolidation.apply import ApplyPlan
from cairn.consolidation.batching import FindMerges, Gather
from cairn.consolidation.control import BeginRuns, EndRuns
from cairn.consolidation.heuristic import HeuristicPlanner
from cairn.consolidation.plan import Planner
from cairn.consolidation.requests import (
    BrowseConsolidations,
    PreviewConsolidation,
    StartConsolidation,
)
from cairn.consolidation.run import ConsolidateClient, PreviewClient, ProposePlan
from cairn.enrichment.ports import NewEmbedding
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.ledger.entry import Entry
from cairn.memories.items import NewMemory

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


def ticking(start: datetime = NOON + timedelta(hours=1)) -> Callable[[], datetime]:
    """A clock that goes on a second a call."""
    seconds = count()
    return lambda: start + timedelta(seconds=next(seconds))


@dataclass
class Consolidating:
    """The use cases of a consolidation around a workspace in which one can remember."""

    system: Remembering
    planner: Planner = field(default_factory=HeuristicPlanner)
    embedder: HashingEmbedder = field(default_factory=HashingEmbedder)
    clock: Callable[[], datetime] = field(default_factory=ticking)

    def __post_init__(self) -> None:
        transactions = self.system.transactions
        keys = self.system.keys
        gather = Gather(transactions=transactions, model_id=self.embedder.model.id)
        self.propose = ProposePlan(
            gather=gather,
            planners=lambda workspace_id, run_id: self.planner,
            rules=HeuristicPlanner(),
            merges=FindMerges(transactions=transactions, embedder=self.embedder),
        )
        platform = platform_of(
            transactions, keys=keys, dispatcher=self.system.sent, clock=self.clock
        )
        self.apply = ApplyPlan(
            platform, model_id=self.embedder.model.id, pause=lambda seconds: None
        )
        self.consolidate = ConsolidateClient(
            transactions=transactions,
            propose=self.propose,
            apply=self.apply,
            stopwatch=lambda: 0.0,
        )
        self.begin = BeginRuns(
            platform=platform,
            workspaces=lambda: [self.workspace_id],
        )
        self.end = EndRuns(
            platform=platform,
            model_id=self.embedder.model.id,
        )
        self.start = StartConsolidation(platform)
        self.preview = PreviewConsolidation(
            transactions=transactions,
            preview=PreviewClient(propose=self.propose, stopwatch=lambda: 0.0),
            clock=self.clock,
            stopwatch=lambda: 0.0,
            new_id=new_id,
        )
        self.browse = BrowseConsolidations(transactions=transactions)

    @property
    def workspace_id(self) -> UUID:
        """The workspace."""
        return self.system.principal.workspace_id

    def tell(self, *memories: NewMemory) -> list[UUID]:
        """Remember and embed; return the ids."""
        ids = [item.id for item in self.system.tell(*memories) if item.id]
        self.embed(*ids)
        return ids

    def embed(self, *ids: UUID) -> None:
        """Give memories their vectors, as the embed stage would."""
        with self.system.transactions.writing(self.system.principal) as stores:
            nodes = stores.embeddings.enrichable(ids)
            rows = [
                NewEmbedding(node_id=node.id, vectors=list(self.embedder.embed([node.text])))
                for node in nodes
            ]
            position = stores.ledger.head().position
            stores.embeddings.store(rows, self.embedder.model.id, position)

    def run(self) -> dict[str, Any]:
        """One scheduled run over everything; return what ended it, {} when nothing was to do."""
        begun = self.begin(workspace_id=None, run_id=None, execution=str(new_id()))
        for item in begun["clients"]:
            ids = [UUID(item[name]) for name in ("workspace_id", "run_id", "client_id")]
            while self.consolidate(ids[0], ids[1], ids[2], seconds=1.0)["more"]:
                pass
        [run_id] = {workspace["run_id"] for workspace in begun["workspaces"]}
        return self.end.finish(self.workspace_id, UUID(run_id)) if run_id else {}

    def entries(self) -> list[Entry]:
        """Everything in the ledger."""
        with self.system.transactions.reading(self.system.principal) as stores:
            return stores.ledger.page(after=0, limit=10_000)

    def position(self) -> int:
        """Where the ledger ends."""
        with self.system.transactions.reading(self.system.principal) as stores:
            return stores.ledger.head().position

    def rows(self) -> dict[UUID, Any]:
        """Every memory by id, as the views show it."""
        with self.system.transactions.reading(self.system.principal) as stores:
            return {item.id: item for item in stores.unconsolidated.find(self._ids(stores))}

    def _ids(self, stores: Any) -> Iterable[UUID]:
        entries = stores.ledger.page(after=0, limit=10_000)
        found: list[UUID] = []
        for entry in entries:
            meta = entry.meta
            found += [UUID(meta["node_id"])] if "node_id" in meta else []
            if entry.type == "consolidation.applied":
                found += [UUID(item["node_id"]) for item in (*meta["added"], *meta["flagged"])]
        return found


def consolidating_in_postgres(database: "Database") -> Iterator[Consolidating]:
    """Consolidating over PostgreSQL, in a new workspace; its pool is closed at the end."""
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)
               ON CONFLICT DO NOTHING""",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    name = f"consolidation-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    transactions = StoreTransactions(pool)
    yield Consolidating(Remembering(transactions=transactions, principal=admin_of(workspace_id)))
    pool.close()
