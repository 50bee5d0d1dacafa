"""Observe what agents do: the use case behind `POST /v1/events`. Not parsing of requests.

As memories are written: checked and scrubbed first, then keys, then one transaction that plans,
appends and projects; the embed stage is woken when all of it is committed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.events.draft import (
    EventDraft,
    EventOutcome,
    NewEvent,
    Observed,
    draft_event,
    event_identity,
)
from cairn.events.plan import EventPlan, Identified, identified
from cairn.events.ports import EventStores
from cairn.writing.batches import drafted, kept_outcome, read_outcome
from cairn.writing.checks import require_writer
from cairn.writing.taint_arrivals import with_quarantine
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.kernel.access import Principal
    from cairn.writing.batches import Drafted
    from cairn.writing.items import IdempotencyKey
    from cairn.writing.ports import OutboxRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Observe(Writer[EventStores]):
    """Writes events in one transaction: durable and searchable by keyword when it returns.

    An event that is refused is an outcome with its error; the others stand. Raises Denied for a
    principal that may not write, Unavailable when nothing could be written.
    """

    def __call__(
        self,
        principal: Principal,
        events: Sequence[NewEvent],
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> Observed:
        """Write up to MAX_BATCH events and return their outcomes in the same order."""
        require_writer(principal)
        batch = drafted(events, draft_event, principal, self.clock(), what="events")

        def prepared() -> Work[EventStores, Observed]:
            return Work(
                resolution=self.resolver.resolve(principal, batch.wanted),
                do=partial(_observe, batch),
                keep=_answer,
                read=_observed,
            )

        return self.write_once(principal, prepared, idempotency)


def _observe(
    drafts: Drafted[EventDraft], write: Write[EventStores]
) -> tuple[Observed, list[OutboxRow]]:
    write.register()
    batch = _identified(drafts, write)
    plan = _plan(batch, write)
    places = [(one.session, one.event) for one in batch.fresh]
    known = write.stores.events.around([(one, at) for one, at in places if one is not None])
    outcomes = plan.observe(batch, known)
    write.append()
    outcomes = tuple(with_quarantine(one, write.entries.held_back) for one in outcomes)
    return Observed(outcomes=outcomes), write.wake_embed(one.id for one in batch.fresh)


def _identified(drafts: Drafted[EventDraft], write: Write[EventStores]) -> Identified:
    items = drafts.owned(write.resolution)
    good = {event_identity(one) for one in items if isinstance(one, EventDraft)}
    return identified(items, write.stores.memories.known(good), write.entries.new_id)


def _plan(batch: Identified, write: Write[EventStores]) -> EventPlan:
    parents = {one.draft.parent_id for one in batch.fresh if one.draft.parent_id}
    visible = write.stores.events.visible(parents) if parents else frozenset[UUID]()
    return EventPlan(entries=write.entries, visible=visible)


def _answer(done: Observed) -> dict[str, Any]:
    return {
        "outcomes": [{**kept_outcome(one), "warnings": list(one.warnings)} for one in done.outcomes]
    }


def _observed(answer: Mapping[str, Any]) -> Observed:
    return Observed(
        replayed=True,
        outcomes=tuple(
            EventOutcome(**read_outcome(one), warnings=tuple(one["warnings"]))
            for one in answer["outcomes"]
        ),
    )
