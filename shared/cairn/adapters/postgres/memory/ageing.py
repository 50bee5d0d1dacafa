"""Finds what has aged in PostgreSQL. Not what is done about it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from cairn.adapters.postgres.store import Store
from cairn.ageing.rules import AgeingPage, EntityPage, Place, Rule
from cairn.memories.kinds import IMPORTANCE_BANDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.ageing.rules import Cutoffs

_QUERIES: Mapping[Rule, str] = {
    Rule.EVENT_TTL: "ageing.event_ttl",
    Rule.FACT_UNUSED: "ageing.fact_unused",
    Rule.GRAPH_UNUSED: "ageing.graph_unused",
    Rule.KNOWLEDGE_UNUSED: "ageing.knowledge_unused",
    Rule.DELETED: "ageing.deleted",
}


class PostgresAgeing(Store):
    """Finds what has aged in one workspace, soft-deleted rows included.

    What a search returned and nobody counted yet is in use, and never due.
    """

    def now(self) -> datetime:
        """Return the store's own clock, the second of two that must agree."""
        return self.value("ageing.now")

    def page(self, rule: Rule, cutoffs: Cutoffs, *, after: Place, limit: int) -> AgeingPage:
        """Look at the `limit` next nodes a rule is about (not UNREFERENCED).

        Of documents the due ones are named; `document_parts` tells of their parts.
        """
        self.run("view.see_deleted")
        last, due = self.run(
            _QUERIES[rule],
            event=cutoffs.event,
            fact=cutoffs.fact,
            knowledge=cutoffs.knowledge,
            deleted=cutoffs.deleted,
            medium=IMPORTANCE_BANDS["medium"][-1],
            after_at=after.at,
            after_id=after.id,
            limit=limit,
        ).fetchone() or (None, ())
        place = Place(at=datetime.fromisoformat(last[0]), id=UUID(last[1])) if last else None
        return AgeingPage(last=place, due=tuple(due))

    def expired(self, now: datetime, *, limit: int) -> Sequence[UUID]:
        """Return memories that expired by `now`, the first to expire first."""
        self.run("view.see_deleted")
        return self.values("ageing.expired", now=now, limit=limit)

    def document_parts(self, document_id: UUID, *, limit: int) -> Sequence[UUID]:
        """Return active parts of a document, and last the document itself."""
        return self.values("ageing.document_parts", document_id=document_id, limit=limit)

    def entities(self, before: datetime, *, after: tuple[int, UUID], limit: int) -> EntityPage:
        """Look at the `limit` next entities made after a ledger position and an id.

        Unreferenced is one recorded before `before` that was found in a text (not written by
        hand) and that only other entities know: no edge to anything else, no statement about it.
        A merged one follows the one it was merged into.
        """
        self.run("view.see_deleted")
        position, node_id = after
        last, due = self.run(
            "ageing.entities", before=before, after=position, after_id=node_id, limit=limit
        ).fetchone() or (None, ())
        place = (int(last[0]), UUID(last[1])) if last else None
        return EntityPage(last=place, unreferenced=tuple(due))

    def archived(self, used: Sequence[UUID]) -> Sequence[UUID]:
        """Return what of `used` is archived, documents whole.

        Left out is what meanwhile has an active twin: said again, or the new end of its chain.
        """
        return self.values("ageing.archived", used=list(used))
