"""What the act function needs: the delivery of webhooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.bootstrap.logs import logger
from cairn.bootstrap.parts import database, key_store
from cairn.clock import utc_now
from cairn.ledger.keys import BodyCipher
from cairn.lifecycle.webhooks import DeliverWebhook
from cairn.settings import ActSettings
from cairn.storage.postgres.store_transactions import StoreTransactions
from cairn.storage.postgres.stores import PostgresStores
from cairn.storage.webhook_http import sender_for

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger


@dataclass(frozen=True, slots=True, kw_only=True)
class ActServices:
    """The act function's use cases."""

    deliver: DeliverWebhook
    log: Logger


def act_services() -> ActServices:
    """Build them from the environment; nothing connects yet."""
    settings = ActSettings.read()
    return ActServices(
        deliver=DeliverWebhook(
            transactions=StoreTransactions(database(settings), PostgresStores),
            keys=key_store(settings),
            cipher=BodyCipher(),
            sender=sender_for(settings.webhooks),
            clock=utc_now,
        ),
        log=logger("act", settings.log_level),
    )
