"""What the API needs to count a workspace, and the consolidation to clean it up."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.adapters.postgres.workspaces import PostgresWorkspaceSettings
from cairn.ageing.cleanup import Cleanup
from cairn.ageing.rules import Lifetimes
from cairn.api.services import StatsServices
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.operations.stats import GetStats
from cairn.rebuild.orphans import FindOrphans

if TYPE_CHECKING:
    from cairn.adapters.postgres.database import Database
    from cairn.llm.costs import GetCosts
    from cairn.workspace.documents import Document


class AgeingSettings(Protocol):
    """After how many days what is unused ages."""

    @property
    def event_ttl_days(self) -> int: ...
    @property
    def fact_archive_days(self) -> int: ...
    @property
    def knowledge_archive_days(self) -> int: ...


def stats_services(opened: Database, deployment: Document | None = None) -> StatsServices:
    """Build them; nothing connects yet."""
    transactions = StoreTransactions(opened)
    return StatsServices(
        get=GetStats(
            transactions=transactions,
            clock=utc_now,
            settings=PostgresWorkspaceSettings(opened, monotonic, deployment),
        ),
        orphans=FindOrphans(transactions=transactions),
    )


def costs(opened: Database) -> GetCosts:
    """Build the reports of what models have cost."""
    from cairn.llm.costs import GetCosts

    return GetCosts(transactions=StoreTransactions(opened), clock=utc_now)


def cleanup(opened: Database, settings: AgeingSettings) -> Cleanup:
    """Build the cleanup of one workspace."""
    return Cleanup(
        transactions=StoreTransactions(opened),
        clock=utc_now,
        stopwatch=monotonic,
        new_id=new_id,
        lifetimes=Lifetimes(
            event=timedelta(days=settings.event_ttl_days),
            fact=timedelta(days=settings.fact_archive_days),
            knowledge=timedelta(days=settings.knowledge_archive_days),
        ),
    )
