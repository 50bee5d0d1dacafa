"""What the world is told of a write: webhook events made of ledger entries. Not their delivery.

An event carries ids, kinds and counts, never texts: who receives it reads the rest under a key of
its own, and forgetting leaves nothing behind in a queue or in somebody's log.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cairn.writing.ports import OutboxRow, Topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.ledger.entry import Entry


class WebhookEvent(StrEnum):
    """What a webhook may be told of."""

    MEMORY_SUPERSEDED = "memory_superseded"  # a newer or a merged memory replaced others
    CONTRADICTION_FLAGGED = "contradiction_flagged"  # two memories cannot both hold
    CONSOLIDATION_DONE = "consolidation_done"  # a run ended, well or not
    WORKFLOW_NOTICE = "workflow_notice"  # a step of a workflow has something to tell
    CHAT_HAND_OFF = "chat_hand_off"  # a chat waits for a person, has one, or ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One event on its way to one webhook; its id is the same over all tries."""

    id: UUID
    webhook_id: UUID
    event: WebhookEvent
    entry_id: UUID
    position: int
    occurred_at: datetime
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One event of one entry; `data` is what its receiver is told."""

    event: WebhookEvent
    data: Mapping[str, Any]


def happenings(entry: Entry) -> tuple[Happening, ...]:
    """Return the events of an entry; most have none."""
    read = _READERS.get(entry.type)
    return read(entry.meta) if read else ()


def announce(
    stores: Stores, entries: Iterable[Entry], now: datetime, new_id: IdSource
) -> list[OutboxRow]:
    """Keep a delivery for each event and webhook, in the transaction; return what to send after it.

    Entries without an event, which are nearly all, cost nothing.
    """
    happened = [(entry, happening) for entry in entries for happening in happenings(entry)]
    if not happened:
        return []
    subscribed = stores.webhooks.subscribed({happening.event for _, happening in happened})
    deliveries = [
        Delivery(
            id=new_id(),
            webhook_id=webhook_id,
            event=happening.event,
            entry_id=entry.id,
            position=entry.position,
            occurred_at=entry.recorded_at,
            data=happening.data,
        )
        for entry, happening in happened
        for webhook_id, event in subscribed
        if event is happening.event
    ]
    if not deliveries:
        return []
    stores.webhooks.deliver(deliveries, now)
    workspace_id = happened[0][0].workspace_id
    rows = [
        OutboxRow(
            workspace_id=workspace_id,
            id=delivery.id,
            topic=Topic.WEBHOOK,
            position=delivery.position,
        )
        for delivery in deliveries
    ]
    for row in rows:
        stores.outbox.add(row, now)
    return rows


def _remembered(meta: Mapping[str, Any]) -> tuple[Happening, ...]:
    if not meta["replaces"]:
        return ()
    return (_superseded([(meta["supersedes"], meta["node_id"])]),)


def _replaced(meta: Mapping[str, Any]) -> tuple[Happening, ...]:
    pairs = [(source, meta["node_id"]) for source, _ in meta["sources"]]
    return (_superseded(pairs),) if pairs else ()


def _consolidated(meta: Mapping[str, Any]) -> tuple[Happening, ...]:
    pairs = [(source, item["node_id"]) for item in meta["added"] for source in item["sources"]]
    results = [_superseded(pairs)] if pairs else []
    if meta["flagged"]:
        clashes = [
            {"event_id": item["node_id"], "between": [item["one"], item["other"]]}
            for item in meta["flagged"]
        ]
        data = {"run_id": meta["run_id"], "contradictions": clashes}
        results.append(Happening(event=WebhookEvent.CONTRADICTION_FLAGGED, data=data))
    return tuple(results)


def _finished(meta: Mapping[str, Any]) -> tuple[Happening, ...]:
    data = {name: meta[name] for name in ("run_id", "trigger", "state", "counts")}
    return (Happening(event=WebhookEvent.CONSOLIDATION_DONE, data=data),)


def _superseded(pairs: Iterable[tuple[str, str]]) -> Happening:
    pairs_told = [{"id": old, "superseded_by": new} for old, new in pairs]
    return Happening(event=WebhookEvent.MEMORY_SUPERSEDED, data={"superseded": pairs_told})


def _noticed(meta: Mapping[str, Any]) -> tuple[Happening, ...]:
    if meta["kind"] != "notify" or meta["state"] != "done":
        return ()
    data = {name: meta[name] for name in ("run_id", "workflow_id", "result_id")}
    return (Happening(event=WebhookEvent.WORKFLOW_NOTICE, data=data),)


def _handed_off(meta: Mapping[str, Any]) -> tuple[Happening, ...]:
    data = {name: meta[name] for name in ("hand_off_id", "state", "cause", "ticket_id")}
    return (Happening(event=WebhookEvent.CHAT_HAND_OFF, data=data),)


_READERS = {
    "memory.remembered": _remembered,
    "memory.corrected": _replaced,
    "memory.merged": _replaced,
    "consolidation.applied": _consolidated,
    "consolidation.finished": _finished,
    "workflow.step_ended": _noticed,
    "handoff.requested": _handed_off,
    "handoff.accepted": _handed_off,
    "handoff.released": _handed_off,
    "handoff.returned": _handed_off,
    "handoff.closed": _handed_off,
    "handoff.ticketed": _handed_off,
}
