"""Edges a caller states between nodes it may see, checked and put as they are stored. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.graph.edge import Relation, View
from cairn.graph.relations import BETWEEN_ENTITIES, SYMMETRIC, default_view
from cairn.kernel.errors import FieldError, NotFound, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from cairn.nodes.draft import EdgeDraft
    from cairn.nodes.ports import StoredNode


def ends_of(edges: Iterable[EdgeDraft]) -> set[UUID]:
    """Return the nodes that edges name."""
    return {end for edge in edges for end in (edge.source_id, edge.target_id) if end is not None}


def planned_edges(
    node_id: UUID, *, is_entity: bool, edges: Iterable[EdgeDraft], known: Mapping[UUID, StoredNode]
) -> list[dict[str, Any]]:
    """Return the edges as a ledger entry's body says them, each (view, relation, ends) once.

    `node_id` stands for the end an edge leaves open; `known` are the nodes the caller may see.
    Raises NotFound for an end that is not among them, ValidationFailed for a self-loop and for
    REFERENCES to what is no entity.
    """
    entity = {one.id for one in known.values() if one.is_entity}
    if is_entity:
        entity.add(node_id)
    planned: dict[tuple[Any, ...], dict[str, Any]] = {}
    for edge in edges:
        source, target = edge.source_id or node_id, edge.target_id or node_id
        for end in (edge.source_id, edge.target_id):
            if end is not None and end != node_id and not _is_there(known, end):
                raise NotFound("There is no such node.", node_id=str(end))
        if source == target:
            _refuse("is from a node to itself", "self-loop")
        if edge.relation is Relation.REFERENCES and target not in entity:
            _refuse("REFERENCES leads to an entity", "references")
        body = _body(edge, source, target, entity)
        planned.setdefault((body["view"], body["relation"], body["source"], body["target"]), body)
    return list(planned.values())


def produced_edge(maker_id: UUID, node_id: UUID) -> dict[str, Any]:
    """Return the edge from a task, conversation or message to what it made, as bodies say it."""
    return {
        "view": View.PROVENANCE.value,
        "relation": Relation.PRODUCED.value,
        "source": str(maker_id),
        "target": str(node_id),
        "weight": 1.0,
        "properties": {},
        "strengthens": False,
    }


def _is_there(known: Mapping[UUID, StoredNode], node_id: UUID) -> bool:
    node = known.get(node_id)
    return node is not None and node.is_present


def _body(edge: EdgeDraft, source: UUID, target: UUID, entity: set[UUID]) -> dict[str, Any]:
    between = source in entity and target in entity
    strengthens = between and edge.relation in BETWEEN_ENTITIES
    if edge.relation in SYMMETRIC and source > target:
        source, target = target, source
    return {
        "view": default_view(edge.relation, between_entities=between).value,
        "relation": edge.relation.value,
        "source": str(source),
        "target": str(target),
        "weight": edge.weight,
        "properties": {} if strengthens else dict(edge.properties),
        "strengthens": strengthens,
    }


def _refuse(message: str, reason: str) -> None:
    raise ValidationFailed(
        f"An edge {message}.", reason=reason, errors=[FieldError("edges", message)]
    )
