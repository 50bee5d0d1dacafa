"""What one ledger entry does to the projections: rows in the order they are to be applied."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cairn.graph.alias import Alias, AliasRemoval
from cairn.graph.edge import Edge, EdgeClosure, EdgeStrength
from cairn.graph.node import Node, NodeChange
from cairn.graph.taint import TaintRow

NodeRow = Node | NodeChange
EdgeRow = Edge | EdgeClosure | EdgeStrength
AliasRow = Alias | AliasRemoval


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRemoval:
    """A document is hidden with every part it has at that position."""

    workspace_id: UUID
    document_id: UUID
    deleted_at: datetime
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """Nodes leave every projection, with their versions, edges, aliases and embeddings.

    What is not there is left alone, so a purge may be applied again. Of the `cleared` nodes only
    the compiled truth goes, of the present and of the past.
    """

    workspace_id: UUID
    node_ids: tuple[UUID, ...]
    position: int
    cleared: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """The rows of one entry. Pure output of a projector: no clock, id or index was asked for it."""

    nodes: tuple[NodeRow, ...] = ()
    edges: tuple[EdgeRow, ...] = ()
    removals: tuple[DocumentRemoval, ...] = ()
    aliases: tuple[AliasRow, ...] = ()
    purges: tuple[Purge, ...] = ()
    taints: tuple[TaintRow, ...] = ()
