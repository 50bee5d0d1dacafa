"""Change nodes that stand: what is held true of one, edges between two, and hiding one softly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.node import Label, State
from cairn.kernel.errors import FieldError, NotFound, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.nodes.draft import MAX_TRUTH_CHARS, NewEdge, clean_labels, draft_edge
from cairn.nodes.plan import planned_edges
from cairn.writing.checks import require_writer
from cairn.writing.items import Deleted
from cairn.writing.once import replayed_answer, save_answer
from cairn.writing.subjects import resolve
from cairn.writing.writer import Writer, open_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from cairn.kernel.access import Principal
    from cairn.nodes.draft import StoredNode
    from cairn.writing.items import IdempotencyKey
    from cairn.writing.writer import Write

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

    def open(
        self, principal: Principal, nodes: Sequence[StoredNode], *, once: str | None = None
    ) -> AbstractContextManager[Write]:
        """Open a write under the keys of everyone whose data the nodes are."""
        subjects = {subject for node in nodes for subject in node.data_subjects}
        keys = resolve(self.platform, principal, (), subjects).keys
        return open_write(self.platform, principal, keys=keys, once=once)


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
        once = idempotency.key if idempotency else None
        nodes = [present(seen, end) for end in ends]
        with self.writing.open(principal, nodes, once=once) as write:
            stores, now = write.stores, write.now
            answer = replayed_answer(stores, idempotency, now)
            if answer is not None:
                return Changed(id=UUID(answer["id"]), position=answer["position"], replayed=True)
            results = stores.graph_nodes.find(ends)
            source, target = (present(results, end) for end in ends)
            edges = planned_edges(
                source.id, is_entity=source.is_entity, edges=[edge], nodes=results
            )
            position = write.entries.add(
                "edge.written",
                {"edges": 1},
                {"edges": edges},
                data_subjects=subjects_of(source, target),
                occurred_at=now,
            )
            done = Changed(id=source.id, position=position)
            if idempotency:
                stored_answer = {"id": str(done.id), "position": position}
                save_answer(stores, idempotency, stored_answer, now)
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
        with self.writing.open(principal, [seen]) as write:
            node = present(write.stores.graph_nodes.find([node_id]), node_id)
            position = write.entries.add(
                "node.compiled",
                {"node_id": str(node_id)},
                {"compiled_truth": truth},
                data_subjects=node.data_subjects,
                occurred_at=write.now,
            )
            write.wake_embed([node_id])
        return Changed(id=node_id, position=position)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelNode:
    """Sets what a node is beside its first label, which stays."""

    writing: GraphWriting

    def __call__(self, principal: Principal, node_id: UUID, labels: Sequence[str]) -> Changed:
        """Replace the other labels; NotFound when the principal cannot see the node."""
        require_writer(principal)
        seen = present(self.writing.look(principal, [node_id]), node_id)
        extra_labels = clean_labels(labels, seen.label)
        with self.writing.open(principal, [seen]) as write:
            node = present(write.stores.graph_nodes.find([node_id]), node_id)
            if node.extra_labels == extra_labels:
                return Changed(id=node_id, position=node.position)
            position = write.entries.add(
                "node.labelled",
                {"node_id": str(node_id)},
                {"labels": list(extra_labels)},
                data_subjects=node.data_subjects,
                occurred_at=write.now,
            )
        return Changed(id=node_id, position=position)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteNode:
    """Hides a node. Memories and documents have their own deletion; events stay."""

    writing: GraphWriting

    def __call__(self, principal: Principal, node_id: UUID, /) -> Deleted:
        """Delete softly; deleting again returns the first deletion. NotFound when not visible."""
        require_writer(principal)
        with open_write(self.writing.platform, principal) as write:
            node = write.stores.graph_nodes.find([node_id]).get(node_id)
            if node is None or node.state is State.QUARANTINED:
                raise NotFound("There is no such node.", node_id=str(node_id))
            _require_deletable(node)
            if node.state is State.DELETED:
                return Deleted(id=node_id, position=node.position)
            position = write.entries.add(
                "node.deleted",
                {"node_id": str(node_id)},
                None,
                data_subjects=node.data_subjects,
                occurred_at=write.now,
            )
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
