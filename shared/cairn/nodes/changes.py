"""Change nodes that stand: what is held true of one, edges between two, and hiding one softly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.node import Label, State
from cairn.kernel.errors import FieldError, NotFound, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.nodes.draft import MAX_TRUTH_CHARS, NewEdge, draft_edge
from cairn.nodes.plan import planned_edges
from cairn.writing.append import append_and_project, principal_actor
from cairn.writing.checks import require_writer
from cairn.writing.entries import plan_entry
from cairn.writing.items import Deleted
from cairn.writing.once import replayed_answer, save_answer
from cairn.writing.ports import OutboxRow, Topic
from cairn.writing.subjects import resolve
from cairn.writing.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.nodes.draft import StoredNode
    from cairn.writing.items import IdempotencyKey
    from cairn.writing.subjects import Resolution

_DELETED_ELSEWHERE = {
    Label.MEMORY: "DELETE /v1/memories/{id}",
    Label.DOCUMENT: "DELETE /v1/documents/{id}",
    Label.SECTION: "DELETE /v1/documents/{id}",
    Label.CHUNK: "DELETE /v1/documents/{id}",
}
_KEPT = frozenset({Label.EVENT, Label.CONVERSATION, Label.MESSAGE})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRelationship:
    """An edge between two stored nodes, as the caller wrote it."""

    source_id: UUID
    target_id: UUID
    relation: str
    weight: float = 1.0
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A node or edge was changed: the ledger position of the entry that says so."""

    id: UUID
    position: int
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphWriting(Writer):
    """What every change of the graph needs around it."""

    def look(self, principal: Principal, node_ids: Sequence[UUID]) -> Mapping[UUID, StoredNode]:
        """Return the visible nodes among these, before any lock is held."""
        with self.platform.transactions.reading(principal) as stores:
            return stores.graph_nodes.find(node_ids)

    def keys(self, principal: Principal, nodes: Sequence[StoredNode]) -> Resolution:
        """Return the keys of everyone whose data the nodes are."""
        subjects = {subject for node in nodes for subject in node.data_subjects}
        return resolve(self.platform, principal, (), subjects)

    def append(
        self,
        principal: Principal,
        stores: Stores,
        resolution: Resolution,
        type_: str,
        meta: Mapping[str, JsonValue],
        body: Mapping[str, Any],
        subjects: tuple[UUID, ...],
        now: datetime,
    ) -> int:
        """Append and project one entry and return its position."""
        entry_id = self.platform.new_id()
        keys = resolution.keys_of(subjects)
        entry = plan_entry(
            id=entry_id,
            workspace_id=principal.workspace_id,
            type=type_,
            actor=principal_actor(principal),
            occurred_at=now,
            data_subjects=subjects,
            meta=meta,
            body=body,
            cipher=self.platform.cipher,
            keys=keys,
        )
        return append_and_project(stores, [entry], now)[-1].position

    def wake(
        self, principal: Principal, stores: Stores, node_id: UUID, position: int, now: datetime
    ) -> OutboxRow:
        """Let the embed stage look at a node again."""
        row = OutboxRow(
            workspace_id=principal.workspace_id,
            id=self.platform.new_id(),
            topic=Topic.EMBED,
            position=position,
            node_ids=(node_id,),
        )
        stores.outbox.add(row, now)
        return row


def subjects_of(*nodes: StoredNode) -> tuple[UUID, ...]:
    """Return whose data nodes are, sorted."""
    return tuple(sorted({subject for node in nodes for subject in node.data_subjects}))


def present(nodes: Mapping[UUID, StoredNode], node_id: UUID, what: str = "node") -> StoredNode:
    """Return a node that is neither deleted nor quarantined; NotFound otherwise."""
    node = nodes.get(node_id)
    if node is None or not node.is_present:
        raise NotFound(f"There is no such {what}.", node_id=str(node_id))
    return node


