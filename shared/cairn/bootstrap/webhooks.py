"""What the API needs of webhooks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cairn.adapters.http.webhooks import sender_for
from cairn.api.services import WebhookServices
from cairn.webhooks.webhooks import Webhooks

if TYPE_CHECKING:
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.memories.remember import Remember


def webhook_services(
    remember: Remember, transactions: StoreTransactions, leads: str
) -> WebhookServices:
    """Build them beside `remember`; `leads` is the setting that says where webhooks may lead."""
    webhooks = Webhooks(
        transactions=transactions,
        keys=remember.resolver.keys,
        cipher=remember.cipher,
        sender=sender_for(leads),
        clock=remember.clock,
        new_id=remember.new_id,
        random_bytes=os.urandom,
    )
    return WebhookServices(
        create=webhooks.create,
        all=webhooks.all,
        remove=webhooks.remove,
        deliveries=webhooks.deliveries,
    )
