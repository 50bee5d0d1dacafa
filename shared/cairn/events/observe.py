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
from cairn.events.rows import UNNUMBERED, Insertion, Timeline, TimelineEvent, event_body, event_meta
from cairn.kernel.errors import CairnError, FieldError, ValidationFailed
from cairn.memories.identity import Session
from cairn.writing.batches import drafted, kept_outcome, read_outcome
from cairn.writing.checks import require_writer
from cairn.writing.items import Outcome
from cairn.writing.subjects import resolve
from cairn.writing.taint_arrivals import with_quarantine
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.kernel.access import Principal
    from cairn.kernel.ids import IdSource
    from cairn.writing.batches import Drafted
    from cairn.writing.corroboration import KnownMemory
    from cairn.writing.entries import Entries
    from cairn.writing.items import IdempotencyKey


UNKNOWN_PARENT = "parent_id names nothing that this key may see: no CAUSED_BY edge was made."

DraftOrError = EventDraft | CairnError


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """An event of the batch that is new, with the id it gets."""

    id: UUID
    draft: EventDraft

    @property
    def session(self) -> Session | None:
        """Return the session it belongs to, None without one."""
        if self.draft.session_id is None:
            return None
        return Session(session_id=self.draft.session_id, audience=self.draft.audience)

    @property
    def event(self) -> TimelineEvent:
        """Return its place in its session."""
        sequence = self.draft.sequence
        return TimelineEvent(
            id=self.id,
            occurred_at=self.draft.occurred_at,
            sequence=UNNUMBERED if sequence is None else sequence,
        )


@dataclass(slots=True, kw_only=True)
class Identified:
    """A batch whose items have their ids: those of stored events for duplicates, new ones else."""

    items: list[Fresh | KnownMemory | CairnError]

    @property
    def fresh(self) -> list[Fresh]:
        """Return the new events in order, each once."""
        return list({item.id: item for item in self.items if isinstance(item, Fresh)}.values())

    def id_of(self, index: int) -> UUID | None:
        """Return the id an item has, None for a refused one."""
        item = self.items[index]
        return None if isinstance(item, CairnError) else item.id


def identified(
    drafts: Sequence[DraftOrError],
    stored_events: Mapping[str, Sequence[KnownMemory]],
    new_id: IdSource,
) -> Identified:
    """Give each event its id. The same event twice in a batch is one, written once."""
    seen: dict[str, Fresh] = {}
    items: list[Fresh | KnownMemory | CairnError] = []
    for at, draft in enumerate(drafts):
        if isinstance(draft, CairnError):
            items.append(draft)
        elif draft.parent_item is not None and not 0 <= draft.parent_item < at:
            items.append(_bad_parent_item())
        elif stored := stored_events.get(event_identity(draft)):
            items.append(stored[0])
        else:
            fresh = Fresh(id=new_id(), draft=draft)
            items.append(seen.setdefault(event_identity(draft), fresh))
    return Identified(items=items)


def _bad_parent_item() -> ValidationFailed:
    message = "must be the place, from 0, of an earlier event of the same batch"
    return ValidationFailed(f"parent_item {message}.", errors=[FieldError("parent_item", message)])


