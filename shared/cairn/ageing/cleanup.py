"""Let what nobody used age: events expire, facts, documents and entities go, deletions end.

Not decay, which is computed when something is read and changes nothing, and not forgetting.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cairn.ageing.rules import BEGINNING, FIRST_ENTITY, Cutoffs, Lifetimes, Rule, ageing_entry
from cairn.kernel.access.system import system_principal
from cairn.writing.append import append_and_project

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.ageing.rules import AgeingPage, Place
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions


PAGE = 200
"""Nodes looked at, and changed at the most, in one transaction: the head is held shortly."""

_ENTRIES = (
    (Rule.EVENT_TTL, "node.expired", "expired"),
    (Rule.FACT_UNUSED, "node.archived", "archived"),
    (Rule.GRAPH_UNUSED, "node.archived", "archived"),
    (Rule.DELETED, "node.purged", "purged"),
)
"""Rule, the entry it appends, what it counts as."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    """Runs every rule over one workspace, in small transactions of their own.

    Each finds its nodes again under the ledger's head before it changes them, so a run that is
    killed, or two at once, do nothing twice and lose nothing. Ages are taken from the earlier of
    two clocks, ours and the database's: one that jumps ahead lets nothing age.
    """

    transactions: Transactions[Stores]
    clock: Clock
    stopwatch: Stopwatch
    new_id: IdSource
    lifetimes: Lifetimes = field(default_factory=Lifetimes)

    def __call__(self, workspace_id: UUID, *, seconds: float) -> dict[str, int | bool]:
        """Return how many nodes `expired`, were `archived` and `purged`, and `entities` swept.

        `more` is true when `seconds` did not reach: the next call goes on.
        """
        principal = system_principal(workspace_id)
        until = self.stopwatch() + seconds
        with self.transactions.reading(principal) as stores:
            now = min(self.clock(), stores.ageing.now())
        cutoffs = Cutoffs.at(now, self.lifetimes)
        counts: dict[str, int | bool] = {}
        more = False
        for rule, type_, name in _ENTRIES:
            changed, done = self._rule(principal, rule, type_, cutoffs, until)
            counts[name] = counts.get(name, 0) + changed
            more = more or not done
        documents, done = self._documents(principal, cutoffs, until)
        swept = self._entities(workspace_id, until)
        counts["archived"] += documents
        return counts | {
            "entities": swept["entities"],
            "more": bool(more or not done or swept["more"]),
        }

    def _rule(
        self, principal: Principal, rule: Rule, type_: str, cutoffs: Cutoffs, until: float
    ) -> tuple[int, bool]:
        """Return how many nodes aged by a rule, and whether all of the workspace was looked at."""
        changed, after = 0, BEGINNING
        while self.stopwatch() < until:
            page = self._look(principal, rule, cutoffs, after)
            if page.due:
                with self.transactions.writing(principal) as stores:
                    page = stores.ageing.page(rule, cutoffs, after=after, limit=PAGE)
                    self._append(stores, principal, type_, rule, page.due)
                changed += len(page.due)
            if page.last is None:
                return changed, True
            after = page.last
        return changed, False

    def _documents(self, principal: Principal, cutoffs: Cutoffs, until: float) -> tuple[int, bool]:
        """Archive documents of which no part was used, the document's own row last."""
        changed, after = 0, BEGINNING
        while self.stopwatch() < until:
            page = self._look(principal, Rule.KNOWLEDGE_UNUSED, cutoffs, after)
            for document_id in page.due:
                while self.stopwatch() < until:
                    parts = self._archive(principal, document_id, cutoffs, after)
                    changed += parts
                    if not parts:
                        break
                else:
                    return changed, False
            if page.last is None:
                return changed, True
            after = page.last
        return changed, False

    def _archive(
        self, principal: Principal, document_id: UUID, cutoffs: Cutoffs, after: Place
    ) -> int:
        """Archive some parts of a document that is still due; return how many."""
        rule = Rule.KNOWLEDGE_UNUSED
        with self.transactions.writing(principal) as stores:
            if document_id not in stores.ageing.page(rule, cutoffs, after=after, limit=PAGE).due:
                return 0
            parts = stores.ageing.document_parts(document_id, limit=PAGE)
            self._append(stores, principal, "node.archived", rule, parts)
            return len(parts)

    def _entities(self, workspace_id: UUID, until: float) -> dict[str, int | bool]:
        sweep = SweepEntities(
            transactions=self.transactions,
            clock=self.clock,
            stopwatch=self.stopwatch,
            new_id=self.new_id,
        )
        left = until - self.stopwatch()
        return sweep(workspace_id, seconds=left, older_than=self.lifetimes.deleted)

    def _look(self, principal: Principal, rule: Rule, cutoffs: Cutoffs, after: Place) -> AgeingPage:
        with self.transactions.reading(principal) as stores:
            return stores.ageing.page(rule, cutoffs, after=after, limit=PAGE)

    def _append(
        self,
        stores: Stores,
        principal: Principal,
        type_: str,
        rule: Rule,
        nodes: Sequence[UUID],
    ) -> None:
        if nodes:
            now = self.clock()
            entry = ageing_entry(self.new_id(), principal.workspace_id, type_, rule, nodes, now)
            append_and_project(stores, [entry], now)


EVER = datetime(9999, 1, 1, tzinfo=UTC)
"""Whatever any clock said: without `older_than` age does not matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepEntities:
    """Purges unreferenced entities, a page a transaction, until none is left or time is up.

    An entity merged into a swept one goes in the round after it, so rounds repeat until one finds
    nothing. Killed at any point and begun again it ends the same.
    """

    transactions: Transactions[Stores]
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
