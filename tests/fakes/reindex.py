"""Which nodes lack a vector, in memory, for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.graph.node import Label, State
from cairn.reembedding.reindex import GapCount, GapPage
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.graph.node import Node

_FOUND = (State.ACTIVE, State.PROVISIONAL, State.SUPERSEDED)
_WITHOUT = (Label.CONVERSATION, Label.ENTITY)


@dataclass(frozen=True)
class InMemoryVectorGaps:
    """`PostgresVectorGaps` in memory."""

    tables: Tables

    def page(self, model_id: int, *, after: UUID, limit: int) -> GapPage:
        """Look at the `limit` nodes after an id."""
        nodes = [node for node in self._nodes() if node.id > after][:limit]
        lacking = [node.id for node in nodes if self._lacks(node, model_id)]
        waiting = self._waiting()
        return GapPage(
            last=nodes[-1].id if nodes else None,
            missing=len(lacking),
            unqueued=tuple(item for item in lacking if item not in waiting),
        )

    def count(self, model_id: int) -> GapCount:
        """Look at all nodes of the workspace."""
        lacking = {node.id for node in self._nodes() if self._lacks(node, model_id)}
        return GapCount(missing=len(lacking), waiting=len(lacking & self._waiting()))

    def _nodes(self) -> list[Node]:
        found = [node for node in self.tables.nodes.values() if node.state in _FOUND]
        return sorted(found, key=lambda item: item.id)

    def _lacks(self, node: Node, model_id: int) -> bool:
        models = {model for node_id, model in self.tables.embeddings if node_id == node.id}
        return model_id not in models and (node.label not in _WITHOUT or bool(models))

    def _waiting(self) -> set[UUID]:
        rows = [item for item in self.tables.outbox.values() if item.topic == Topic.EMBED]
        return {node_id for row in rows for node_id in row.node_ids}
