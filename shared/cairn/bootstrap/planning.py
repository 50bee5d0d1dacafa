"""How investigations think: who plans, and what stands around a ticket.

Each part is imported when it is made; nothing connects before the first question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.bootstrap.models import silent
from cairn.kernel.access.system import system_principal
from cairn.kernel.clock import monotonic, utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.adapters.postgres.database import Database
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.bootstrap.models import ModelSettings
    from cairn.graph.memory_records import MemoryEdge, MemoryNode
    from cairn.investigations.journal import Journal
    from cairn.investigations.planning.envelope import Bounds
    from cairn.investigations.planning.surrounds import RecentResults, TicketSurrounds
    from cairn.investigations.ports import Planner
    from cairn.ledger.keys import KeyStore
    from cairn.llm.gateway import Gateway
    from cairn.tickets.sealing import Sealed
    from cairn.tickets.ticket import Ticket

MOST_RECENT = 200
"""Tickets of the last day that are compared with a new one."""


def planner(
    settings: ModelSettings,
    opened: Database,
    *,
    report: Callable[[str, dict[str, Any]], None] = silent,
) -> Planner:
    """Return who plans: chat models where some are configured, rules where none answers."""
    from cairn.bootstrap.models import gateway

    return planner_over(gateway(settings, opened, report=report), opened, report=report)


def planner_over(
    models: Gateway | None,
    opened: Database,
    *,
    report: Callable[[str, dict[str, Any]], None] = silent,
) -> Planner:
    """Return the same over a gateway; None is rules alone."""
    from cairn.investigations.planning.heuristic import HeuristicPlanner

    rules = HeuristicPlanner()
    if models is None:
        return rules
    from cairn.investigations.planning.heuristic import FallbackPlanner
    from cairn.investigations.planning.model_planner import ModelPlanner

    return FallbackPlanner(
        first=ModelPlanner(gateway=models, bounds=bounds(opened)), rules=rules, report=report
    )


def bounds(opened: Database) -> Callable[[UUID], Bounds]:
    """Return workspace -> how much its planners are shown, half a second old at most."""
    from cairn.adapters.postgres.workspaces import PostgresWorkspaceSettings

    stored = PostgresWorkspaceSettings(opened, monotonic)
    return lambda workspace_id: stored(system_principal(workspace_id)).settings.envelope


def surrounds(opened: Database, keys: KeyStore) -> TicketSurrounds:
    """Return what looks around a ticket."""
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.investigations.planning.surrounds import TicketSurrounds
    from cairn.ledger.keys import BodyCipher
    from cairn.tickets.sealing import Sealed

    return TicketSurrounds(
        graph=ReadGraph(StoreTransactions(opened)),
        recent=RecentTickets(
            transactions=StoreTransactions(opened),
            sealed=Sealed(keys=keys, cipher=BodyCipher()),
        ),
        bounds=bounds(opened),
        clock=utc_now,
    )


def recent(opened: Database, journal: Journal) -> RecentResults:
    """Return what finds recent results of tools."""
    from cairn.investigations.planning.surrounds import RecentResults

    return RecentResults(journal=journal, bounds=bounds(opened))


@dataclass(frozen=True, slots=True)
class ReadGraph:
    """The memory graph for reading; implements `planning.surrounds.Neighbours`."""

    transactions: StoreTransactions

    def get_node(self, workspace_id: UUID, label: str, natural_key: str) -> MemoryNode | None:
        """Return a node by what names it."""
        ref = (label, natural_key)
        with self.transactions.reading(system_principal(workspace_id)) as stores:
            found = stores.memory_graph.named([ref]).get(ref)
        return found.node if found and found.shown else None

    def neighbors(
        self,
        workspace_id: UUID,
        node: UUID,
        *,
        depth: int = 1,
        relations: Sequence[str] | None = None,
        limit: int = 10,
    ) -> list[tuple[MemoryNode, MemoryEdge]]:
        """Return visible nodes around a node."""
        from cairn.graph.memory_walk import neighbours

        with self.transactions.reading(system_principal(workspace_id)) as stores:
            touching = stores.memory_graph.touching
            return neighbours(touching, node, depth=depth, relations=relations, limit=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentTickets:
    """Tickets of late with what they say; those about somebody forgotten are left out."""

    transactions: StoreTransactions
    sealed: Sealed

    def __call__(self, workspace_id: UUID, since: datetime) -> Sequence[Ticket]:
        """Return the newest first, `MOST_RECENT` at most."""
        from cairn.tickets.sealing import ticket_of

        with self.transactions.reading(system_principal(workspace_id)) as stores:
            rows = stores.tickets.since(since, MOST_RECENT)
        texts = self.sealed.tickets(workspace_id, rows)
        return [ticket_of(workspace_id, row, texts[row.id]) for row in rows if row.id in texts]
