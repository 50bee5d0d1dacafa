"""The use cases of the graph over any stores: nodes, relationships, entities."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from tests.support.remembering import Remembering

from cairn.kernel.access import Scope
from cairn.nodes.changes import (
    Changed,
    CompileTruth,
    DeleteNode,
    GraphWriting,
    NewRelationship,
    Relate,
)
from cairn.nodes.draft import NewEdge, NewNode, NodeOutcome
from cairn.nodes.entities import CorrectEntities
from cairn.nodes.write import WriteNodes
from cairn.tasks.draft import NewTask
from cairn.tasks.work import Tasks


@dataclass
class Graphing:
    """Everything that writes the graph, beside `Remembering` whose parts it shares."""

    system: Remembering

    def __post_init__(self) -> None:
        remember = self.system.remember
        self.write = WriteNodes(remember.platform)
        writing = GraphWriting(remember.platform)
        self.relate_ = Relate(writing=writing)
        self.compile = CompileTruth(writing=writing)
        self.delete = DeleteNode(writing=writing)
        self.correct = CorrectEntities(writing=writing)
        self.logged: list[tuple[str, dict[str, Any]]] = []
        self.tasks = Tasks(
            replace(
                remember.platform,
                log=lambda event, told: self.logged.append((event, dict(told))),
            )
        )

    def task(self, title: str, **changes: Any) -> UUID:
        """Start a task."""
        new = NewTask(**({"kind": "research", "title": title} | changes))
        return self.tasks.start(self.system.principal, new).id

    def add(self, *nodes: NewNode, **options: Any) -> tuple[NodeOutcome, ...]:
        """Write a batch as the system's principal."""
        return self.write(self.system.principal, nodes, **options).outcomes

    def one(self, node: NewNode) -> UUID:
        """Write one node that must be accepted."""
        (outcome,) = self.add(node)
        if outcome.error is not None:
            raise outcome.error
        assert outcome.id is not None
        return outcome.id

    def entity(self, name: str, type: str = "concept", **changes: Any) -> UUID:
        """Write an entity."""
        return self.one(node("Entity", kind=type, name=name, **changes))

    def note(self, text: str, *edges: NewEdge, **changes: Any) -> UUID:
        """Write a node with a text."""
        return self.one(node("Note", text=text, edges=edges, **changes))

    def mention(self, text: str, entity: UUID, role: str = "mentioned") -> UUID:
        """Write a node that refers to an entity."""
        return self.note(
            text, NewEdge(relation="REFERENCES", to_id=entity, properties={"role": role})
        )

    def relate(self, source: UUID, relation: str, target: UUID, **changes: Any) -> Changed:
        """State a relationship."""
        given: dict[str, Any] = {"properties": {}, **changes}
        new = NewRelationship(source_id=source, target_id=target, relation=relation, **given)
        return self.relate_(self.system.principal, new, idempotency=None)

    def edges(self, node_id: UUID) -> set[tuple[str, str, UUID, UUID, float]]:
        """Return the edges that hold at a node."""
        with self.system.transactions.reading(self.system.principal) as stores:
            found = stores.graph_nodes.edges_of(node_id, limit=1000)
        return {(e.view, e.relation, e.source_id, e.target_id, e.weight) for e in found}

    def stored(self, node_id: UUID) -> Any:
        """Return a node, None when it is deleted or unknown."""
        with self.system.transactions.writing(self.system.principal) as stores:
            return stores.graph_nodes.find([node_id]).get(node_id)

    def aliases(self) -> dict[str, tuple[str, str]]:
        """Return the aliases of the widest audience."""
        with self.system.transactions.reading(self.system.principal) as stores:
            return dict(stores.aliases.aliases("admin", None))


def node(
    label: str, *, kind: str | None = None, edges: tuple[NewEdge, ...] = (), **properties: Any
) -> NewNode:
    """A node for admins; what is no field of a node is a property."""
    fields = NewNode.__dataclass_fields__.keys() - {"properties"}
    given: dict[str, Any] = {
        name: properties.pop(name) for name in list(properties) if name in fields
    }
    return NewNode(
        label=label,
        kind=kind,
        properties=properties,
        edges=edges,
        scope=given.pop("scope", Scope.ADMIN),
        **given,
    )
