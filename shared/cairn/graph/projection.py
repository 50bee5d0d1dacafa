"""What one ledger entry does to the projections: rows in the order they are to be applied."""

from dataclasses import dataclass

from cairn.graph.edge import Edge, EdgeClosure
from cairn.graph.node import Node, NodeChange

NodeRow = Node | NodeChange
EdgeRow = Edge | EdgeClosure


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """The rows of one entry. Pure output of a projector: no clock, id or index was asked for it."""

    nodes: tuple[NodeRow, ...] = ()
    edges: tuple[EdgeRow, ...] = ()