@dataclass(frozen=True, slots=True, kw_only=True)
class Relate:
    """States an edge between two nodes. Between entities it grows stronger each time."""

    writing: GraphWriting

    def __call__(
        self, principal: Principal, new: NewRelationship, *, idempotency: IdempotencyKey | None
    ) -> Changed:
        """Write the edge; one that holds already and has no strength stays as it is."""
        require_writer(principal)
        edge = draft_edge(
            NewEdge(
                relation=new.relation,
                to_id=new.target_id,
                weight=new.weight,
                properties=new.properties,
            ),
            "relationship",
        )
        ends = (new.source_id, new.target_id)
        seen = self.writing.look(principal, ends)
        resolution = self.writing.keys(principal, [present(seen, end) for end in ends])
        once = idempotency.key if idempotency else None
        with self.writing.platform.transactions.writing(principal, once=once) as stores:
            now = self.writing.platform.clock()
            answer = replayed_answer(stores, idempotency, now)
            if answer is not None:
                return Changed(id=UUID(answer["id"]), position=answer["position"], replayed=True)
            results = stores.graph_nodes.find(ends)
            source, target = (present(results, end) for end in ends)
            edges = planned_edges(
                source.id, is_entity=source.is_entity, edges=[edge], known=results
            )
            subjects = subjects_of(source, target)
            position = self.writing.append(
                principal, stores, resolution, "edge.written", {"edges": 1}, {"edges": edges},
                subjects, now,
            )  # fmt: skip
            done = Changed(id=source.id, position=position)
            if idempotency:
                kept = {"id": str(done.id), "position": position}
                save_answer(stores, idempotency, kept, now)
        return done


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileTruth:
    """Sets what is held true of a node now, in a few sentences."""

    writing: GraphWriting

    def __call__(self, principal: Principal, node_id: UUID, text: str) -> Changed:
        """Replace the node's compiled truth; NotFound when the principal cannot see the node."""
        require_writer(principal)
        truth = scrub(clean_text(text, field="text", max_chars=MAX_TRUTH_CHARS)).text
        seen = present(self.writing.look(principal, [node_id]), node_id)
        resolution = self.writing.keys(principal, [seen])
        with self.writing.platform.transactions.writing(principal) as stores:
            now = self.writing.platform.clock()
            node = present(stores.graph_nodes.find([node_id]), node_id)
            position = self.writing.append(
                principal, stores, resolution, "node.compiled", {"node_id": str(node_id)},
                {"compiled_truth": truth}, node.data_subjects, now,
            )  # fmt: skip
            row = self.writing.wake(principal, stores, node_id, position, now)
        self.writing.platform.dispatcher.send([row])
        return Changed(id=node_id, position=position)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteNode:
    """Hides a node. Memories and documents have their own deletion; events stay."""

    writing: GraphWriting

    def __call__(self, principal: Principal, node_id: UUID, /) -> Deleted:
        """Delete softly; deleting again returns the first deletion. NotFound when not visible."""
        require_writer(principal)
        with self.writing.platform.transactions.writing(principal) as stores:
            node = stores.graph_nodes.find([node_id]).get(node_id)
            if node is None or node.state is State.QUARANTINED:
                raise NotFound("There is no such node.", node_id=str(node_id))
            _require_deletable(node)
            if node.state is State.DELETED:
                return Deleted(id=node_id, position=node.position)
            now = self.writing.platform.clock()
            entry = plan_entry(
                id=self.writing.platform.new_id(),
                workspace_id=principal.workspace_id,
                type="node.deleted",
                actor=principal_actor(principal),
                occurred_at=now,
                data_subjects=node.data_subjects,
                meta={"node_id": str(node_id)},
            )
            position = append_and_project(stores, [entry], now)[-1].position
        return Deleted(id=node_id, position=position)


def _require_deletable(node: StoredNode) -> None:
    label = node.label
    if label in _KEPT:
        message = f"{label} nodes are a record of what happened and stay"
    elif label in _DELETED_ELSEWHERE:
        message = f"{label} nodes are deleted with {_DELETED_ELSEWHERE[Label(label)]}"
    else:
        return
    raise ValidationFailed(
        f"{message}.", reason="reserved-label", errors=[FieldError("node_id", message)]
    )
