"""Requests about entities, views of nodes and entities, and the use case that reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import NotFound
from cairn.nodes.properties import property_query, warnings_of

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal, Scope
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.nodes.properties import PropertyCondition


MAX_SPLIT_MENTIONS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChanged:
    """An entity was corrected: the entity that stands now, and how many edges moved."""

    id: UUID
    position: int
    moved_edges: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """What to part: a merge to undo, or named mentions that meant another entity."""

    undo: UUID | None = None
    name: str | None = None
    type: str | None = None
    mentions: tuple[UUID, ...] = ()


Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedNode:
    """The other end of an edge, told in one line."""

    id: UUID
    label: str
    kind: str | None
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeView:
    """An edge as one of its ends sees it. `direction` out leads from the node, in leads to it."""

    id: UUID
    view: str
    relation: str
    direction: str
    weight: float
    node: LinkedNode
    properties: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeCount:
    """How many edges of one view, relation and direction a node has to nodes the reader sees."""

    view: str
    relation: str
    direction: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgesView:
    """A node's edges: all of them counted, the strongest shown.

    `truncated` says that the node has more edges than are looked at, so the counts are at least
    what is told.
    """

    counts: tuple[EdgeCount, ...]
    strongest: tuple[EdgeView, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """A node of any label as its reader sees it. `position` is that of the entry that made it.

    `edges` is None in lists.
    """

    id: UUID
    position: int
    label: str
    kind: str | None
    text: str
    state: str
    client_id: str
    scope: Scope
    importance: int
    importance_band: str
    provenance: Json
    title: str | None = None
    name: str | None = None
    summary: str | None = None
    slug: str | None = None
    keywords: tuple[str, ...] = ()
    compiled_truth: str | None = None
    confidence: float = 1.0
    agents: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    supersedes: UUID | None = None
    superseded_by: UUID | None = None
    document_id: UUID | None = None
    parent_id: UUID | None = None
    backlink_count: int = 0
    access_count: int = 0
    embedded: bool = False
    metadata: Json = field(default_factory=dict[str, Any])
    edges: EdgesView | None = None
    labels: tuple[str, ...] = ()  # all of them, `label` first


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFilter:
    """Which nodes a list shows; None means any, but a list is always of a label, or of several."""

    label: str
    kind: str | None = None
    client_id: str | None = None
    labels: tuple[str, ...] = ()  # what a node must be, too

    @property
    def all_labels(self) -> tuple[str, ...]:
        """Return every label a node must have, each once."""
        return tuple(dict.fromkeys((self.label, *self.labels)))


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeMatches:
    """Nodes whose properties are as asked, and what of the question names nothing."""

    nodes: Sequence[NodeView]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityView:
    """An entity in a list. `sort_key` is its name as the list sorts it."""

    id: UUID
    position: int
    name: str
    type: str
    state: str
    scope: Scope
    sort_key: str
    agents: tuple[str, ...] = ()
    backlink_count: int = 0
    compiled_truth: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRelation:
    """How an entity relates to another one, and how strongly."""

    relation: str
    direction: str
    strength: float
    entity: LinkedNode


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityDetail:
    """An entity with what is known of it, counted over the mentions its reader may see.

    `mention_count` and what goes with it are of at most the first 10,000 references.
    """

    id: UUID
    position: int
    name: str
    type: str
    state: str
    scope: Scope
    provenance: Json
    agents: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    backlink_count: int = 0
    mention_count: int = 0
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    roles: Mapping[str, int] = field(default_factory=dict[str, int])
    relations: tuple[EntityRelation, ...] = ()
    summary: str | None = None
    compiled_truth: str | None = None
    superseded_by: UUID | None = None
    metadata: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityFilter:
    """Which entities a list shows; `q` is part of a name or of an alias, in any case."""

    q: str | None = None
    type: str | None = None


SHOWN_EDGES = 50
LOOKED_AT_EDGES = 10_000
OBSERVED_NODES = 1_000
"""Newest nodes of the labels whose properties say what types there are."""

NodeKey = tuple[int, "UUID"]
"""Where a list of nodes goes on: a ledger position and an id."""

EntityKey = tuple[str, "UUID"]
"""Where a list of entities goes on: a sort key and an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowseNodes:
    """The reads behind `GET /v1/nodes` and `GET /v1/entities`.

    A page is returned with one item more than asked for when there is a next page.
    """

    transactions: Transactions[Stores]

    def node(self, principal: Principal, node_id: UUID, /) -> NodeView:
        """Return one node with its edges; NotFound when the principal cannot see it."""
        with self.transactions.reading(principal) as stores:
            node = stores.node_views.node(node_id)
            if node is None:
                raise NotFound("There is no such node.", node_id=str(node_id))
            edges = stores.node_views.edges(node_id, limit=SHOWN_EDGES, most=LOOKED_AT_EDGES)
        return replace(node, edges=edges)

    def nodes(
        self, principal: Principal, where: NodeFilter, *, limit: int, after: NodeKey | None
    ) -> Sequence[NodeView]:
        """Return up to `limit` nodes of a label, newest ledger position first."""
        with self.transactions.reading(principal) as stores:
            return stores.node_views.nodes(where, limit=limit, after=after)

    def query(
        self,
        principal: Principal,
        where: NodeFilter,
        conditions: Sequence[PropertyCondition],
        *,
        limit: int,
        after: NodeKey | None,
    ) -> NodeMatches:
        """Return up to `limit` nodes as `nodes` does, those whose properties are as asked.

        A property that no node has is no error: the answer warns of it.
        """
        with self.transactions.reading(principal) as stores:
            views = stores.node_views
            observed = views.observed(where, most=OBSERVED_NODES)
            properties = property_query(conditions, observed)
            nodes = views.nodes(where, limit=limit, after=after, properties=properties)
        warnings = warnings_of(
            conditions,
            where.all_labels,
            observed,
            {name for node in nodes for name in node.metadata},
            whole=observed.nodes < OBSERVED_NODES,
        )
        return NodeMatches(nodes=nodes, warnings=warnings)

    def entity(self, principal: Principal, entity_id: UUID, /) -> EntityDetail:
        """Return one entity; NotFound when the principal cannot see it."""
        with self.transactions.reading(principal) as stores:
            detail = stores.node_views.entity(entity_id, most=LOOKED_AT_EDGES)
        if detail is None:
            raise NotFound("There is no such entity.", entity_id=str(entity_id))
        return detail

    def entities(
        self, principal: Principal, where: EntityFilter, *, limit: int, after: EntityKey | None
    ) -> Sequence[EntityView]:
        """Return up to `limit` entities by name."""
        with self.transactions.reading(principal) as stores:
            return stores.node_views.entities(where, limit=limit, after=after)
