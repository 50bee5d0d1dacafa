"""Correct the entities of the graph: other names, merging two into one, and parting them again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from cairn.graph.edge import BETWEEN_ENTITIES, SYMMETRIC, Relation, Role, View
from cairn.graph.entities import entity_id
from cairn.graph.entity_names import name_key
from cairn.graph.node import State
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.nodes.changes import subjects_of
from cairn.nodes.draft import entity_name
from cairn.nodes.plan import edge_body
from cairn.nodes.views import MAX_SPLIT_MENTIONS, EntityChanged, Split
from cairn.writing.checks import require_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.nodes.changes import GraphWriting
    from cairn.nodes.draft import StoredEdge, StoredNode


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
        return {"closed": [str(item) for item in self.closed], "edges": self.edges}


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
    has = {_place(edge): edge for edge in present}
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
    has = {_place(edge): edge for edge in present}
    moved = {item.properties.get(MERGED_FROM): item for item in has.values()}
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
        edge.source_id: edge
        for edge in edges
        if edge.relation == Relation.REFERENCES and edge.target_id == entity_id
    }
    has = {_place(edge) for edge in present}
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
    properties = {name: value for name, value in edge.properties.items() if name != MERGED_FROM}
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


MAX_MOVED_EDGES = 20_000
"""Edges an entity may have to be merged or split in one entry."""

MAX_ALIASES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """An entry about `entity`; `stands` is the entity to go on with, when it is another one."""

    type: str
    entity: StoredNode
    body: Mapping[str, Any]
    meta: Mapping[str, str] = field(default_factory=dict[str, str])
    moves: Moves = field(default_factory=Moves)
    stands: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectEntities:
    """Every correction is one ledger entry; NotFound when the principal cannot see an entity."""

    writing: GraphWriting

    def add_alias(self, principal: Principal, entity: UUID, alias: str) -> EntityChanged:
        """Let a name mean this entity in its audience, whatever it meant before."""
        name = entity_name(alias, "alias")

        def plan(stores: Stores, seen: Sequence[StoredNode]) -> _Plan:
            (node,) = seen
            aliases = stores.aliases.aliases(node.scope, node.agents)
            mine = [each for each, means in aliases.items() if means == (node.name, node.kind)]
            if name_key(name) == name_key(node.name or ""):
                _refuse("alias", "is the entity's own name")
            if len(mine) >= MAX_ALIASES:
                _refuse("alias", f"would be one more than the {MAX_ALIASES} an entity may have")
            return _Plan(
                type="entity.alias_added", entity=node, body={**_entity_fields(node), "alias": name}
            )

        return self._correct(principal, [entity], plan)

    def remove_alias(self, principal: Principal, entity: UUID, alias: str) -> EntityChanged:
        """Take a name from this entity; NotFound when it has no such alias."""

        def plan(stores: Stores, seen: Sequence[StoredNode]) -> _Plan:
            (node,) = seen
            aliases = stores.aliases.aliases(node.scope, node.agents)
            if aliases.get(name_key(alias)) != (node.name, node.kind):
                raise NotFound("This entity has no such alias.", entity_id=str(entity))
            body = {**_entity_fields(node), "alias": name_key(alias)}
            return _Plan(type="entity.alias_removed", entity=node, body=body)

        return self._correct(principal, [entity], plan)

    def merge(self, principal: Principal, entity: UUID, into: UUID) -> EntityChanged:
        """Make an entity part of another of the same audience: its edges, strengths and names."""
        if entity == into:
            _refuse("into", "is the entity itself")

        def plan(stores: Stores, seen: Sequence[StoredNode]) -> _Plan:
            node, other = seen
            if (node.scope, node.agents) != (other.scope, other.agents):
                _refuse("into", "is an entity of another audience (scope and agents)")
            moves = merge_moves(entity, into, _edges(stores, entity), _edges(stores, into))
            aliases = stores.aliases.aliases(node.scope, node.agents)
            names = [each for each, means in aliases.items() if means == (node.name, node.kind)]
            body = {
                **_entity_fields(other),
                **moves.body(),
                "aliases": [name_key(node.name or ""), *names],
            }
            body["edges"] = [*body["edges"], _same_as(entity, into)]
            meta = {"into_id": str(into)}
            return _Plan(
                type="entity.merged", entity=node, body=body, meta=meta, moves=moves, stands=into
            )

        return self._correct(principal, [entity, into], plan)

    def split(self, principal: Principal, entity: UUID, new_split: Split) -> EntityChanged:
        """Undo a merge into this entity, or move named mentions to another one, new or not."""
        if new_split.undo is not None:
            return self._undo(principal, entity, new_split.undo)
        if not new_split.mentions or len(new_split.mentions) > MAX_SPLIT_MENTIONS:
            _refuse("mentions", f"are 1 to {MAX_SPLIT_MENTIONS} nodes that refer to the entity")
        name = entity_name(new_split.name, "name")

        def plan(stores: Stores, seen: Sequence[StoredNode]) -> _Plan:
            (node,) = seen
            type_ = new_split.type or node.kind or "concept"
            to_id = entity_id(principal.workspace_id, node.scope, node.agents, type_, name)
            other = stores.graph_nodes.find([to_id]).get(to_id)
            if to_id == entity or (other is not None and other.state is not State.ACTIVE):
                _refuse("name", "is of this entity, or of one that was merged or deleted")
            mentions = dict.fromkeys(new_split.mentions)
            if missing := mentions.keys() - stores.graph_nodes.find(mentions).keys():
                raise NotFound("There is no such node.", node_id=str(min(missing)))
            there = _edges(stores, to_id) if other else ()
            moves = split_moves(entity, to_id, mentions, _edges(stores, entity), there)
            body = {
                **_entity_fields(node),
                **moves.body(),
                "name": name,
                "type": type_,
                "new": not other,
            }
            meta = {"to_id": str(to_id)}
            return _Plan(
                type="entity.split", entity=node, body=body, meta=meta, moves=moves, stands=to_id
            )

        return self._correct(principal, [entity], plan)

    def _undo(self, principal: Principal, entity: UUID, merged: UUID) -> EntityChanged:
        def plan(stores: Stores, seen: Sequence[StoredNode]) -> _Plan:
            node, other = seen
            when = other.superseded_at
            if other.superseded_by != entity or when is None:
                _refuse("undo", "was not merged into this entity")
            closed = stores.graph_nodes.edges_closed_at(merged, when, limit=MAX_MOVED_EDGES)
            present = _edges(stores, entity)
            moves = unmerge_moves(merged, entity, closed, present)
            moves.closed.extend(edge.id for edge in present if _is_same_as(edge, merged))
            aliases = stores.aliases.aliases(node.scope, node.agents)
            own = name_key(other.name or "")
            names = [own] if aliases.get(own) == (node.name, node.kind) else []
            body = {**_entity_fields(node), **moves.body(), "aliases": names}
            meta = {"from_id": str(entity)}
            return _Plan(type="entity.unmerged", entity=other, body=body, meta=meta, moves=moves)

        return self._correct(principal, [entity, merged], plan, merged=merged)

    def _correct(
        self,
        principal: Principal,
        ids: Sequence[UUID],
        plan: Callable[[Stores, Sequence[StoredNode]], _Plan],
        *,
        merged: UUID | None = None,
    ) -> EntityChanged:
        """Plan under the lock, append and project. `merged` is the one that need not be active."""
        require_writer(principal)
        seen = _entities(self.writing.look(principal, ids), ids, merged)
        with self.writing.open(principal, seen) as write:
            entities = _entities(write.stores.graph_nodes.find(ids), ids, merged)
            change = plan(write.stores, entities)
            position = write.entries.add(
                change.type,
                {"entity_id": str(change.entity.id), "scope": change.entity.scope, **change.meta},
                change.body,
                data_subjects=subjects_of(*entities),
                occurred_at=write.now,
            )
        stands = change.stands or change.entity.id
        return EntityChanged(id=stands, position=position, moved_edges=len(change.moves.edges))


def _entities(
    results: Mapping[UUID, StoredNode], ids: Sequence[UUID], merged: UUID | None
) -> list[StoredNode]:
    """Return the entities in order; Conflict for one that was merged, NotFound for other nodes."""
    entities: list[StoredNode] = []
    for id_ in ids:
        node = results.get(id_)
        if node is None or not node.is_entity or not node.is_present:
            raise NotFound("There is no such entity.", entity_id=str(id_))
        if node.state is State.SUPERSEDED and id_ != merged:
            raise Conflict(
                "This entity was merged into another one.",
                reason="entity-merged",
                entity_id=str(id_),
                superseded_by=str(node.superseded_by),
            )
        entities.append(node)
    return entities


def _edges(stores: Stores, node_id: UUID) -> Sequence[StoredEdge]:
    edges = stores.graph_nodes.edges_of(node_id, limit=MAX_MOVED_EDGES + 1)
    if len(edges) > MAX_MOVED_EDGES:
        raise Conflict(
            f"This entity has more than {MAX_MOVED_EDGES} edges and cannot be moved at once.",
            reason="entity-too-large",
            entity_id=str(node_id),
        )
    return edges


def _same_as(entity_id: UUID, other_id: UUID) -> dict[str, Any]:
    """Return the edge that says two entities are one, as bodies say it."""
    return edge_body(
        View.KNOWLEDGE, Relation.SAME_AS, min(entity_id, other_id), max(entity_id, other_id)
    )


def _is_same_as(edge: StoredEdge, merged_id: UUID) -> bool:
    return edge.relation == Relation.SAME_AS and merged_id in (edge.source_id, edge.target_id)


def _entity_fields(entity: StoredNode) -> dict[str, Any]:
    """Return how a body names the entity that aliases lead to, and its audience's agents."""
    agents = entity.agents
    return {
        "name": entity.name,
        "type": entity.kind,
        "agents": list(agents) if agents is not None else None,
    }


def _refuse(field: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
