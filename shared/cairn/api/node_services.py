"""What the API needs of nodes and entities: use-case callables, as in `services`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.nodes.changes import Changed, NewRelationship
    from cairn.nodes.draft import NewNode, NodesWritten
    from cairn.nodes.read import EntityKey, NodeKey
    from cairn.nodes.views import (
        EntityChanged,
        EntityDetail,
        EntityFilter,
        EntityView,
        NodeFilter,
        NodeView,
        Split,
    )
    from cairn.writing.items import Deleted, IdempotencyKey


class WriteNodes(Protocol):
    """Write nodes with their edges in one transaction.

    Outcomes are in order; a node the domain refuses is an outcome with its error, and the others
    stand. Raises Unavailable (nothing written), Denied, and what `IdempotencyKey` says.
    """

    def __call__(
        self,
        principal: Principal,
        nodes: Sequence[NewNode],
        *,
        idempotency: IdempotencyKey | None,
    ) -> NodesWritten: ...


class Relate(Protocol):
    """State an edge between two nodes; NotFound when the principal cannot see one of them."""

    def __call__(
        self, principal: Principal, new: NewRelationship, *, idempotency: IdempotencyKey | None
    ) -> Changed: ...


class CompileTruth(Protocol):
    """Replace what is held true of a node; NotFound when the principal cannot see it."""

    def __call__(self, principal: Principal, node_id: UUID, text: str) -> Changed: ...


class DeleteNode(Protocol):
    """Hide a node softly; ValidationFailed for labels with a deletion of their own or none."""

    def __call__(self, principal: Principal, node_id: UUID, /) -> Deleted: ...


class GetNode(Protocol):
    """Return one node with its edges; NotFound when the principal cannot see it."""

    def __call__(self, principal: Principal, node_id: UUID, /) -> NodeView: ...


class ListNodes(Protocol):
    """Return up to `limit` nodes of a label, newest first, those after `after` when given."""

    def __call__(
        self, principal: Principal, where: NodeFilter, *, limit: int, after: NodeKey | None
    ) -> Sequence[NodeView]: ...


class GetEntity(Protocol):
    """Return one entity; NotFound when the principal cannot see it."""

    def __call__(self, principal: Principal, entity_id: UUID, /) -> EntityDetail: ...


class ListEntities(Protocol):
    """Return up to `limit` entities by name, those after `after` when given."""

    def __call__(
        self, principal: Principal, where: EntityFilter, *, limit: int, after: EntityKey | None
    ) -> Sequence[EntityView]: ...


class Alias(Protocol):
    """Give an entity one more name, or take one away."""

    def __call__(self, principal: Principal, entity: UUID, alias: str) -> EntityChanged: ...


class Merge(Protocol):
    """Make an entity part of another one of the same audience."""

    def __call__(self, principal: Principal, entity: UUID, into: UUID) -> EntityChanged: ...


class SplitEntity(Protocol):
    """Undo a merge, or move named mentions to another entity."""

    def __call__(self, principal: Principal, entity: UUID, wanted: Split) -> EntityChanged: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeServices:
    """The use cases of nodes and the edges between them."""

    write: WriteNodes
    relate: Relate
    compile: CompileTruth
    delete: DeleteNode
    get: GetNode
    page: ListNodes


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityServices:
    """The use cases of entities."""

    get: GetEntity
    page: ListEntities
    add_alias: Alias
    remove_alias: Alias
    merge: Merge
    split: SplitEntity
