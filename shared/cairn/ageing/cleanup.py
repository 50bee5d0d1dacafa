"""Let what nobody used age: events expire, facts, documents and entities go, deletions end.

Not decay, which is computed when something is read and changes nothing, and not forgetting.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cairn.ageing.rules import BEGINNING, FIRST_ENTITY, Cutoffs, Lifetimes, Rule, ageing_meta
from cairn.kernel.access.system import system_principal
from cairn.writing.writer import Write, open_write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.ageing.rules import AgeingPage, Place
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform


PAGE = 200
"""Nodes looked at, and changed at the most, in one transaction: the head is held shortly."""

_ENTRIES = (
    (Rule.EVENT_TTL, "node.expired", "expired"),
    (Rule.FACT_UNUSED, "node.archived", "archived"),
    (Rule.GRAPH_UNUSED, "node.archived", "archived"),
    (Rule.DELETED, "node.purged", "purged"),
)
"""Rule, the entry it appends, what it counts as."""


@dataclass(frozen=True, slots=True)
class Cleanup:
    """Runs every rule over one workspace, in small transactions of their own.

    Each finds its nodes again under the ledger's head before it changes them, so a run that is
    killed, or two at once, do nothing twice and lose nothing. Ages are taken from the earlier of
    two clocks, ours and the database's: one that jumps ahead lets nothing age.
    """

    platform: Platform
    lifetimes: Lifetimes = field(default_factory=Lifetimes)

    def __call__(self, workspace_id: UUID, *, seconds: float) -> dict[str, int | bool]:
        """Return how many nodes `expired`, were `archived` and `purged`, and `entities` swept.

        `more` is true when `seconds` did not reach: the next call goes on.
        """
        principal = system_principal(workspace_id)
        until = self.platform.stopwatch() + seconds
        with self.platform.transactions.reading(principal) as stores:
            now = min(self.platform.clock(), stores.ageing.now())
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
        while self.platform.stopwatch() < until:
            page = self._look(principal, rule, cutoffs, after)
            if page.due:
                with open_write(self.platform, principal) as write:
                    page = write.stores.ageing.page(rule, cutoffs, after=after, limit=PAGE)
                    _note(write, type_, rule, page.due)
                changed += len(page.due)
            if page.last is None:
                return changed, True
            after = page.last
        return changed, False

    def _documents(self, principal: Principal, cutoffs: Cutoffs, until: float) -> tuple[int, bool]:
        """Archive documents of which no part was used, the document's own row last."""
        changed, after = 0, BEGINNING
        while self.platform.stopwatch() < until:
            page = self._look(principal, Rule.KNOWLEDGE_UNUSED, cutoffs, after)
            for document_id in page.due:
                while self.platform.stopwatch() < until:
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
        with open_write(self.platform, principal) as write:
            ageing = write.stores.ageing
            if document_id not in ageing.page(rule, cutoffs, after=after, limit=PAGE).due:
                return 0
            parts = ageing.document_parts(document_id, limit=PAGE)
            _note(write, "node.archived", rule, parts)
            return len(parts)

    def _entities(self, workspace_id: UUID, until: float) -> dict[str, int | bool]:
        sweep = SweepEntities(self.platform)
        left = until - self.platform.stopwatch()
        return sweep(workspace_id, seconds=left, older_than=self.lifetimes.deleted)

    def _look(self, principal: Principal, rule: Rule, cutoffs: Cutoffs, after: Place) -> AgeingPage:
        with self.platform.transactions.reading(principal) as stores:
            return stores.ageing.page(rule, cutoffs, after=after, limit=PAGE)


def _note(write: Write, type_: str, rule: Rule, nodes: Sequence[UUID]) -> None:
    if nodes:
        write.note(type_, ageing_meta(rule, nodes))


EVER = datetime(9999, 1, 1, tzinfo=UTC)
"""Whatever any clock said: without `older_than` age does not matter."""


@dataclass(frozen=True, slots=True)
class SweepEntities:
    """Purges unreferenced entities, a page a transaction, until none is left or time is up.

    An entity merged into a swept one goes in the round after it, so rounds repeat until one finds
    nothing. Killed at any point and begun again it ends the same.
    """

    platform: Platform

    def __call__(
        self, workspace_id: UUID, *, seconds: float, older_than: timedelta = timedelta(0)
    ) -> dict[str, int | bool]:
        """Return how many `entities` went and whether there is `more` to look at."""
        principal = system_principal(workspace_id)
        until = self.platform.stopwatch() + seconds
        entities = 0
        while True:
            swept, done = self._round(principal, until, older_than)
            entities += swept
            if not swept or not done:
                return {"entities": entities, "more": not done}

    def _round(self, principal: Principal, until: float, older_than: timedelta) -> tuple[int, bool]:
        swept, after = 0, FIRST_ENTITY
        while self.platform.stopwatch() < until:
            last, gone = self._page(principal, after, older_than)
            swept += gone
            if last is None:
                return swept, True
            after = last
        return swept, False

    def _page(
        self, principal: Principal, after: tuple[int, UUID], older_than: timedelta
    ) -> tuple[tuple[int, UUID] | None, int]:
        with self.platform.transactions.reading(principal) as stores:
            now = min(self.platform.clock(), stores.ageing.now())
            before = now - older_than if older_than else EVER
            page = stores.ageing.entities(before, after=after, limit=PAGE)
        if not page.unreferenced:
            return page.last, 0
        with open_write(self.platform, principal) as write:
            page = write.stores.ageing.entities(before, after=after, limit=PAGE)
            _note(write, "node.purged", Rule.UNREFERENCED, page.unreferenced)
        return page.last, len(page.unreferenced)
