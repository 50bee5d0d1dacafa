"""Taking nodes out of every table in memory, as `storage.postgres.purging` does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.graph.node import Label
from cairn.ingestion.ports import Topic

if TYPE_CHECKING:
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.graph.projection import Purge


def apply_purge(tables: Tables, purge: Purge) -> None:
    """Remove the nodes with everything that hangs on them; what is not there is left alone."""
    ids = set(purge.node_ids)
    _drop_aliases(tables, purge)
    for one in ids:
        tables.nodes.pop(one, None)
        tables.created.pop(one, None)
        tables.versions.pop(one, None)
        tables.purged[one] = max(purge.position, tables.purged.get(one, 0))
    for edge in list(tables.edges.values()):
        if ids & {edge.source_id, edge.target_id}:
            del tables.edges[edge.id]
    for edge, _ in list(tables.closed_edges.values()):
        if ids & {edge.source_id, edge.target_id}:
            del tables.closed_edges[edge.id]
    for node_id, model_id in list(tables.embeddings):
        if node_id in ids:
            del tables.embeddings[node_id, model_id]
    _drop_work(tables, purge)
    for one in purge.cleared:
        _clear_truth(tables, one, purge.position)


def _clear_truth(tables: Tables, node_id: UUID, position: int) -> None:
    node = tables.nodes.get(node_id)
    if node is not None and node.compiled_truth is not None:
        changed = max(node.position, position)
        tables.nodes[node_id] = replace(node, compiled_truth=None, position=changed)
    tables.versions[node_id] = tuple(
        replace(one, node=replace(one.node, compiled_truth=None))
        for one in tables.versions.get(node_id, ())
    )


def _drop_aliases(tables: Tables, purge: Purge) -> None:
    entities = {
        ((one.canonical_name or "").lower(), one.kind, one.scope, one.agents)
        for node_id in purge.node_ids
        if (one := tables.nodes.get(node_id)) and one.label == Label.ENTITY
    }
    for key, alias in list(tables.aliases.items()):
        of = (alias.canonical_name.lower(), alias.entity_type, alias.scope, alias.agents)
        if of in entities:
            del tables.aliases[key]


def _drop_work(tables: Tables, purge: Purge) -> None:
    for row in list(tables.outbox.values()):
        if row.topic != Topic.EMBED or row.reference or not set(row.node_ids) & set(purge.node_ids):
            continue
        left = tuple(one for one in row.node_ids if one not in purge.node_ids)
        if left:
            tables.outbox[row.id] = replace(row, node_ids=left)
        else:
            del tables.outbox[row.id]
