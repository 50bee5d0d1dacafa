"""What the consolidation needs to clean a workspace up."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.ageing.cleanup import Cleanup
from cairn.ageing.rules import Lifetimes
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from cairn.adapters.postgres.database import Database


class AgeingSettings(Protocol):
    """After how many days what is unused ages."""

    @property
    def event_ttl_days(self) -> int: ...
    @property
    def fact_archive_days(self) -> int: ...
    @property
    def knowledge_archive_days(self) -> int: ...


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
