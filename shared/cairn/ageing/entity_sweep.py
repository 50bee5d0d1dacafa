"""Sweep entities that nothing refers to any more: their texts were purged or forgotten.

An entity has no data subject of its own, and its name may be somebody's: forgetting sweeps too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cairn.ageing.entries import ageing_entry
from cairn.ageing.rules import FIRST_ENTITY, AgeingStores, Rule
from cairn.kernel.access.system import system_principal
from cairn.writing.append import append_and_project

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.ids import IdSource
    from cairn.kernel.transaction import Transactions

PAGE = 200
"""Entities looked at in one transaction."""

EVER = datetime(9999, 1, 1, tzinfo=UTC)
"""Whatever any clock said: without `older_than` age does not matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepEntities:
    """Purges unreferenced entities, a page a transaction, until none is left or time is up.

    An entity merged into a swept one goes in the round after it, so rounds repeat until one finds
    nothing. Killed at any point and begun again it ends the same.
    """

    transactions: Transactions[AgeingStores]
    clock: Clock
    stopwatch: Stopwatch
    new_id: IdSource

    def __call__(
        self, workspace_id: UUID, *, seconds: float, older_than: timedelta = timedelta(0)
    ) -> dict[str, int | bool]:
        """Return how many `entities` went and whether there is `more` to look at."""
        principal = system_principal(workspace_id)
        until = self.stopwatch() + seconds
        entities = 0
        while True:
            swept, done = self._round(principal, until, older_than)
            entities += swept
            if not swept or not done:
                return {"entities": entities, "more": not done}

    def _round(self, principal: Principal, until: float, older_than: timedelta) -> tuple[int, bool]:
        swept, after = 0, FIRST_ENTITY
        while self.stopwatch() < until:
            last, gone = self._page(principal, after, older_than)
            swept += gone
            if last is None:
                return swept, True
            after = last
        return swept, False

    def _page(
        self, principal: Principal, after: tuple[int, UUID], older_than: timedelta
    ) -> tuple[tuple[int, UUID] | None, int]:
        with self.transactions.reading(principal) as stores:
            now = min(self.clock(), stores.ageing.now())
            before = now - older_than if older_than else EVER
            page = stores.ageing.entities(before, after=after, limit=PAGE)
        if not page.unreferenced:
            return page.last, 0
        with self.transactions.writing(principal) as stores:
            page = stores.ageing.entities(before, after=after, limit=PAGE)
            if page.unreferenced:
                now = self.clock()
                entry = ageing_entry(
                    self.new_id(),
                    principal.workspace_id,
                    "node.purged",
                    Rule.UNREFERENCED,
                    page.unreferenced,
                    now,
                )
                append_and_project(stores, [entry], now)
        return page.last, len(page.unreferenced)
