"""Write nodes of any label, and edges between nodes: the use cases behind `POST /v1/nodes`.

Checked and scrubbed first, then keys, then one transaction that plans, appends and projects. Not
memories, events and documents, which have rules of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.nodes.draft import (
    NewNode,
    NodeDraft,
    NodeOutcome,
    NodesWritten,
    draft_node,
    node_identity,
)
from cairn.nodes.plan import NodePlan, ends_of, entity_id_of, placed, sessions_of
from cairn.writing.batches import drafted, kept_outcome, read_outcome
from cairn.writing.checks import require_writer
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.errors import CairnError
    from cairn.kernel.stores import Stores
    from cairn.writing.batches import Drafted
    from cairn.writing.items import IdempotencyKey


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteNodes(Writer):
    """Writes nodes with their edges in one transaction; found by keyword when it returns.

    A node that is refused is an outcome with its error; the others stand. Raises Denied for a
    principal that may not write, Unavailable when nothing could be written.
    """

    def __call__(
        self,
        principal: Principal,
        nodes: Sequence[NewNode],
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> NodesWritten:
        """Write up to MAX_BATCH nodes and return their outcomes in the same order."""
        require_writer(principal)
        batch = drafted(nodes, draft_node, principal, self.platform.clock(), what="nodes")

        def prepared() -> Work[NodesWritten]:
            return Work(
                resolution=resolve(self.platform, principal, batch.wanted),
                do=partial(_write, batch),
                keep=_answer,
                read=_written,
            )

        return self.write_once(principal, prepared, idempotency)


def _write(batch: Drafted[NodeDraft], write: Write) -> NodesWritten:
    write.register()
    drafts = _placed(write.stores, batch.owned(write.resolution))
    plan = _plan(write, drafts)
    outcomes = tuple(plan.write(draft) for draft in drafts)
    write.append()
    write.wake_embed(plan.touched)
    return NodesWritten(outcomes=outcomes)


def _plan(write: Write, drafts: Sequence[NodeDraft | CairnError]) -> NodePlan:
    stores, workspace_id = write.stores, write.entries.workspace_id
    good = [draft for draft in drafts if isinstance(draft, NodeDraft)]
    ids = {entity_id_of(workspace_id, item) for item in good if item.is_entity}
    results = dict(stores.graph_nodes.find(ids | ends_of(e for item in good for e in item.edges)))
    results |= _present_ones(stores, results)
    stored = dict(stores.memories.known({node_identity(item) for item in good}))
    if any(item.extra_labels for item in good):
        same = {each.id for items in stored.values() for each in items}
        results |= stores.graph_nodes.find(same - results.keys())
    return NodePlan(entries=write.entries, known=stored, found=results)


def _placed(
    stores: Stores, drafts: Sequence[NodeDraft | CairnError]
) -> Sequence[NodeDraft | CairnError]:
    """Return the drafts, those of a conversation's session produced by it."""
    session_ids = sessions_of(draft for draft in drafts if isinstance(draft, NodeDraft))
    record = {item: stores.tasks.conversation(None, item) for item in session_ids}
    conversations = {name: conversation[0] for name, conversation in record.items() if conversation}
    return [
        placed(draft, conversations) if isinstance(draft, NodeDraft) else draft for draft in drafts
    ]


def _present_ones(stores: Stores, results: Mapping[UUID, Any]) -> Mapping[UUID, Any]:
    """Return what merged entities were merged into, one step; more steps are rare and refused."""
    into = {id_.superseded_by for id_ in results.values() if id_.is_entity and id_.superseded_by}
    return stores.graph_nodes.find(into - results.keys()) if into else {}


def _answer(done: NodesWritten) -> dict[str, Any]:
    return {
        "outcomes": [
            {**kept_outcome(outcome), "edges": outcome.edges, "warnings": list(outcome.warnings)}
            for outcome in done.outcomes
        ]
    }


def _written(answer: Mapping[str, Any]) -> NodesWritten:
    return NodesWritten(
        replayed=True,
        outcomes=tuple(
            NodeOutcome(
                **read_outcome(outcome),
                edges=outcome["edges"],
                warnings=tuple(outcome.get("warnings", ())),
            )
            for outcome in answer["outcomes"]
        ),
    )
