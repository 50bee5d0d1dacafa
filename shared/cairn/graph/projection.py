"""What a ledger entry does to the projections, in order of application; aliases and taints."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from cairn.graph.edge import Edge, EdgeClosure, EdgeStrength
from cairn.graph.node import Node, NodeChange, State


class TaintKind(StrEnum):
    """What is not trusted any more."""

    AGENT = "agent"  # all an agent wrote; `value` is its slug
    SESSION = "session"  # all that was written in a session; `value` is its id
    SOURCE = "source"  # the documents of a source; `roots` are they
    NODE = "node"  # one node; `roots` is it


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """One taint as it is first written. `causes`: what it caused is held back too."""

    workspace_id: UUID
    id: UUID
    kind: TaintKind
    value: str | None
    roots: tuple[UUID, ...]
    causes: bool
    reason: str
    position: int
    applied_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintHold:
    """Nodes a taint holds back, by the state each is to have again.

    `revived` are predecessors that stand again, each with the held node that had replaced it.
    """

    workspace_id: UUID
    taint_id: UUID
    held: Mapping[UUID, State]
    revived: Mapping[UUID, UUID]
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintLift:
    """A taint no longer stands. What it held is kept: it says what was held."""

    workspace_id: UUID
    taint_id: UUID
    position: int
    lifted_at: datetime


TaintRow = Taint | TaintHold | TaintLift


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """One row of `entity_alias`: in this audience the alias means the entity of name and type.

    `alias` is a `name_key`. A later row for the same alias replaces an earlier one.
    """

    workspace_id: UUID
    scope: str
    agents: tuple[str, ...] | None
    alias: str
    canonical_name: str
    entity_type: str
    origin: str  # manual, merge or consolidation
    position: int

    @property
    def readers(self) -> str:
        """Return the audience's agents as the key of the row."""
        return readers_key(self.agents)


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasRemoval:
    """An alias means nothing more in its audience, unless it was set later."""

    workspace_id: UUID
    scope: str
    agents: tuple[str, ...] | None
    alias: str
    position: int

    @property
    def readers(self) -> str:
        """Return the audience's agents as the key of the row."""
        return readers_key(self.agents)


def readers_key(agents: tuple[str, ...] | None) -> str:
    """Return one text for a set of agents; `*` for everyone."""
    return "*" if agents is None else "\x1f".join(["", *sorted(set(agents))])


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
