"""Projectors of entities: their aliases, and merging and splitting them. Pure, like the others.

Whatever had to be looked up (the edges to move) stands in the entry's body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.alias import Alias, AliasRemoval
from cairn.graph.entity_names import name_key
from cairn.graph.node import Label, Node, NodeChange, State
from cairn.graph.projection import EdgeRow, NodeRow, Projection
from cairn.kernel.text.hashes import content_hash
from cairn.nodes.rows import edge_rows
from cairn.writing.row_fields import agents_of, closures

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cairn.ledger.entry import Entry


def entity_node(
    entry: Entry,
    *,
    entity_id: UUID,
    name: str,
    type: str,
    scope: str,
    agents: tuple[str, ...] | None,
    data_subjects: tuple[UUID, ...] = (),
    occurred_at: datetime | None = None,
) -> Node:
    """Return the row of an entity that an entry is the first to name."""
    moment = occurred_at or entry.occurred_at
    return Node(
        workspace_id=entry.workspace_id,
        id=entity_id,
        label=Label.ENTITY,
        kind=type,
        text=name,
        canonical_name=name,
        content_hash=content_hash(name),
        scope=scope,
        agents=agents,
        client_id=name if type == "client" else "global",
        data_subjects=data_subjects,
        state=State.ACTIVE,
        occurred_at=moment,
        valid_from=moment,
        recorded_at=entry.recorded_at,
        entry_id=entry.id,
        position=entry.position,
    )


def alias_added(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """An entity has one more name in its audience."""
    return Projection(aliases=(_alias(entry, meta, body, body["alias"], "manual"),))


def alias_removed(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """A name means nothing more in its audience."""
    return Projection(aliases=(_alias_removal(entry, meta, body, body["alias"]),))


def merged(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """An entity and its edges become part of another; its names lead there."""
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["entity_id"]),
        position=entry.position,
        state=State.SUPERSEDED,
        superseded_by=UUID(meta["into_id"]),
        superseded_at=entry.recorded_at,
    )
    aliases = [_alias(entry, meta, body, one, "merge") for one in body["aliases"]]
    return Projection(nodes=(change,), edges=_moved(entry, body), aliases=tuple(aliases))


def unmerged(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """A merged entity stands for itself again, with the edges it had."""
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["entity_id"]),
        position=entry.position,
        revive=True,
    )
    removals = [_alias_removal(entry, meta, body, one) for one in body["aliases"]]
    return Projection(nodes=(change,), edges=_moved(entry, body), aliases=tuple(removals))


def split(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Some mentions of an entity were of another one, which may be new."""
    nodes: list[NodeRow] = []
    if body["new"]:
        nodes.append(
            entity_node(
                entry,
                entity_id=UUID(meta["to_id"]),
                name=body["name"],
                type=body["type"],
                scope=meta["scope"],
                agents=agents_of(body),
                data_subjects=entry.data_subjects,
            )
        )
    return Projection(nodes=tuple(nodes), edges=_moved(entry, body))


def _moved(entry: Entry, body: Mapping[str, Any]) -> tuple[EdgeRow, ...]:
    """Return closed edges, then those that hold instead, then those that grow."""
    return (*closures(entry, body["closed"]), *edge_rows(entry, body["edges"]))


def _alias(
    entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any], alias: str, origin: str
) -> Alias:
    return Alias(
        workspace_id=entry.workspace_id,
        scope=meta["scope"],
        agents=agents_of(body),
        alias=name_key(alias),
        canonical_name=body["name"],
        entity_type=body["type"],
        origin=origin,
        position=entry.position,
    )


def _alias_removal(
    entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any], alias: str
) -> AliasRemoval:
    return AliasRemoval(
        workspace_id=entry.workspace_id,
        scope=meta["scope"],
        agents=agents_of(body),
        alias=name_key(alias),
        position=entry.position,
    )
