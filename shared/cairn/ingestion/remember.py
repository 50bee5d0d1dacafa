"""Remember memories: the use case behind `POST /v1/memories`. Not parsing of requests.

Checked and scrubbed first, then keys, then one transaction that plans, appends and projects; the
embed stage is woken when all of it is committed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.access import Principal
from cairn.clock import Clock
from cairn.errors import CairnError, ValidationFailed
from cairn.ids import IdSource
from cairn.ingestion.appending import append_and_project, principal_actor
from cairn.ingestion.drafting import Owner, draft_memory, owners, require_writer
from cairn.ingestion.once import replayed_answer, save_answer
from cairn.ingestion.planning import BatchPlan, session_of
from cairn.ingestion.ports import Dispatcher, OutboxRow, Session, Topic, WriteStores
from cairn.ingestion.requests import (
    IdempotencyKey,
    MemoryOutcome,
    NewMemory,
    Outcome,
    Remembered,
)
from cairn.ingestion.subjects import Resolution, SubjectResolver, retried
from cairn.ledger.keys import BodyCipher
from cairn.memory.draft import MemoryDraft
from cairn.memory.identity import chain_key, dedup_key
from cairn.memory.neighbours import Conversation
from cairn.transaction import Transactions

MAX_BATCH = 500
EMBED_BATCH = 100

Drafted = tuple[MemoryDraft, tuple[Owner, ...]] | CairnError


@dataclass(frozen=True, slots=True, kw_only=True)
class Remember:
    """Writes memories in one transaction: durable and searchable by keyword when it returns.

    A memory that is refused is an outcome with its error; the others stand. Raises Denied for a
    principal that may not write, Unavailable when nothing could be written.
    """

    transactions: Transactions[WriteStores]
    resolver: SubjectResolver
    cipher: BodyCipher
    dispatcher: Dispatcher
    clock: Clock
    new_id: IdSource

    def __call__(
        self,
        principal: Principal,
        memories: Sequence[NewMemory],
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> Remembered:
        """Write up to MAX_BATCH memories and return their outcomes in the same order."""
        require_writer(principal)
        if not 1 <= len(memories) <= MAX_BATCH:
            raise ValidationFailed(f"A batch has 1 to {MAX_BATCH} memories, not {len(memories)}.")
        now = self.clock()
        drafted = [_drafted(one, principal, now) for one in memories]
        wanted = [owner for one in drafted if isinstance(one, tuple) for owner in one[1]]

        def attempt() -> tuple[Remembered, list[OutboxRow]]:
            resolution = self.resolver.resolve(principal, wanted)
            return self._write(principal, drafted, resolution, idempotency)

        remembered, rows = retried(attempt)
        self.dispatcher.send(rows)
        return remembered

    def _write(
        self,
        principal: Principal,
        drafted: Sequence[Drafted],
        resolution: Resolution,
        idempotency: IdempotencyKey | None,
    ) -> tuple[Remembered, list[OutboxRow]]:
        once = idempotency.key if idempotency else None
        with self.transactions.writing(principal, once=once) as stores:
            now = self.clock()
            answer = replayed_answer(stores.idempotency, idempotency, now)
            if answer is not None:
                return _remembered(answer), []
            resolution.check(stores)
            drafts = [_owned(one, resolution) for one in drafted]
            plan = self._plan(principal, stores, drafts, resolution, now)
            plan.register(resolution.new)
            outcomes = tuple(
                MemoryOutcome(outcome=Outcome.REJECTED, error=one)
                if isinstance(one, CairnError)
                else plan.remember(one)
                for one in drafts
            )
            append_and_project(stores, plan.planned, now)
            rows = self._wake_embed(principal, stores, plan, now)
            if idempotency:
                save_answer(stores.idempotency, idempotency, _answer(outcomes), now)
            return Remembered(outcomes=outcomes), rows

    def _plan(
        self,
        principal: Principal,
        stores: WriteStores,
        drafts: Sequence[MemoryDraft | CairnError],
        resolution: Resolution,
        now: datetime,
    ) -> BatchPlan:
        good = [one for one in drafts if isinstance(one, MemoryDraft)]
        places = [(key, one.valid_from) for one in good if (key := chain_key(one))]

        def seal(entry_id: UUID, subjects: tuple[UUID, ...], body: Mapping[str, Any]) -> bytes:
            keys = resolution.keys_of(subjects)
            return self.cipher.seal(entry_id, principal.workspace_id, keys, body)

        return BatchPlan(
            workspace_id=principal.workspace_id,
            actor=principal_actor(principal),
            now=now,
            next_position=stores.ledger.head().position + 1,
            new_id=self.new_id,
            seal=seal,
            known=dict(stores.memories.known({dedup_key(one) for one in good})),
            links=dict(stores.memories.links(places)) if places else {},
            conversations=_conversations(stores, good),
        )

    def _wake_embed(
        self, principal: Principal, stores: WriteStores, plan: BatchPlan, now: datetime
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


def _drafted(new: NewMemory, principal: Principal, now: datetime) -> Drafted:
    try:
        draft = draft_memory(new, principal, now)
        return draft, owners(draft.client_id, new.data_subjects)
    except CairnError as refused:
        return refused


def _owned(drafted: Drafted, resolution: Resolution) -> MemoryDraft | CairnError:
    if isinstance(drafted, CairnError):
        return drafted
    draft, wanted = drafted
    subjects = resolution.subjects_of(wanted)
    return replace(draft, audience=replace(draft.audience, data_subjects=subjects))


def _conversations(
    stores: WriteStores, drafts: Sequence[MemoryDraft]
) -> dict[Session, Conversation]:
    spans: dict[Session, tuple[int, int]] = {}
    for draft in drafts:
        session, sequence = session_of(draft), draft.sequence
        if session is not None and sequence is not None:
            first, last = spans.get(session, (sequence, sequence))
            spans[session] = (min(first, sequence), max(last, sequence))
    return {
        session: Conversation(stores.memories.messages(session, first, last))
        for session, (first, last) in spans.items()
    }


def _answer(outcomes: Sequence[MemoryOutcome]) -> dict[str, Any]:
    """Return the outcomes as they are kept for a repeat: no texts, errors by their sentence."""
    return {
        "outcomes": [
            {
                "outcome": one.outcome.value,
                "id": str(one.id) if one.id else None,
                "position": one.position,
                "superseded": [str(other) for other in one.superseded],
                "observation_count": one.observation_count,
                "warnings": list(one.warnings),
                "error": one.error.detail if one.error else None,
            }
            for one in outcomes
        ]
    }


def _remembered(answer: Mapping[str, Any]) -> Remembered:
    return Remembered(
        replayed=True,
        outcomes=tuple(
            MemoryOutcome(
                outcome=Outcome(one["outcome"]),
                id=UUID(one["id"]) if one["id"] else None,
                position=one["position"],
                superseded=tuple(UUID(other) for other in one["superseded"]),
                observation_count=one["observation_count"],
                warnings=tuple(one["warnings"]),
                error=ValidationFailed(one["error"]) if one["error"] else None,
            )
            for one in answer["outcomes"]
        ),
    )
