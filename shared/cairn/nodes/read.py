"""Reading nodes and entities without asking a question: one, or a page of a label or a type.

Visibility is the stores' (row level security and the agent guard). Answers are bounded: a hub's
edges are counted up to a limit and the strongest are shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.kernel.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.nodes.views import (
        EntityDetail,
        EntityFilter,
        EntityView,
        NodeFilter,
        NodeView,
    )

SHOWN_EDGES = 50
LOOKED_AT_EDGES = 10_000

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
            found = stores.node_views.node(node_id)
            if found is None:
                raise NotFound("There is no such node.", node_id=str(node_id))
            edges = stores.node_views.edges(node_id, limit=SHOWN_EDGES, most=LOOKED_AT_EDGES)
        return replace(found, edges=edges)

    def nodes(
        self, principal: Principal, where: NodeFilter, *, limit: int, after: NodeKey | None
    ) -> Sequence[NodeView]:
        """Return up to `limit` nodes of a label, newest ledger position first."""
        with self.transactions.reading(principal) as stores:
            return stores.node_views.nodes(where, limit=limit, after=after)

    def entity(self, principal: Principal, entity_id: UUID, /) -> EntityDetail:
        """Return one entity; NotFound when the principal cannot see it."""
        with self.transactions.reading(principal) as stores:
            found = stores.node_views.entity(entity_id, most=LOOKED_AT_EDGES)
        if found is None:
            raise NotFound("There is no such entity.", entity_id=str(entity_id))
        return found

    def entities(
        self, principal: Principal, where: EntityFilter, *, limit: int, after: EntityKey | None
    ) -> Sequence[EntityView]:
        """Return up to `limit` entities by name."""
        with self.transactions.reading(principal) as stores:
            return stores.node_views.entities(where, limit=limit, after=after)
