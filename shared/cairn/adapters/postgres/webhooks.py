"""Webhooks and their deliveries in PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from psycopg.rows import scalar_row

from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record
from cairn.kernel.access import Scope
from cairn.webhooks.incoming import IncomingWebhook
from cairn.webhooks.webhooks import DeliveryView, DueDelivery, Webhook
from cairn.writing.webhook_events import Delivery, WebhookEvent

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.adapters.postgres.database import Database


class PostgresWebhooks(Store):
    """Webhooks and their deliveries."""

    def add(self, webhook: Webhook, sealed_secret: bytes) -> None:
        """Keep a webhook."""
        self.run(
            "webhook.add",
            id=webhook.id,
            url=webhook.url,
            events=[event.value for event in webhook.events],
            secret=sealed_secret,
            now=webhook.created_at,
        )

    def all(self) -> Sequence[Webhook]:
        """Return every webhook, newest first."""
        return self.all_of(record(Webhook, events=_events), "webhook.all")

    def remove(self, webhook_id: UUID) -> bool:
        """Remove one with its deliveries; False when there is none."""
        return self.run("webhook.remove", id=webhook_id).rowcount == 1

    def disable(self, webhook_id: UUID, now: datetime) -> None:
        """Let one rest."""
        self.run("webhook.disable", id=webhook_id, now=now)

    def subscribed(self, events: Collection[WebhookEvent]) -> Sequence[tuple[UUID, WebhookEvent]]:
        """Return the (webhook, event) pairs among `events` that active webhooks ask for."""
        rows = self.run("webhook.subscribed", events=[event.value for event in events])
        return [(webhook_id, WebhookEvent(event)) for webhook_id, event in rows]

    def deliver(self, deliveries: Sequence[Delivery], now: datetime) -> None:
        """Keep deliveries that are to be made."""
        rows = json.dumps([asdict(delivery) for delivery in deliveries], default=str)
        self.run("webhook.deliver", rows=rows, now=now)

    def due(self, delivery_id: UUID) -> DueDelivery | None:
        """Return a delivery that waits for an active webhook."""
        return self.first_of(record(_due, event=WebhookEvent), "webhook.due", id=delivery_id)

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
        parameters = {"webhook_id": webhook_id, "limit": limit}
        return self.all_of(record(DeliveryView), "webhook.deliveries", **parameters)


class PostgresIncomingWebhooks(Store):
    """Incoming webhooks, with their sealed secrets."""

    def add(self, webhook: IncomingWebhook, sealed: bytes) -> None:
        """Keep one."""
        self.write("incoming_webhook.add", webhook, secrets=sealed)

    def all(self) -> Sequence[IncomingWebhook]:
        """Return every one, newest first."""
        return self.all_of(record(IncomingWebhook, scope=Scope), "incoming_webhook.all")

    def find(self, webhook_id: UUID) -> IncomingWebhook | None:
        """Return one."""
        factory = record(IncomingWebhook, scope=Scope)
        return self.first_of(factory, "incoming_webhook.find", id=webhook_id)

    def secrets(self, webhook_id: UUID) -> bytes | None:
        """Return its sealed secrets."""
        return self.value("incoming_webhook.secrets", id=webhook_id)

    def rotate(self, webhook_id: UUID, sealed: bytes, now: datetime) -> bool:
        """Keep new secrets; False when there is no such webhook."""
        changed = self.run("incoming_webhook.rotate", id=webhook_id, secrets=sealed, now=now)
        return changed.rowcount == 1

    def remove(self, webhook_id: UUID) -> bool:
        """Remove one; False when there is none."""
        return self.run("incoming_webhook.remove", id=webhook_id).rowcount == 1


@dataclass(frozen=True)
class WorkspaceOfIncomingWebhook:
    """Calls the definer function that says whose an incoming webhook is."""

    database: Database

    def __call__(self, webhook_id: UUID) -> UUID | None:
        """Return the workspace; None when there is no such webhook."""
        with self.database.connection() as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            parameters = {"id": webhook_id}
            return cursor.execute(query("incoming_webhook.workspace_of"), parameters).fetchone()


@dataclass(frozen=True)
class DropDeliveries:
    """Calls the definer function that removes old deliveries, in every workspace."""

    database: Database

    def __call__(self, before: datetime, limit: int) -> int:
        """Remove at most `limit` ended deliveries older than `before`; return how many went."""
        parameters = {"before": before, "limit": limit}
        with self.database.connection() as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            return cursor.execute(query("webhook.drop_deliveries"), parameters).fetchone() or 0


def _events(names: list[str]) -> tuple[WebhookEvent, ...]:
    return tuple(WebhookEvent(name) for name in names)


def _due(*, attempts: int, url: str, secret: bytes, **row: Any) -> DueDelivery:
    delivery = Delivery(**row)
    return DueDelivery(delivery=delivery, attempts=attempts, url=url, sealed_secret=secret)
