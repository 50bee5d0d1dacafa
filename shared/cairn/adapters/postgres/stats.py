"""The numbers of a workspace in PostgreSQL. Not what they mean: `lifecycle.stats` says that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store
from cairn.operations.stats import ChainHead, Counts, FactAge, FeedbackCount, MemorySketch
from cairn.rebuild.orphans import Orphan, Orphans

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

_COLUMNS = ("label", "kind", "state", "category", "knowledge_category")
_WHOLE = 2 ** len(_COLUMNS) - 1
"""`grouping()` of the set that groups by nothing; without one column's bit, of that column."""

_ORPHANS: Mapping[Orphan, str] = {
    Orphan.NODE_WITHOUT_ENTRY: "orphan.node_without_entry",
    Orphan.EDGE_WITHOUT_END: "orphan.edge_without_end",
    Orphan.VECTOR_WITHOUT_NODE: "orphan.vector_without_node",
    Orphan.ENTITY_WITHOUT_REFERENCE: "orphan.entity_without_reference",
    Orphan.ENTRY_WITHOUT_ROW: "orphan.entry_without_row",
}


class PostgresStats(Store):
    """Implements `lifecycle.stats.StatsStore` and `lifecycle.orphans.OrphanStore`."""

    def counts(self) -> Counts:
        """Return how many nodes there are by column and value; null values are left out."""
        by: dict[str, dict[str, int]] = {name: {} for name in _COLUMNS}
        nodes = memories = facts = 0
        for row in self.run("stats.counts"):
            values, (count, which, of_memories, of_facts) = row[:5], row[5:]
            if which == _WHOLE:
                nodes, memories, facts = count, of_memories, of_facts
                continue
            for at, name in enumerate(_COLUMNS):
                if which == _WHOLE - (1 << (len(_COLUMNS) - 1 - at)) and values[at] is not None:
                    by[name][values[at]] = count
        ordered = {name: dict(sorted(found.items())) for name, found in by.items()}
        return Counts(nodes=nodes, memories=memories, facts=facts, by=ordered)

    def facts(self, limit: int, *, random: bool) -> Sequence[FactAge]:
        """Return active facts."""
        rows = self.run("stats.random_facts" if random else "stats.facts", limit=limit)
        return [FactAge(confidence=confidence, since=since) for confidence, since in rows]

    def memories(self, limit: int, *, random: bool, cosine: float) -> Sequence[MemorySketch]:
        """Return active memories."""
        chosen = self.run("stats.chosen_randomly" if random else "stats.chosen", limit=limit)
        ids = [node_id for (node_id,) in chosen]
        return [
            MemorySketch(id=node_id, text=text, duplicate=duplicate, contradicted=contradicted)
            for node_id, text, duplicate, contradicted in self.run(
                "stats.sketches", ids=ids, cosine=cosine
            )
        ]

    def chain_head(self) -> ChainHead:
        """Return where the ledger ends."""
        row = self.run("stats.chain_head").fetchone()
        if row is None:
            raise RuntimeError("a row that always exists is missing")
        return ChainHead(position=row[0], hash=row[1].hex(), recorded_at=row[2])

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
        return [
            FeedbackCount(
                recipe=recipe,
                retrieval_reason=reason,
                signal=signal,
                judged=judged,
                useful=useful,
                share=round(useful / judged, 4),
            )
            for recipe, reason, signal, judged, useful in self.run("stats.feedback")
        ]

    def judged(self, since: datetime) -> Mapping[str, tuple[int, int]]:
        """Return judgements of proactive nodes by signal."""
        rows = self.run("graph.judged", since=since)
        return {signal: (judged, useful) for signal, judged, useful in rows}

    def orphans(self, kind: Orphan, *, limit: int, examples: int) -> Orphans:
        """Return how many there are, counted up to `limit`, and the first of them by id."""
        self.run("view.see_deleted")
        found = sorted(one for (one,) in self.run(_ORPHANS[kind], limit=limit))
        return Orphans(count=len(found), examples=tuple(found[:examples]))
