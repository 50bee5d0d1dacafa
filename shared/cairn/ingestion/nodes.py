"""Write nodes of any label, and edges between nodes: the use cases behind `POST /v1/nodes`.

Checked and scrubbed first, then keys, then one transaction that plans, appends and projects. Not
memories, events and documents, which have rules of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.errors import CairnError, ValidationFailed
from cairn.ingestion.appending import append_and_project, principal_actor
from cairn.ingestion.drafting import Owner, owners, require_writer
from cairn.ingestion.edge_planning import ends_of
from cairn.ingestion.node_draft import (
    NewNode,
    NodeDraft,
    NodeOutcome,
    NodesWritten,
    draft_node,
    node_identity,
)
from cairn.ingestion.node_planning import NodePlan, entity_id_of
from cairn.ingestion.once import replayed_answer, save_answer
from cairn.ingestion.ports import OutboxRow, Topic
from cairn.ingestion.requests import Outcome
from cairn.ingestion.subjects import retried

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cairn.access import Principal
    from cairn.clock import Clock
    from cairn.ids import IdSource
    from cairn.ingestion.node_ports import GraphStores
    from cairn.ingestion.ports import Dispatcher
    from cairn.ingestion.requests import IdempotencyKey
    from cairn.ingestion.subjects import Resolution, SubjectResolver
    from cairn.ledger.keys import BodyCipher
    from cairn.transaction import Transactions

MAX_BATCH = 500
EMBED_BATCH = 100

_Drafted = tuple[NodeDraft, tuple[Owner, ...]] | CairnError


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteNodes:
    """Writes nodes with their edges in one transaction; found by keyword when it returns.

    A node that is refused is an outcome with its error; the others stand. Raises Denied for a
    principal that may not write, Unavailable when nothing could be written.
    """

    transactions: Transactions[GraphStores]
    resolver: SubjectResolver
    cipher: BodyCipher
    dispatcher: Dispatcher
    clock: Clock
    new_id: IdSource

    def __call__(
        self,
        principal: Principal,
        nodes: Sequence[NewNode],
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> NodesWritten:
        """Write up to MAX_BATCH nodes and return their outcomes in the same order."""
        require_writer(principal)
        if not 1 <= len(nodes) <= MAX_BATCH:
            raise ValidationFailed(f"A batch has 1 to {MAX_BATCH} nodes, not {len(nodes)}.")
        now = self.clock()
        drafted = [_drafted(one, principal, now) for one in nodes]
        wanted = [owner for one in drafted if isinstance(one, tuple) for owner in one[1]]

        def attempt() -> tuple[NodesWritten, list[OutboxRow]]:
            resolution = self.resolver.resolve(principal, wanted)
            return self._write(principal, drafted, resolution, idempotency)

        done, rows = retried(attempt)
        self.dispatcher.send(rows)
        return done

    def _write(
        self,
        principal: Principal,
        drafted: Sequence[_Drafted],
        resolution: Resolution,
        idempotency: IdempotencyKey | None,
    ) -> tuple[NodesWritten, list[OutboxRow]]:
        once = idempotency.key if idempotency else None
        with self.transactions.writing(principal, once=once) as stores:
            now = self.clock()
            answer = replayed_answer(stores.idempotency, idempotency, now)
            if answer is not None:
                return _written(answer), []
            resolution.check(stores)
            drafts = [_owned(one, resolution) for one in drafted]
            plan = self._plan(principal, stores, drafts, resolution, now)
            plan.register(resolution.new)
            outcomes = tuple(plan.write(one) for one in drafts)
            append_and_project(stores, plan.planned, now)
            rows = self._wake_embed(principal, stores, plan, now)
            if idempotency:
                save_answer(stores.idempotency, idempotency, _answer(outcomes), now)
            return NodesWritten(outcomes=outcomes), rows

    def _plan(
        self,
        principal: Principal,
        stores: GraphStores,
        drafts: Sequence[NodeDraft | CairnError],
        resolution: Resolution,
        now: datetime,
    ) -> NodePlan:
        good = [one for one in drafts if isinstance(one, NodeDraft)]
        ids = {entity_id_of(principal.workspace_id, one) for one in good if one.is_entity}
        found = dict(stores.graph_nodes.find(ids | ends_of(e for one in good for e in one.edges)))
        found |= _present_ones(stores, found)

        def seal(entry_id: UUID, subjects: tuple[UUID, ...], body: Mapping[str, Any]) -> bytes:
            keys = resolution.keys_of(subjects)
            return self.cipher.seal(entry_id, principal.workspace_id, keys, body)

        return NodePlan(
            workspace_id=principal.workspace_id,
            actor=principal_actor(principal),
            now=now,
            next_position=stores.ledger.head().position + 1,
            new_id=self.new_id,
            seal=seal,
            known=dict(stores.memories.known({node_identity(one) for one in good})),
            found=found,
        )

    def _wake_embed(
        self, principal: Principal, stores: GraphStores, plan: NodePlan, now: datetime
    ) -> list[OutboxRow]:
        position = plan.next_position + len(plan.planned) - 1
        touched = tuple(plan.touched)
        rows = [
            OutboxRow(
                workspace_id=principal.workspace_id,
                id=self.new_id(),
                topic=Topic.EMBED,
                position=position,
                node_ids=touched[start : start + EMBED_BATCH],
            )
            for start in range(0, len(touched), EMBED_BATCH)
        ]
        for row in rows:
            stores.outbox.add(row, now)
        return rows


def _present_ones(stores: GraphStores, found: Mapping[UUID, Any]) -> Mapping[UUID, Any]:
    """Return what merged entities were merged into, one step; more steps are rare and refused."""
    into = {one.superseded_by for one in found.values() if one.is_entity and one.superseded_by}
    return stores.graph_nodes.find(into - found.keys()) if into else {}


def _drafted(new: NewNode, principal: Principal, now: datetime) -> _Drafted:
    try:
        draft = draft_node(new, principal, now)
        return draft, owners(draft.client_id, new.data_subjects)
    except CairnError as refused:
        return refused


def _owned(drafted: _Drafted, resolution: Resolution) -> NodeDraft | CairnError:
    if isinstance(drafted, CairnError):
        return drafted
    draft, wanted = drafted
    subjects = resolution.subjects_of(wanted)
    return replace(draft, audience=replace(draft.audience, data_subjects=subjects))


def _answer(outcomes: Sequence[NodeOutcome]) -> dict[str, Any]:
    """Return the outcomes as they are kept for a repeat: no texts, errors by their sentence."""
    return {
        "outcomes": [
            {
                "outcome": one.outcome.value,
                "id": str(one.id) if one.id else None,
                "position": one.position,
                "edges": one.edges,
                "error": one.error.detail if one.error else None,
            }
            for one in outcomes
        ]
    }


def _written(answer: Mapping[str, Any]) -> NodesWritten:
    return NodesWritten(
        replayed=True,
        outcomes=tuple(
            NodeOutcome(
                outcome=Outcome(one["outcome"]),
                id=UUID(one["id"]) if one["id"] else None,
                position=one["position"],
                edges=one["edges"],
                error=ValidationFailed(one["error"]) if one["error"] else None,
            )
            for one in answer["outcomes"]
        ),
    )