@dataclass(slots=True, kw_only=True)
class EventPlan:
    """Plans the events of one write. `visible` are the nodes its caller may name as causes."""

    entries: Entries
    visible: frozenset[UUID]

    def observe(
        self, batch: Identified, stored: Mapping[Session, Sequence[TimelineEvent]]
    ) -> tuple[EventOutcome, ...]:
        """Plan the new events in the order they happened; outcomes are in the caller's order."""
        timelines = _timelines(batch.fresh, stored)
        positions: dict[UUID, int] = {}
        for each in sorted(batch.fresh, key=lambda fresh: fresh.event.place):
            session = each.session
            insertion = timelines[session].insert(each.event) if session else Insertion()
            positions[each.id] = self._append(each, insertion, self._cause(batch, each))
        created: set[UUID] = set()
        return tuple(self._outcome(batch, item, positions, created) for item in batch.items)

    def _cause(self, batch: Identified, fresh: Fresh) -> UUID | None:
        """Return the node that caused an event, if the caller may name it and it is another."""
        draft = fresh.draft
        if draft.parent_item is not None:
            cause = batch.id_of(draft.parent_item)
        else:
            cause = draft.parent_id if draft.parent_id in self.visible else None
        return None if cause == fresh.id else cause

    def _outcome(
        self,
        batch: Identified,
        item: Fresh | KnownMemory | CairnError,
        positions: Mapping[UUID, int],
        created: set[UUID],
    ) -> EventOutcome:
        if isinstance(item, CairnError):
            return EventOutcome(outcome=Outcome.REJECTED, error=item)
        if not isinstance(item, Fresh):
            return EventOutcome(outcome=Outcome.DUPLICATE, id=item.id, position=item.position)
        outcome = Outcome.DUPLICATE if item.id in created else Outcome.CREATED
        created.add(item.id)
        draft = item.draft
        has_parent = draft.parent_id is not None or draft.parent_item is not None
        warnings = draft.warnings()
        if has_parent and self._cause(batch, item) is None:
            warnings = (*warnings, UNKNOWN_PARENT)
        return EventOutcome(
            outcome=outcome, id=item.id, position=positions[item.id], warnings=warnings
        )

    def _append(self, fresh: Fresh, insertion: Insertion, cause: UUID | None) -> int:
        draft = fresh.draft
        return self.entries.add(
            "event.observed",
            event_meta(fresh.id, draft, insertion, cause),
            event_body(draft),
            data_subjects=draft.audience.data_subjects,
            occurred_at=draft.occurred_at,
            session_id=draft.session_id,
            trace_id=draft.trace_id,
            parent_id=cause or draft.parent_id,
        )


def _timelines(
    fresh: Sequence[Fresh], stored: Mapping[Session, Sequence[TimelineEvent]]
) -> dict[Session, Timeline]:
    new: dict[Session, list[TimelineEvent]] = {}
    for item in fresh:
        if item.session is not None:
            new.setdefault(item.session, []).append(item.event)
    return {session: Timeline(stored.get(session, ()), events) for session, events in new.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Observe(Writer):
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
        batch = drafted(events, draft_event, principal, self.platform.clock(), what="events")

        def prepared() -> Work[Observed]:
            return Work(
                resolution=resolve(self.platform, principal, batch.wanted),
                do=partial(_observe, batch),
                keep=_answer,
                read=_observed,
            )

        return self.write_once(principal, prepared, idempotency)


def _observe(drafts: Drafted[EventDraft], write: Write) -> Observed:
    write.register()
    batch = _identified(drafts, write)
    plan = _plan(batch, write)
    places = [(item.session, item.event) for item in batch.fresh]
    neighbours = write.stores.events.around(
        [(session, at) for session, at in places if session is not None]
    )
    outcomes = plan.observe(batch, neighbours)
    write.append()
    outcomes = tuple(with_quarantine(outcome, write.entries.held_back) for outcome in outcomes)
    write.wake_embed(item.id for item in batch.fresh)
    return Observed(outcomes=outcomes)


def _identified(drafts: Drafted[EventDraft], write: Write) -> Identified:
    items = drafts.owned(write.resolution)
    good = {event_identity(item) for item in items if isinstance(item, EventDraft)}
    return identified(items, write.stores.memories.known(good), write.entries.new_id)


def _plan(batch: Identified, write: Write) -> EventPlan:
    parents = {item.draft.parent_id for item in batch.fresh if item.draft.parent_id}
    visible = write.stores.events.visible(parents) if parents else frozenset[UUID]()
    return EventPlan(entries=write.entries, visible=visible)


def _answer(done: Observed) -> dict[str, Any]:
    return {
        "outcomes": [
            {**kept_outcome(outcome), "warnings": list(outcome.warnings)}
            for outcome in done.outcomes
        ]
    }


def _observed(answer: Mapping[str, Any]) -> Observed:
    return Observed(
        replayed=True,
        outcomes=tuple(
            EventOutcome(**read_outcome(outcome), warnings=tuple(outcome["warnings"]))
            for outcome in answer["outcomes"]
        ),
    )
