"""What writing a batch of nodes means, decided in order and in memory. Pure; no store is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.graph.entities import entity_id
from cairn.graph.node import State
from cairn.kernel.errors import CairnError, Conflict
from cairn.kernel.text.canonical import format_timestamp
from cairn.nodes.draft import NodeDraft, NodeOutcome, node_body, node_identity
from cairn.nodes.edges import planned_edges
from cairn.nodes.provenance import warnings_of
from cairn.writing.items import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.nodes.ports import StoredNode
    from cairn.writing.corroboration import Known
    from cairn.writing.entries import Entries


@dataclass(slots=True, kw_only=True)
class NodePlan:
    """Plans the nodes of one write, one after the other.

    `known` are the stored nodes of each identity, `found` the nodes that the drafts name.
    """

    entries: Entries
    known: Mapping[str, Sequence[Known]]
    found: Mapping[UUID, StoredNode]
    made: dict[str, tuple[UUID, int]] = field(default_factory=dict[str, "tuple[UUID, int]"])
    touched: dict[UUID, None] = field(default_factory=dict["UUID", None])

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
            node_id, is_entity=draft.is_entity, edges=draft.edges, known=self.found
        )
        if stored_at is None or revives:
            position = self._append(draft, node_id, edges, revives=revives)
            self.made[self._identity(draft)] = node_id, position
            self.touched[node_id] = None
            outcome = Outcome.CREATED
        else:
            position, outcome = stored_at, Outcome.DUPLICATE
            if edges:
                position = self._relate(draft, edges)
        return NodeOutcome(
            outcome=outcome, id=node_id, position=position, edges=len(edges), warnings=warnings
        )

    def _place(self, draft: NodeDraft) -> tuple[UUID, int | None, bool]:
        """Return the node's id, where it stands already if it does, and whether it comes back."""
        made = self.made.get(self._identity(draft))
        if made is not None:
            return (*made, False)
        if draft.is_entity:
            return self._place_of_entity(draft)
        same = [one for one in self.known.get(node_identity(draft), ()) if one.active]
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
