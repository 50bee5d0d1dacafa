"""What telling the world of a write asks of the stores. Contracts; adapters live in `storage`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID


class WebhookEvent(StrEnum):
    """What a webhook may be told of."""

    MEMORY_SUPERSEDED = "memory_superseded"  # a newer or a merged memory replaced others
    CONTRADICTION_FLAGGED = "contradiction_flagged"  # two memories cannot both hold
    CONSOLIDATION_DONE = "consolidation_done"  # a run ended, well or not


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


class WebhookSubscribers(Protocol):
    """Who is told, and what is on its way to them."""

    def subscribed(self, events: Collection[WebhookEvent]) -> Sequence[tuple[UUID, WebhookEvent]]:
        """Return the (webhook, event) pairs among `events` that active webhooks ask for."""
        ...

    def deliver(self, deliveries: Sequence[Delivery], now: datetime) -> None:
        """Keep deliveries that are to be made."""
        ...
