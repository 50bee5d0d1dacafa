"""Webhooks and their deliveries in PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store
from cairn.webhooks.webhooks import DeliveryView, DueDelivery, Webhook
from cairn.writing.webhook_ports import Delivery, WebhookEvent

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.adapters.postgres.database import Database


class PostgresWebhooks(Store):
    """Implements `lifecycle.webhooks.WebhookStore`."""

    def add(self, webhook: Webhook, sealed_secret: bytes) -> None:
        """Keep a webhook."""
        self.run(
            "webhook.add",
            id=webhook.id,
            url=webhook.url,
            events=[one.value for one in webhook.events],
            secret=sealed_secret,
            now=webhook.created_at,
        )

    def all(self) -> Sequence[Webhook]:
        """Return every webhook, newest first."""
        return [
            Webhook(
                id=webhook_id,
                url=url,
                events=tuple(WebhookEvent(one) for one in events),
                created_at=created_at,
                disabled_at=disabled_at,
                waiting=waiting,
                failed=failed,
                last_delivered_at=last,
            )
            for webhook_id, url, events, created_at, disabled_at, waiting, failed, last in self.run(
                "webhook.all"
            )
        ]

    def remove(self, webhook_id: UUID) -> bool:
        """Remove one with its deliveries; False when there is none."""
        return self.run("webhook.remove", id=webhook_id).rowcount == 1

    def disable(self, webhook_id: UUID, now: datetime) -> None:
        """Let one rest."""
        self.run("webhook.disable", id=webhook_id, now=now)

    def subscribed(self, events: Collection[WebhookEvent]) -> Sequence[tuple[UUID, WebhookEvent]]:
        """Return the (webhook, event) pairs among `events` that active webhooks ask for."""
        rows = self.run("webhook.subscribed", events=[one.value for one in events])
        return [(webhook_id, WebhookEvent(event)) for webhook_id, event in rows]

    def deliver(self, deliveries: Sequence[Delivery], now: datetime) -> None:
        """Keep deliveries that are to be made."""
        rows = json.dumps([asdict(one) for one in deliveries], default=str)
        self.run("webhook.deliver", rows=rows, now=now)

    def due(self, delivery_id: UUID) -> DueDelivery | None:
        """Return a delivery that waits for an active webhook."""
        row = self.run("webhook.due", id=delivery_id).fetchone()
        if row is None:
            return None
        found, webhook_id, event, entry_id, position, occurred_at, data, attempts, url, secret = row
        delivery = Delivery(
            id=found,
            webhook_id=webhook_id,
            event=WebhookEvent(event),
            entry_id=entry_id,
            position=position,
            occurred_at=occurred_at,
            data=data,
        )
        return DueDelivery(delivery=delivery, attempts=attempts, url=url, sealed_secret=secret)

    def target(self, webhook_id: UUID) -> tuple[str, bytes] | None:
        """Return where an active webhook leads, and its sealed secret."""
        return self.run("webhook.target", id=webhook_id).fetchone()

    def record(
        self, delivery_id: UUID, state: str, status: int | None, error: str | None, now: datetime
    ) -> None:
        """Keep what became of one try."""
        self.run("webhook.record", id=delivery_id, state=state, status=status, error=error, now=now)

    def deliveries(self, webhook_id: UUID, limit: int) -> Sequence[DeliveryView]:
        """Return the newest deliveries of a webhook."""
        names = tuple(DeliveryView.__dataclass_fields__)
        rows = self.run("webhook.deliveries", webhook_id=webhook_id, limit=limit)
        return [DeliveryView(**dict(zip(names, row, strict=True))) for row in rows]


@dataclass(frozen=True)
class DropDeliveries:
    """Calls the definer function that removes old deliveries, in every workspace."""

    database: Database

    def __call__(self, before: datetime, limit: int) -> int:
        """Remove at most `limit` ended deliveries older than `before`; return how many went."""
        asked = {"before": before, "limit": limit}
        with self.database.connection() as connection:
            row = connection.execute(query("webhook.drop_deliveries"), asked).fetchone()
        return row[0] if row else 0
