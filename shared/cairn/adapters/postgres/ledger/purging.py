"""Taking nodes out of every projection in PostgreSQL. Not which ones: entries say that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store

if TYPE_CHECKING:
    from cairn.graph.projection import Purge

_STATEMENTS = (
    "purge.aliases",
    "purge.edges",
    "purge.edge_versions",
    "purge.embeddings",
    "purge.nodes",
    "purge.node_versions",
    "purge.outbox",
    "purge.remember",
)
_AT_ONCE = 1_000


class PostgresPurge(Store):
    """Applies purges. What is not there is left alone, so one may be applied again."""

    def apply(self, purge: Purge) -> None:
        """Delete the nodes' rows everywhere; the search index follows by `purged_node`."""
        for start in range(0, len(purge.node_ids), _AT_ONCE):
            ids = list(purge.node_ids[start : start + _AT_ONCE])
            for statement in _STATEMENTS:
                self.run(statement, ids=ids, position=purge.position)
        if purge.cleared:
            ids = list(purge.cleared)
            self.run("purge.clear_truths", ids=ids, position=purge.position)
            self.run("purge.clear_past_truths", ids=ids)
