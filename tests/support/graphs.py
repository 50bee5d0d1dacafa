"""Small graphs planted into any stores: nodes and edges by name, one ledger position a batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from cairn.graph.edge import Edge, EdgeClosure, View
from cairn.graph.node import Node, NodeChange, State
from cairn.graph.projection import Projection
from cairn.kernel.access import ALL_SCOPES, Principal, Role
from cairn.kernel.ids import derived_id, new_id

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
POSITIONS = iter(range(1, 1_000_000))
VIEWS = {
    "CAUSED_BY": View.CAUSAL,
    "FOLLOWS": View.TEMPORAL,
    "SIMILAR_TO": View.SEMANTIC,
    "REFERENCES": View.ENTITY,
    "CO_OCCURRENCE": View.ENTITY,
    "USES": View.ENTITY,
    "SUMMARIZES": View.HIERARCHICAL,
    "PART_OF": View.DOCUMENT,
    "PRODUCED": View.PROVENANCE,
}


@dataclass
class Planted:
    """A workspace's graph. `transactions` are any that have the write path's node store."""

    transactions: Any
    principal: Principal
    ids: dict[str, UUID] = field(default_factory=dict[str, UUID])

    def id(self, name: str) -> UUID:
        """Return the id that stands for a name, made on first use."""
        return self.ids.setdefault(name, derived_id(self.principal.workspace_id, name))

    def node(self, name: str, **changes: Any) -> Node:
        """Return a node that is not yet written; a name in capitals is an entity."""
        given: dict[str, Any] = {
            "workspace_id": self.principal.workspace_id,
            "id": self.id(name),
            "label": "Entity" if name.isupper() else "Memory",
            "kind": "technology" if name.isupper() else "fact",
            "canonical_name": name if name.isupper() else None,
            "text": f"about {name}",
            "content_hash": name,
            "data_subjects": (),
            "state": State.ACTIVE,
            "occurred_at": NOON,
            "valid_from": NOON,
            "recorded_at": NOON,
            "entry_id": derived_id(self.principal.workspace_id, "entry", name),
            "position": 0,
        }
        return Node(**(given | changes))

    def edge(self, source: str, relation: str, target: str, **changes: Any) -> Edge:
        """Return an edge that is not yet written."""
        given: dict[str, Any] = {
            "workspace_id": self.principal.workspace_id,
            "id": self.id(f"{source}-{relation}-{target}"),
            "view": VIEWS.get(relation, View.KNOWLEDGE),
            "relation": relation,
            "source_id": self.id(source),
            "target_id": self.id(target),
            "valid_from": NOON,
            "recorded_at": NOON,
            "position": 0,
        }
        return Edge(**(given | changes))

    def plant(self, nodes: Sequence[Node] = (), edges: Sequence[Edge] = ()) -> int:
        """Write nodes and edges at the next position, and return it."""
        position = next(POSITIONS)
        self._apply(
            Projection(
                nodes=tuple(_at(node, position) for node in nodes),
                edges=tuple(_at(edge, position) for edge in edges),
            )
        )
        return position

    def grow(self, *edges: tuple[str, str, str], **changes: Any) -> int:
        """Write edges with the nodes at their ends, all with the same changes to the nodes."""
        names = dict.fromkeys(name for source, _, target in edges for name in (source, target))
        return self.plant(
            [self.node(name, **changes) for name in names], [self.edge(*edge) for edge in edges]
        )

    def change(self, name: str, **changes: Any) -> int:
        """Change a node at the next position."""
        position = next(POSITIONS)
        change = NodeChange(
            workspace_id=self.principal.workspace_id,
            id=self.id(name),
            position=position,
            **changes,
        )
        self._apply(Projection(nodes=(change,)))
        return position

    def close(self, source: str, relation: str, target: str) -> int:
        """Let an edge stop holding at the next position."""
        position = next(POSITIONS)
        closure = EdgeClosure(
            workspace_id=self.principal.workspace_id,
            id=self.id(f"{source}-{relation}-{target}"),
            superseded_at=NOON,
            position=position,
        )
        self._apply(Projection(edges=(closure,)))
        return position

    def names(self, ids: Any) -> set[str]:
        """Return the names of ids."""
        by_id = {id_: name for name, id_ in self.ids.items()}
        return {by_id[id_] for id_ in ids}

    def as_other(self, **changes: Any) -> Principal:
        """Return another principal of this workspace, with all scopes unless changed."""
        given: dict[str, Any] = {"role": Role.AGENT, "allowed_scopes": ALL_SCOPES} | changes
        return Principal(workspace_id=self.principal.workspace_id, principal_id=new_id(), **given)

    def _apply(self, projection: Projection) -> None:
        with self.transactions.writing(self.principal) as stores:
            stores.nodes.apply([projection])


def _at(row: Any, position: int) -> Any:
    from dataclasses import replace

    return replace(row, position=position)
