"""Webhooks and their deliveries in memory. For tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.webhooks.webhooks import DeliveryView, DueDelivery

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.webhooks.webhooks import Webhook
    from cairn.writing.webhook_events import Delivery, WebhookEvent


@dataclass(frozen=True)
class InMemoryWebhooks:
    """`PostgresWebhooks` in memory."""

    tables: Tables

    def add(self, webhook: Webhook, sealed_secret: bytes) -> None:
        """Keep a webhook."""
        self.tables.webhooks[webhook.id] = (webhook, sealed_secret)

    def all(self) -> Sequence[Webhook]:
        """Return every webhook, newest first."""
        every = sorted(
            self.tables.webhooks.values(), key=lambda webhook: webhook[0].id, reverse=True
        )
        return [self._counted(webhook) for webhook, _ in every]

    def remove(self, webhook_id: UUID) -> bool:
        """Remove one with its deliveries; False when there is none."""
        for delivery in list(self.tables.deliveries.values()):
            if delivery[0].webhook_id == webhook_id:
                del self.tables.deliveries[delivery[0].id]
        return self.tables.webhooks.pop(webhook_id, None) is not None

    def disable(self, webhook_id: UUID, now: datetime) -> None:
        """Let one rest."""
        webhook, secret = self.tables.webhooks[webhook_id]
        rests = replace(webhook, disabled_at=webhook.disabled_at or now)
        self.tables.webhooks[webhook_id] = (rests, secret)

    def subscribed(self, events: Collection[WebhookEvent]) -> Sequence[tuple[UUID, WebhookEvent]]:
        """Return the (webhook, event) pairs among `events` that active webhooks ask for."""
        active = (one for one, _ in self.tables.webhooks.values() if one.disabled_at is None)
        return sorted(
            (item.id, event) for item in active for event in item.events if event in events
        )

    def deliver(self, deliveries: Sequence[Delivery], now: datetime) -> None:
        """Keep deliveries that are to be made."""
        for delivery in deliveries:
            view = DeliveryView(
                id=delivery.id,
                webhook_id=delivery.webhook_id,
                event=delivery.event.value,
                position=delivery.position,
                occurred_at=delivery.occurred_at,
                state="waiting",
                attempts=0,
                status=None,
                error=None,
                updated_at=now,
            )
            self.tables.deliveries[delivery.id] = (view, delivery)

    def due(self, delivery_id: UUID) -> DueDelivery | None:
        """Return a delivery that waits for an active webhook."""
        view, delivery = self.tables.deliveries.get(delivery_id, (None, None))
        if view is None or delivery is None or view.state != "waiting":
            return None
        webhook, secret = self.tables.webhooks[view.webhook_id]
        if webhook.disabled_at is not None:
            return None
        return DueDelivery(
            delivery=delivery, attempts=view.attempts, url=webhook.url, sealed_secret=secret
        )

    def target(self, webhook_id: UUID) -> tuple[str, bytes] | None:
        """Return where an active webhook leads, and its sealed secret."""
        webhook, secret = self.tables.webhooks.get(webhook_id, (None, b""))
        return (webhook.url, secret) if webhook and webhook.disabled_at is None else None

    def record(
        self, delivery_id: UUID, state: str, status: int | None, error: str | None, now: datetime
    ) -> None:
        """Keep what became of one try."""
        view, delivery = self.tables.deliveries[delivery_id]
        if view.state == "waiting":
            tried = replace(
                view,
                state=state,
                attempts=view.attempts + 1,
                status=status,
                error=error,
                updated_at=now,
            )
            self.tables.deliveries[delivery_id] = (tried, delivery)

    def deliveries(self, webhook_id: UUID, limit: int) -> Sequence[DeliveryView]:
        """Return the newest deliveries of a webhook."""
        views = [one for one, _ in self.tables.deliveries.values() if one.webhook_id == webhook_id]
        return sorted(views, key=lambda view: view.id, reverse=True)[:limit]

    def _counted(self, webhook: Webhook) -> Webhook:
        views = [one for one, _ in self.tables.deliveries.values() if one.webhook_id == webhook.id]
        delivered = [view.updated_at for view in views if view.state == "delivered"]
        return replace(
            webhook,
            waiting=sum(view.state == "waiting" for view in views),
            failed=sum(view.state == "failed" for view in views),
            last_delivered_at=max(delivered, default=None),
        )


class NoMessaging:
    """A workspace without messaging channels: nobody is told there."""

    def any(self) -> bool:
        return False
