"""What rows take from their entry, whatever its type: when, where, whose, for whom. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict
from uuid import UUID

from cairn.graph.edge import EdgeClosure
from cairn.graph.node import NodeChange, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from cairn.ledger.entry import Entry


class NodeFields(TypedDict):
    """The fields of a new node that follow from its entry and its audience."""

    workspace_id: UUID
    scope: str
    agents: tuple[str, ...] | None
    client_id: str
    data_subjects: tuple[UUID, ...]
    source_agent: str | None
    state: State
    occurred_at: datetime
    valid_from: datetime
    recorded_at: datetime
    entry_id: UUID
    position: int


class OriginFields(TypedDict):
    """The session and the trace that a node came of."""

    session_id: str | None
    trace_id: str | None


class EdgeFields(TypedDict):
    """The fields of a new edge that follow from its entry."""

    workspace_id: UUID
    valid_from: datetime
    recorded_at: datetime
    position: int


def node_fields(
    entry: Entry,
    meta: Mapping[str, Any],
    body: Mapping[str, Any],
    *,
    state: State = State.ACTIVE,
    valid_from: datetime | None = None,
) -> NodeFields:
    """Return them: the scope stands in the meta; agents, client and source agent in the body.

    A node is valid from when its entry occurred, unless told otherwise.
    """
    return {
        "workspace_id": entry.workspace_id,
        "scope": meta["scope"],
        "agents": agents_of(body),
        "client_id": body["client_id"],
        "data_subjects": entry.data_subjects,
        "source_agent": body["source_agent"],
        "state": state,
        "occurred_at": entry.occurred_at,
        "valid_from": valid_from or entry.occurred_at,
        "recorded_at": entry.recorded_at,
        "entry_id": entry.id,
        "position": entry.position,
    }


def origin_fields(entry: Entry, body: Mapping[str, Any]) -> OriginFields:
    """Return them: random ids stand in the header, as all did once, other names in the body."""
    return {
        "session_id": body.get("session_id", entry.session_id),
        "trace_id": body.get("trace_id", entry.trace_id),
    }


def edge_fields(entry: Entry, *, valid_from: datetime | None = None) -> EdgeFields:
    """Return them; an edge holds from when its entry occurred unless told otherwise."""
    return {
        "workspace_id": entry.workspace_id,
        "valid_from": valid_from or entry.occurred_at,
        "recorded_at": entry.recorded_at,
        "position": entry.position,
    }


def agents_of(body: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the agents that something is tagged for; None means all."""
    agents = body["agents"]
    return tuple(agents) if agents is not None else None


def closures(entry: Entry, edge_ids: Iterable[str]) -> list[EdgeClosure]:
    """Return the closing of edges by this entry."""
    return [
        EdgeClosure(
            workspace_id=entry.workspace_id,
            id=UUID(id_),
            superseded_at=entry.recorded_at,
            position=entry.position,
        )
        for id_ in edge_ids
    ]


def deletions(entry: Entry, node_ids: Iterable[str]) -> list[NodeChange]:
    """Return the soft deletion of nodes by this entry."""
    return [
        NodeChange(
            workspace_id=entry.workspace_id,
            id=UUID(id_),
            position=entry.position,
            state=State.DELETED,
            deleted_at=entry.recorded_at,
        )
        for id_ in node_ids
    ]
