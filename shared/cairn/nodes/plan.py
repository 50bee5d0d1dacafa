"""What writing a batch of nodes and edges means, with its provenance. Pure; reads no store."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cairn.graph.edge import BETWEEN_ENTITIES, SYMMETRIC, Relation, View, default_view
from cairn.graph.entities import entity_id
from cairn.graph.node import Label, State
from cairn.kernel.errors import CairnError, Conflict, FieldError, NotFound, ValidationFailed
from cairn.kernel.text.canonical import format_timestamp
from cairn.nodes.draft import (
    EdgeDraft,
    NodeDraft,
    NodeOutcome,
    clean_labels,
    node_body,
    node_identity,
)
from cairn.writing.items import Outcome
from cairn.writing.task_ports import no_such_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.nodes.draft import StoredNode
    from cairn.writing.corroboration import KnownMemory
    from cairn.writing.entries import Entries


GATED = frozenset(
    {"person", "userprofile", "profile", "adminuser", "user", "organization", "organisation"}
    | {"localbusiness", "company", "customer", "contact"}
)
"""Labels, and types of entities, that are asked what they came of; compared case folded."""

MAKERS = frozenset({Label.TASK, Label.CONVERSATION, Label.MESSAGE})
"""Labels of what may have produced a node."""

WARNING = (
    "Nothing says what this came of: name the task as produced_by_task_id, or write it in the "
    "session of a conversation."
)


def sessions_of(drafts: Iterable[NodeDraft]) -> set[str]:
    """Return the sessions whose conversation is asked for: of nodes that name no maker."""
    return {draft.session_id for draft in drafts if draft.session_id and not _makers(draft)}


def placed(draft: NodeDraft, conversations: Mapping[str, UUID]) -> NodeDraft:
    """Return the draft with what produced it among its edges, where that is known."""
    conversation = conversations.get(draft.session_id or "")
    if conversation is None or _makers(draft):
        return draft
    edge = EdgeDraft(
        relation=Relation.PRODUCED,
        source_id=conversation,
        target_id=None,
        weight=1.0,
        properties={},
    )
    return replace(draft, edges=(*draft.edges, edge))


def warnings_of(draft: NodeDraft, nodes: Mapping[UUID, StoredNode]) -> tuple[str, ...]:
    """Return the warning of a person-like node that nothing produced; usually none.

    Raises NotFound when the task it names is no task.
    """
    task = nodes.get(draft.task_id) if draft.task_id else None
    if draft.task_id and (task is None or task.label != Label.TASK):
        raise no_such_task(draft.task_id)
    sorts = [draft.kind if draft.is_entity else draft.label, *draft.extra_labels]
    if GATED.isdisjoint((sort or "").casefold() for sort in sorts):
        return ()
    labels = {nodes[maker].label for maker in _makers(draft) if maker in nodes}
    return () if labels & MAKERS else (WARNING,)


def _makers(draft: NodeDraft) -> list[UUID]:
    return [
        edge.source_id
        for edge in draft.edges
        if edge.relation is Relation.PRODUCED and edge.source_id is not None
    ]


def ends_of(edges: Iterable[EdgeDraft]) -> set[UUID]:
    """Return the nodes that edges name."""
    return {end for edge in edges for end in (edge.source_id, edge.target_id) if end is not None}


def planned_edges(
    node_id: UUID, *, is_entity: bool, edges: Iterable[EdgeDraft], nodes: Mapping[UUID, StoredNode]
) -> list[dict[str, Any]]:
    """Return the edges as a ledger entry's body says them, each (view, relation, ends) once.

    `node_id` stands for the end an edge leaves open; `nodes` are those the caller may see.
    Raises NotFound for an end that is not among them, ValidationFailed for a self-loop and for
    REFERENCES to what is no entity.
    """
    entity = {id_.id for id_ in nodes.values() if id_.is_entity}
    if is_entity:
        entity.add(node_id)
    planned: dict[tuple[Any, ...], dict[str, Any]] = {}
    for edge in edges:
        source, target = edge.source_id or node_id, edge.target_id or node_id
        for end in (edge.source_id, edge.target_id):
            if end is not None and end != node_id and not _is_there(nodes, end):
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
    return edge_body(View.PROVENANCE, Relation.PRODUCED, maker_id, node_id)


def edge_body(
    view: str,
    relation: str,
    source_id: UUID,
    target_id: UUID,
    *,
    weight: float = 1.0,
    properties: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an edge that holds, as bodies say it."""
    return {
        "view": str(view),
        "relation": str(relation),
        "source": str(source_id),
        "target": str(target_id),
        "weight": weight,
        "properties": dict(properties or {}),
        "strengthens": False,
    }


def _is_there(nodes: Mapping[UUID, StoredNode], node_id: UUID) -> bool:
    node = nodes.get(node_id)
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


