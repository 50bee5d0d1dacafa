"""Observe what agents do: the use case behind `POST /v1/events`. Not parsing of requests.

As memories are written: checked and scrubbed first, then keys, then one transaction that plans,
appends and projects; the embed stage is woken when all of it is committed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.errors import CairnError, ValidationFailed
from cairn.ingestion.appending import append_and_project, principal_actor
from cairn.ingestion.drafting import Owner, owners, require_writer
from cairn.ingestion.event_draft import (
    EventDraft,
    EventOutcome,
    NewEvent,
    Observed,
    draft_event,
    event_identity,
)
from cairn.ingestion.event_planning import EventPlan, Identified, identified
from cairn.ingestion.once import replayed_answer, save_answer
from cairn.ingestion.ports import OutboxRow, Topic
from cairn.ingestion.requests import IdempotencyKey, Outcome
from cairn.ingestion.subjects import retried

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cairn.access import Principal
    from cairn.clock import Clock
    from cairn.ids import IdSource
    from cairn.ingestion.event_ports import EventStores
    from cairn.ingestion.ports import Dispatcher
    from cairn.ingestion.subjects import Resolution, SubjectResolver
    from cairn.ledger.keys import BodyCipher
    from cairn.transaction import Transactions

MAX_BATCH = 500
EMBED_BATCH = 100

_Drafted = tuple[EventDraft, tuple[Owner, ...]] | CairnError


@dataclass(frozen=True, slots=True, kw_only=True)
class Observe:
    """Writes events in one transaction: durable and searchable by keyword when it returns.

    An event that is refused is an outcome with its error; the others stand. Raises Denied for a
    principal that may not write, Unavailable when nothing could be written.
    """

    transactions: Transactions[EventStores]
    resolver: SubjectResolver
    cipher: BodyCipher
    dispatcher: Dispatcher
    clock: Clock
    new_id: IdSource

    def __call__(
        self,
        principal: Principal,
        events: Sequence[NewEvent],
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> Observed:
        """Write up to MAX_BATCH events and return their outcomes in the same order."""
        require_writer(principal)
        if not 1 <= len(events) <= MAX_BATCH:
            raise ValidationFailed(f"A batch has 1 to {MAX_BATCH} events, not {len(events)}.")
        now = self.clock()
        drafted = [_drafted(one, principal, now) for one in events]
        wanted = [owner for one in drafted if isinstance(one, tuple) for owner in one[1]]

        def attempt() -> tuple[Observed, list[OutboxRow]]:
            resolution = self.resolver.resolve(principal, wanted)
            return self._write(principal, drafted, resolution, idempotency)

        observed, rows = retried(attempt)
        self.dispatcher.send(rows)
        return observed

    def _write(
        self,
        principal: Principal,
        drafted: Sequence[_Drafted],
        resolution: Resolution,
        idempotency: IdempotencyKey | None,
    ) -> tuple[Observed, list[OutboxRow]]:
        once = idempotency.key if idempotency else None
        with self.transactions.writing(principal, once=once) as stores:
            now = self.clock()
            answer = replayed_answer(stores.idempotency, idempotency, now)
            if answer is not None:
                return _observed(answer), []
            resolution.check(stores)
            batch = self._identified(stores, [_owned(one, resolution) for one in drafted])
            plan = self._plan(principal, stores, batch, resolution, now)
            plan.register(resolution.new)
            places = [(one.session, one.event) for one in batch.fresh]
            known = stores.events.around([(one, at) for one, at in places if one is not None])
            outcomes = plan.observe(batch, known)
            append_and_project(stores, plan.planned, now)
            rows = self._wake_embed(principal, stores, plan, batch, now)
            if idempotency:
                save_answer(stores.idempotency, idempotency, _answer(outcomes), now)
            return Observed(outcomes=outcomes), rows

    def _identified(
        self, stores: EventStores, drafts: Sequence[EventDraft | CairnError]
    ) -> Identified:
        good = {event_identity(one) for one in drafts if isinstance(one, EventDraft)}
        return identified(drafts, stores.memories.known(good), self.new_id)

    def _plan(
        self,
        principal: Principal,
        stores: EventStores,
        batch: Identified,
        resolution: Resolution,
        now: datetime,
    ) -> EventPlan:
        parents = {one.draft.parent_id for one in batch.fresh if one.draft.parent_id}

        def seal(entry_id: UUID, subjects: tuple[UUID, ...], body: Mapping[str, Any]) -> bytes:
            keys = resolution.keys_of(subjects)
            return self.cipher.seal(entry_id, principal.workspace_id, keys, body)

        return EventPlan(
            workspace_id=principal.workspace_id,
            actor=principal_actor(principal),
            now=now,
            next_position=stores.ledger.head().position + 1,
            new_id=self.new_id,
            seal=seal,
            visible=stores.events.visible(parents) if parents else frozenset(),
        )

    def _wake_embed(
        self,
        principal: Principal,
        stores: EventStores,
        plan: EventPlan,
        batch: Identified,
        now: datetime,
    ) -> list[OutboxRow]:
        position = plan.next_position + len(plan.planned) - 1
        touched = [one.id for one in batch.fresh]
        rows = [
            OutboxRow(
                workspace_id=principal.workspace_id,
                id=self.new_id(),
                topic=Topic.EMBED,
                position=position,
                node_ids=tuple(touched[start : start + EMBED_BATCH]),
            )
            for start in range(0, len(touched), EMBED_BATCH)
        ]
        for row in rows:
            stores.outbox.add(row, now)
        return rows


def _drafted(new: NewEvent, principal: Principal, now: datetime) -> _Drafted:
    try:
        draft = draft_event(new, principal, now)
        return draft, owners(draft.client_id, new.data_subjects)
    except CairnError as refused:
        return refused


def _owned(drafted: _Drafted, resolution: Resolution) -> EventDraft | CairnError:
    if isinstance(drafted, CairnError):
        return drafted
    draft, wanted = drafted
    subjects = resolution.subjects_of(wanted)
    return replace(draft, audience=replace(draft.audience, data_subjects=subjects))


def _answer(outcomes: Sequence[EventOutcome]) -> dict[str, Any]:
    """Return the outcomes as they are kept for a repeat: no texts, errors by their sentence."""
    return {
        "outcomes": [
            {
                "outcome": one.outcome.value,
                "id": str(one.id) if one.id else None,
                "position": one.position,
                "warnings": list(one.warnings),
                "error": one.error.detail if one.error else None,
            }
            for one in outcomes
        ]
    }


def _observed(answer: Mapping[str, Any]) -> Observed:
    return Observed(
        replayed=True,
        outcomes=tuple(
            EventOutcome(
                outcome=Outcome(one["outcome"]),
                id=UUID(one["id"]) if one["id"] else None,
                position=one["position"],
                warnings=tuple(one["warnings"]),
                error=ValidationFailed(one["error"]) if one["error"] else None,
            )
            for one in answer["outcomes"]
        ),
    )
