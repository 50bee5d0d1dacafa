"""Which edges close and which hold instead when entities are merged, parted or split. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.graph.edge import Relation, Role, View
from cairn.graph.relations import BETWEEN_ENTITIES, SYMMETRIC
from cairn.kernel.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from uuid import UUID

    from cairn.nodes.ports import StoredEdge

MERGED_FROM = "merged_from"
"""The property of a moved edge that names the one it stands for."""

_STRONGEST_FIRST = (
    Role.ABOUT,
    Role.SUBJECT,
    Role.SOURCE,
    Role.OBJECT,
    Role.TOOL,
    Role.TARGET,
    Role.MENTIONED,
)
Place = tuple[str, str, "UUID", "UUID"]
"""View, relation, source, target: between two nodes an edge of these holds once."""


@dataclass(slots=True)
class Moves:
    """Edges to close, and edges that hold or grow after it."""

    closed: list[UUID] = field(default_factory=list["UUID"])
    edges: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def body(self) -> dict[str, Any]:
        """Return both as an entry's body says them."""
        return {"closed": [str(one) for one in self.closed], "edges": self.edges}


def merge_moves(
    merged_id: UUID,
    into_id: UUID,
    edges: Iterable[StoredEdge],
    present: Iterable[StoredEdge],
) -> Moves:
    """Return what becomes of `merged_id`'s edges; `present` are those that `into_id` has.

    Strengths add up. Of two references of one node the stronger role is kept. An edge between the
    two is dropped.
    """
    has = {_place(one): one for one in present}
    moves = Moves()
    for edge in edges:
        moves.closed.append(edge.id)
        place = _moved(edge, merged_id, into_id)
        if place is None:
            continue
        same = has.get(place)
        if is_strength(edge):
            moves.edges.append(_edge(edge, place, strengthens=True))
        elif same is None:
            moves.edges.append(_edge(edge, place))
        elif _is_stronger(edge, same):
            moves.closed.append(same.id)
            moves.edges.append(_edge(edge, place))
    return moves


def unmerge_moves(
    merged_id: UUID,
    into_id: UUID,
    closed: Iterable[StoredEdge],
    present: Iterable[StoredEdge],
) -> Moves:
    """Return what undoes a merge that closed `closed`; `present` are the edges `into_id` has now.

    What was stated of `into_id` since stays with it; strengths are taken off again.
    """
    has = {_place(one): one for one in present}
    moved = {one.properties.get(MERGED_FROM): one for one in has.values()}
    moves = Moves()
    for edge in closed:
        if merged_id not in (edge.source_id, edge.target_id):
            continue  # a weaker reference of `into_id` that gave way
        moves.edges.append(_edge(edge, _place(edge)))
        place = _moved(edge, merged_id, into_id)
        other = moved.get(str(edge.id)) or (has.get(place) if place and is_strength(edge) else None)
        if other is None:
            continue
        if is_strength(edge) and other.weight > edge.weight:
            moves.edges.append(_edge(edge, _place(other), strengthens=True, weight=-edge.weight))
        else:
            moves.closed.append(other.id)
    return moves


def split_moves(
    entity_id: UUID,
    to_id: UUID,
    mentions: Collection[UUID],
    edges: Iterable[StoredEdge],
    present: Iterable[StoredEdge],
) -> Moves:
    """Return what moves the references of `mentions` from one entity to another.

    Raises ValidationFailed for a node that does not refer to the entity.
    """
    references = {
        one.source_id: one
        for one in edges
        if one.relation == Relation.REFERENCES and one.target_id == entity_id
    }
    has = {_place(one) for one in present}
    moves = Moves()
    for node_id in mentions:
        edge = references.get(node_id)
        if edge is None:
            message = f"{node_id} does not refer to this entity"
            raise ValidationFailed(
                f"mentions: {message}.", errors=[FieldError("mentions", message)]
            )
        moves.closed.append(edge.id)
        place = (edge.view, edge.relation, node_id, to_id)
        if place not in has:
            moves.edges.append(_edge(edge, place))
    return moves


def is_strength(edge: StoredEdge) -> bool:
    """Return whether an edge's weight is a count of how often it was stated or seen."""
    return edge.view == View.ENTITY and edge.relation in BETWEEN_ENTITIES


def _place(edge: StoredEdge) -> Place:
    return edge.view, edge.relation, edge.source_id, edge.target_id


def _moved(edge: StoredEdge, merged_id: UUID, into_id: UUID) -> Place | None:
    """Return where an edge goes; None when it would lead from the entity to itself."""
    source = into_id if edge.source_id == merged_id else edge.source_id
    target = into_id if edge.target_id == merged_id else edge.target_id
    if source == target:
        return None
    if edge.relation in SYMMETRIC and source > target:
        source, target = target, source
    return edge.view, edge.relation, source, target


def _edge(
    edge: StoredEdge, place: Place, *, strengthens: bool = False, weight: float | None = None
) -> dict[str, Any]:
    view, relation, source, target = place
    stays = place == _place(edge)
    properties = {name: one for name, one in edge.properties.items() if name != MERGED_FROM}
    return {
        "view": view,
        "relation": relation,
        "source": str(source),
        "target": str(target),
        "weight": edge.weight if weight is None else weight,
        "properties": properties if stays else {**properties, MERGED_FROM: str(edge.id)},
        "strengthens": strengthens,
    }


def _is_stronger(edge: StoredEdge, other: StoredEdge) -> bool:
    if edge.relation != Relation.REFERENCES:
        return False
    return _rank(edge) < _rank(other)


def _rank(edge: StoredEdge) -> int:
    role = edge.properties.get("role")
    return _STRONGEST_FIRST.index(Role(role)) if role in set(Role) else len(_STRONGEST_FIRST)
