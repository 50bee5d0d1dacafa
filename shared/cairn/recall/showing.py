"""Reading what is shown: the nodes, what stands beside them, what hangs on them, what may help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.recall.expand_one_hop import Related, expand
from cairn.recall.proactive import surface
from cairn.recall.records import Neighbours
from cairn.recall.results import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.recall.in_flight import Search
    from cairn.recall.ports import RecallStores
    from cairn.recall.ranking import Ranked


def shown(
    stores: RecallStores,
    search: Search,
    best: Sequence[Ranked],
    merged: Mapping[UUID, tuple[UUID, ...]],
    *,
    subscribed: frozenset[UUID],
) -> tuple[Result, ...]:
    """Read the nodes of `best` and what stands beside and hangs on them, in their order.

    A node that is gone by now, or hidden, is left out. `subscribed` are ids a subscription found.
    """
    if not best:
        return ()
    ids = [each.id for each in best]
    nodes = stores.nodes.read(ids, search.filters, subscribed=subscribed.intersection(ids))
    beside: Mapping[UUID, Neighbours] = {}
    if count := search.request.neighbours:
        beside = stores.nodes.neighbours(nodes, count, search.filters)
    related: Mapping[UUID, Related] = {}
    if search.hops and stores.related is not None:
        related = expand(stores.related, [node.id for node in nodes], search.filters)
    by_id = {node.id: node for node in nodes}
    return tuple(
        Result(
            node=node,
            scores={**each.scores, "importance_score": node.importance},
            neighbours=beside.get(node.id, Neighbours()),
            related=related.get(node.id, Related()),
            merged=merged.get(node.id, ()),
        )
        for each in best
        if (node := by_id.get(each.id)) is not None
    )


def proactive(
    stores: RecallStores,
    search: Search,
    results: Sequence[Result],
    entity_ids: Sequence[UUID],
) -> tuple[Result, ...]:
    """Return nodes nobody asked for, each with its signal, at most as many as the recipe says."""
    wanted = search.recipe.proactive
    if not wanted or stores.evidence is None:
        return ()
    found = surface(
        stores.evidence,
        results=[each.node.id for each in results],
        entity_ids=entity_ids,
        session_id=search.request.session_id,
        filters=search.filters,
        now=search.started_at,
        chosen=search.workspace.proactive_signals,
        cap=wanted,
    )
    if not found:
        return ()
    nodes = stores.nodes.read([each.node_id for each in found], search.filters)
    by_id = {node.id: node for node in nodes}
    return tuple(
        Result(
            node=node,
            scores={"relevance_score": each.score, "importance_score": node.importance},
            surfaced=each,
        )
        for each in found
        if (node := by_id.get(each.node_id)) is not None
    )
