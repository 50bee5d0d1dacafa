"""The numbers of a workspace in PostgreSQL. Not what they mean: `lifecycle.stats` says that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.memory.graph_reader import JUDGED
from cairn.adapters.postgres.store import Store, record
from cairn.operations.stats import ChainHead, Counts, FactAge, FeedbackCount, MemorySketch
from cairn.rebuild.missing_keys import Orphan, Orphans

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

_ORPHANS: Mapping[Orphan, str] = {
    Orphan.NODE_WITHOUT_ENTRY: "orphan.node_without_entry",
    Orphan.EDGE_WITHOUT_END: "orphan.edge_without_end",
    Orphan.VECTOR_WITHOUT_NODE: "orphan.vector_without_node",
    Orphan.ENTITY_WITHOUT_REFERENCE: "orphan.entity_without_reference",
    Orphan.ENTRY_WITHOUT_ROW: "orphan.entry_without_row",
}


class PostgresStats(Store):
    """The numbers of a workspace, and its orphans."""

    def counts(self) -> Counts:
        """Return how many nodes there are by column and value; null values are left out."""
        by: dict[str, dict[str, int]] = {}
        whole: dict[str, int] = {}
        for row in self.rows("stats.counts"):
            grouped: str | None = row.pop("grouped")
            totals: dict[str, int] = {
                name: row.pop(name) for name in ("nodes", "memories", "facts")
            }
            by = by or {name: {} for name in row}
            if grouped is None:
                whole = totals
            elif row[grouped] is not None:
                by[grouped][row[grouped]] = totals["nodes"]
        ordered = {name: dict(sorted(counts.items())) for name, counts in by.items()}
        return Counts(**whole, by=ordered)

    def facts(self, limit: int, *, random: bool) -> Sequence[FactAge]:
        """Return active facts."""
        name = "stats.random_facts" if random else "stats.facts"
        return self.all_of(record(FactAge), name, limit=limit)

    def memories(self, limit: int, *, random: bool, cosine: float) -> Sequence[MemorySketch]:
        """Return active memories."""
        ids = self.values("stats.chosen_randomly" if random else "stats.chosen", limit=limit)
        return self.all_of(record(MemorySketch), "stats.sketches", ids=ids, cosine=cosine)

    def chain_head(self) -> ChainHead:
        """Return where the ledger ends."""
        (head,) = self.all_of(record(ChainHead, hash=bytes.hex), "stats.chain_head")
        return head

    def storage_bytes(self) -> Mapping[str, int]:
        """Return bytes by what is stored."""
        return dict(self.run("stats.storage_bytes").fetchall())

    def vectors(self) -> Mapping[str, int]:
        """Return how many vectors there are by model."""
        return dict(self.run("stats.vectors").fetchall())

    def outbox(self) -> Mapping[str, int]:
        """Return how many rows wait by topic."""
        return dict(self.run("stats.outbox").fetchall())

    def feedback(self) -> Sequence[FeedbackCount]:
        """Return what readers said of results."""
        return self.all_of(record(_feedback), "stats.feedback")

    def judged(self, since: datetime) -> Mapping[str, tuple[int, int]]:
        """Return judgements of proactive nodes by signal."""
        return dict(self.all_of(JUDGED, "graph.judged", since=since))

    def orphans(self, kind: Orphan, *, limit: int, examples: int) -> Orphans:
        """Return how many there are, counted up to `limit`, and the first of them by id."""
        self.run("view.see_deleted")
        ids = sorted(self.values(_ORPHANS[kind], limit=limit))
        return Orphans(count=len(ids), examples=tuple(ids[:examples]))


def _feedback(*, judged: int, useful: int, **row: Any) -> FeedbackCount:
    return FeedbackCount(judged=judged, useful=useful, share=round(useful / judged, 4), **row)
