"""Nodes and entities for API tests: written by the real use cases in memory, shown by fakes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from tests.fakes.stores import InMemoryTransactions
from tests.support.graph import Graphing
from tests.support.remembering import Remembering, admin_of

from cairn.adapters.http.webhooks import HttpWebhookSender
from cairn.graph.node import Node, State
from cairn.kernel.access import Principal, Scope
from cairn.kernel.errors import NotFound
from cairn.nodes.changes import LabelNode
from cairn.nodes.properties import PropertyCondition
from cairn.nodes.views import (
    EdgeCount,
    EdgesView,
    EdgeView,
    EntityDetail,
    EntityFilter,
    EntityKey,
    EntityView,
    LinkedNode,
    NodeFilter,
    NodeKey,
    NodeMatches,
    NodeView,
)
from cairn.webhooks.webhooks import Webhooks


class NodeWorld:
    """A graph in memory. Lists know their filters and their order, and no edges."""

    def __init__(self, workspace_id: UUID) -> None:
        transactions = InMemoryTransactions()
        transactions.create_workspace(workspace_id)
        principal = admin_of(workspace_id)
        self.graphing = Graphing(Remembering(transactions=transactions, principal=principal))
        remember = self.graphing.system.remember
        self.webhooks = Webhooks(
            transactions=transactions,
            keys=remember.platform.keys,
            cipher=remember.platform.cipher,
            sender=HttpWebhookSender(),
            clock=remember.platform.clock,
            new_id=remember.platform.new_id,
            random_bytes=lambda size: b"k" * size,
        )
        self.node_filters: list[NodeFilter] = []
        self.conditions: list[PropertyCondition] = []
        self.entity_filters: list[EntityFilter] = []

    def services(self) -> dict[str, Any]:
        """Return the use cases of nodes, tasks and webhooks."""
        graph = self.graphing
        return {
            "nodes": self,
            "write_nodes": graph.write,
            "relate": graph.relate_,
            "compile_truth": graph.compile,
            "delete_node": graph.delete,
            "label_node": LabelNode(writing=graph.compile.writing),
            "entities": graph.correct,
            "tasks": graph.tasks,
            "webhooks": self.webhooks,
        }

    def node(self, principal: Principal, node_id: UUID) -> NodeView:
        return replace(_node(self._one(node_id)), edges=self._edges(node_id))

    def nodes(
        self, principal: Principal, where: NodeFilter, *, limit: int, after: NodeKey | None
    ) -> Sequence[NodeView]:
        self.node_filters.append(where)
        found = [_node(row) for row in self._rows() if row.label == where.label]
        found.sort(key=lambda item: (item.position, item.id), reverse=True)
        return [item for item in found if after is None or (item.position, item.id) < after][:limit]

    def query(
        self,
        principal: Principal,
        where: NodeFilter,
        conditions: Sequence[PropertyCondition],
        *,
        limit: int,
        after: NodeKey | None,
    ) -> NodeMatches:
        self.conditions = list(conditions)
        return NodeMatches(nodes=self.nodes(principal, where, limit=limit, after=after))

    def entity(self, principal: Principal, entity_id: UUID) -> EntityDetail:
        one = self._one(entity_id)
        return EntityDetail(
            id=one.id,
            position=one.position,
            name=one.canonical_name or "",
            type=one.kind or "",
            state=one.state,
            scope=Scope(one.scope),
            provenance={},
        )

    def entities(
        self, principal: Principal, where: EntityFilter, *, limit: int, after: EntityKey | None
    ) -> Sequence[EntityView]:
        self.entity_filters.append(where)
        found = [_entity(row) for row in self._rows() if row.label == "Entity"]
        found.sort(key=lambda item: (item.sort_key, item.id))
        return [item for item in found if after is None or (item.sort_key, item.id) > after][:limit]

    def _edges(self, node_id: UUID) -> EdgesView:
        """Every edge that leads from the node."""
        system = self.graphing.system
        with system.transactions.reading(system.principal) as stores:
            edges = stores.graph_nodes.edges_of(node_id, limit=100)
        shown = [
            EdgeView(
                id=edge.id,
                view=edge.view,
                relation=edge.relation,
                direction="out",
                weight=edge.weight,
                node=LinkedNode(id=edge.target_id, label="Node", kind=None, title="another"),
            )
            for edge in edges
            if edge.source_id == node_id
        ]
        counts = [
            EdgeCount(view=item.view, relation=item.relation, direction="out", count=1)
            for item in shown
        ]
        return EdgesView(counts=tuple(counts), strongest=tuple(shown))

    def _rows(self) -> Sequence[Node]:
        system = self.graphing.system
        tables = system.transactions.workspaces[system.principal.workspace_id]
        return [node for node in tables.nodes.values() if node.state is not State.DELETED]

    def _one(self, node_id: UUID) -> Node:
        for row in self._rows():
            if row.id == node_id:
                return replace(row)
        raise NotFound("There is no such node.")


def _node(one: Node) -> NodeView:
    return NodeView(
        id=one.id,
        position=one.position,
        label=one.label,
        kind=one.kind,
        text=one.text,
        state=one.state,
        client_id=one.client_id,
        scope=Scope(one.scope),
        importance=one.importance,
        importance_band="medium",
        provenance={"occurred_at": one.occurred_at, "agent_id": one.source_agent},
        compiled_truth=one.compiled_truth,
        labels=(one.label, *one.extra_labels),
    )


def _entity(one: Node) -> EntityView:
    name = one.canonical_name or ""
    return EntityView(
        id=one.id,
        position=one.position,
        name=name,
        type=one.kind or "",
        state=one.state,
        scope=Scope(one.scope),
        sort_key=name.lower(),
    )