@dataclass(slots=True, kw_only=True)
class NodePlan:
    """Plans the nodes of one write, one after the other.

    `known` are the stored nodes of each identity, `found` the nodes that the drafts name.
    """

    entries: Entries
    known: Mapping[str, Sequence[KnownMemory]]
    found: Mapping[UUID, StoredNode]
    made: dict[str, tuple[UUID, int]] = field(default_factory=dict[str, "tuple[UUID, int]"])
    touched: dict[UUID, None] = field(default_factory=dict["UUID", None])
    labels: dict[UUID, tuple[str, ...]] = field(default_factory=dict["UUID", "tuple[str, ...]"])

    def write(self, draft: NodeDraft | CairnError) -> NodeOutcome:
        """Plan one node and say what becomes of it."""
        if isinstance(draft, CairnError):
            return NodeOutcome(outcome=Outcome.REJECTED, error=draft)
        try:
            return self._write(draft)
        except CairnError as refused:
            return NodeOutcome(outcome=Outcome.REJECTED, error=refused)

    def _write(self, draft: NodeDraft) -> NodeOutcome:
        warnings = warnings_of(draft, self.found)
        node_id, stored_at, revives = self._place(draft)
        edges = planned_edges(
            node_id, is_entity=draft.is_entity, edges=draft.edges, nodes=self.found
        )
        if stored_at is None or revives:
            position = self._append(draft, node_id, edges, revives=revives)
            self.made[self._identity(draft)] = node_id, position
            self.touched[node_id] = None
            self.labels[node_id] = draft.extra_labels
            outcome = Outcome.CREATED
        else:
            position, outcome = stored_at, Outcome.DUPLICATE
            if edges:
                position = self._relate(draft, edges)
            position = self._label(draft, node_id) or position
        return NodeOutcome(
            outcome=outcome, id=node_id, position=position, edges=len(edges), warnings=warnings
        )

    def _place(self, draft: NodeDraft) -> tuple[UUID, int | None, bool]:
        """Return the node's id, where it stands already if it does, and whether it comes back."""
        placed = self.made.get(self._identity(draft))
        if placed is not None:
            return (*placed, False)
        if draft.is_entity:
            return self._place_of_entity(draft)
        same = [item for item in self.known.get(node_identity(draft), ()) if item.active]
        return (
            (same[0].id, same[0].position, False) if same else (self.entries.new_id(), None, False)
        )

    def _place_of_entity(self, draft: NodeDraft) -> tuple[UUID, int | None, bool]:
        node_id = entity_id_of(self.entries.workspace_id, draft)
        node = self.found.get(node_id)
        if node is not None and node.superseded_by is not None:
            node = self.found.get(node.superseded_by)
        if node is None:
            return node_id, None, False
        if node.state is State.DELETED:
            return node.id, node.created_position, True
        if node.state not in (State.ACTIVE, State.PROVISIONAL):
            raise Conflict(
                f"This entity is {node.state.value}.", reason="entity-state", entity_id=str(node.id)
            )
        return node.id, node.created_position, False

    def _identity(self, draft: NodeDraft) -> str:
        if draft.is_entity:
            return str(entity_id_of(self.entries.workspace_id, draft))
        return node_identity(draft)

    def _append(
        self, draft: NodeDraft, node_id: UUID, edges: list[dict[str, Any]], *, revives: bool
    ) -> int:
        meta = {
            "node_id": str(node_id),
            "scope": draft.audience.scope,
            "valid_from": format_timestamp(draft.valid_from),
            "valid_to": format_timestamp(draft.valid_to) if draft.valid_to else None,
            "revives": revives,
        }
        return self._entry("node.written", meta, {**node_body(draft), "edges": edges}, draft)

    def _relate(self, draft: NodeDraft, edges: list[dict[str, Any]]) -> int:
        return self._entry("edge.written", {"edges": len(edges)}, {"edges": edges}, draft)

    def _label(self, draft: NodeDraft, node_id: UUID) -> int | None:
        """Plan the labels that a node which stands does not have; None when it has them all."""
        node = self.found.get(node_id)
        present = self.labels.get(node_id, node.extra_labels if node else ())
        labels = tuple(sorted({*present, *draft.extra_labels}))
        if labels == present:
            return None
        clean_labels(labels, draft.label)
        self.labels[node_id] = labels
        meta = {"node_id": str(node_id)}
        return self._entry("node.labelled", meta, {"labels": list(labels)}, draft)

    def _entry(
        self, type_: str, meta: Mapping[str, Any], body: Mapping[str, Any], draft: NodeDraft
    ) -> int:
        return self.entries.add(
            type_,
            meta,
            body,
            data_subjects=draft.audience.data_subjects,
            occurred_at=draft.occurred_at,
            session_id=draft.session_id,
            trace_id=draft.trace_id,
        )


def entity_id_of(workspace_id: UUID, draft: NodeDraft) -> UUID:
    """Return the id that follows from an entity's audience, type and name."""
    audience = draft.audience
    return entity_id(
        workspace_id, audience.scope, audience.agents, draft.kind or "", draft.name or ""
    )
