"""Webhooks: who is told of what happens, and telling them. Signed as Standard Webhooks says.

A delivery is kept in the transaction of what it tells of, sent by the queue's consumer, tried again
by the queue, and rests in its dead-letter queue after that; nothing is sent twice under another id.
https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from cairn.kernel.access import Principal, Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import FieldError, NotFound, Unavailable, ValidationFailed
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.checks import clean_text
from cairn.writing.webhook_events import Delivery, WebhookEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.ledger.keys import BodyCipher, KeyStore

MAX_WEBHOOKS = 20
MAX_URL_CHARS = 2_048
MAX_LISTED = 100
SECRET_BYTES = 32
MAX_ATTEMPTS = 12
"""Tries before a delivery has failed for good: three a message, and a message an hour."""
SECRET_PREFIX = "whsec_"
GONE = 410


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWebhook:
    """A webhook as the caller wants it."""

    url: str
    events: tuple[WebhookEvent, ...] = tuple(WebhookEvent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A webhook as it is shown; `waiting` and `failed` count its deliveries."""

    id: UUID
    url: str
    events: tuple[WebhookEvent, ...]
    created_at: datetime
    disabled_at: datetime | None = None
    waiting: int = 0
    failed: int = 0
    last_delivered_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookMade:
    """A new webhook with its secret, which is shown this once."""

    webhook: Webhook
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryView:
    """A delivery as it is shown: waiting, delivered or failed, and how its last try went."""

    id: UUID
    webhook_id: UUID
    event: str
    position: int
    occurred_at: datetime
    state: str
    attempts: int
    status: int | None
    error: str | None
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    """A delivery that waits, where it goes, and the sealed secret that signs it."""

    delivery: Delivery
    attempts: int
    url: str
    sealed_secret: bytes


class WebhookSender(Protocol):
    """Posts to addresses outside; never to one inside the network, unless it was told it may."""

    def check(self, url: str) -> None:
        """Raise ValidationFailed for an address that would never be posted to."""
        ...

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        """Return the status of the answer; Unavailable when there is none in time."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhooks:
    """Makes, lists and removes webhooks: an admin's work. Each change is a ledger entry."""

    transactions: Transactions[Stores]
    keys: KeyStore
    cipher: BodyCipher
    sender: WebhookSender
    clock: Clock
    new_id: IdSource
    random_bytes: Callable[[int], bytes]

    def create(self, principal: Principal, new: NewWebhook) -> WebhookMade:
        """Make a webhook and return its secret; ValidationFailed for a bad address."""
        principal.require(Role.ADMIN)
        url, events = self._url(new.url), _events(new.events)
        secret = SECRET_PREFIX + base64.b64encode(self.random_bytes(SECRET_BYTES)).decode()
        workspace_id, webhook_id = principal.workspace_id, self.new_id()
        keys = self.keys.get_or_create(workspace_id, (workspace_id,))
        sealed = self.cipher.seal(webhook_id, workspace_id, keys, {"secret": secret})
        with self.transactions.writing(principal) as stores:
            if len(stores.webhooks.all()) >= MAX_WEBHOOKS:
                _refuse("events", f"a workspace has at most {MAX_WEBHOOKS} webhooks")
            now = self.clock()
            webhook = Webhook(id=webhook_id, url=url, events=events, created_at=now)
            stores.webhooks.add(webhook, sealed)
            self._record(stores, principal, "webhook.created", webhook_id, now)
        return WebhookMade(webhook=webhook, secret=secret)

    def all(self, principal: Principal) -> Sequence[Webhook]:
        """Return every webhook, newest first."""
        principal.require(Role.ADMIN)
        with self.transactions.reading(principal) as stores:
            return stores.webhooks.all()

    def remove(self, principal: Principal, webhook_id: UUID) -> None:
        """Remove a webhook with its deliveries; NotFound when there is none."""
        principal.require(Role.ADMIN)
        with self.transactions.writing(principal) as stores:
            if not stores.webhooks.remove(webhook_id):
                raise _no_such(webhook_id)
            self._record(stores, principal, "webhook.removed", webhook_id, self.clock())

    def deliveries(self, principal: Principal, webhook_id: UUID) -> Sequence[DeliveryView]:
        """Return the newest deliveries of a webhook; NotFound when there is none."""
        principal.require(Role.ADMIN)
        with self.transactions.reading(principal) as stores:
            if all(item.id != webhook_id for item in stores.webhooks.all()):
                raise _no_such(webhook_id)
            return stores.webhooks.deliveries(webhook_id, MAX_LISTED)

    def _url(self, value: str) -> str:
        url = clean_text(value, field="url", max_chars=MAX_URL_CHARS)
        self.sender.check(url)
        parts = urlsplit(url)
        if parts.username or parts.password:
            _refuse("url", "carries no name and no password; the signature says who calls")
        return url

    def _record(
        self,
        stores: Stores,
        principal: Principal,
        type_: str,
        webhook_id: UUID,
        now: datetime,
    ) -> None:
        from cairn.accounts.keys import record  # not for the function that only sends
        from cairn.writing.append import principal_actor

        record(
            stores,
            workspace_id=principal.workspace_id,
            type_=type_,
            meta={"webhook_id": str(webhook_id)},
            actor=principal_actor(principal),
            now=now,
            new_id=self.new_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverWebhook:
    """Sends one delivery. Safe at least once: what was delivered is not sent again."""

    transactions: Transactions[Stores]
    keys: KeyStore
    cipher: BodyCipher
    sender: WebhookSender
    clock: Clock

    def __call__(self, workspace_id: UUID, delivery_id: UUID) -> str:
        """Send it and return what became of it: delivered, failed, disabled or nothing.

        Raises Unavailable, with the try recorded, when its receiver did not take it; it is tried
        again.
        """
        principal = system_principal(workspace_id)
        with self.transactions.reading(principal) as stores:
            due = stores.webhooks.due(delivery_id)
        if due is None:
            with self.transactions.writing(principal) as stores:
                stores.outbox.done([delivery_id])
            return "nothing"
        body = payload(due.delivery)
        secret = self._secret(workspace_id, due)
        sent_at = int(self.clock().timestamp())
        headers = signed_headers(secret, due.delivery.id, sent_at, body)
        status, error = self._post(due.url, body, headers)
        return self._settle(principal, due, status, error)

    def _secret(self, workspace_id: UUID, due: DueDelivery) -> str:
        owner = (workspace_id,)
        keys = self.keys.get(workspace_id, owner)
        webhook_id = due.delivery.webhook_id
        opened = self.cipher.open(webhook_id, workspace_id, owner, keys, due.sealed_secret)
        return str(opened["secret"])

    def _post(
        self, url: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int | None, str | None]:
        try:
            status = self.sender.post(url, body, headers)
        except (Unavailable, ValidationFailed) as problem:
            return None, problem.reason
        return status, None if 200 <= status < 300 else "refused"

    def _settle(
        self, principal: Principal, due: DueDelivery, status: int | None, error: str | None
    ) -> str:
        delivery = due.delivery
        spent = due.attempts + 1 >= MAX_ATTEMPTS
        over = error is None or status == GONE or spent
        state = "delivered" if error is None else "failed" if over else "waiting"
        with self.transactions.writing(principal) as stores:
            now = self.clock()
            stores.webhooks.record(delivery.id, state, status, error, now)
            if status == GONE:
                stores.webhooks.disable(delivery.webhook_id, now)
            if over:
                stores.outbox.done([delivery.id])
        if not over:
            raise Unavailable(
                "The webhook's receiver did not take it.", reason=error or "", status=str(status)
            )
        return "disabled" if status == GONE else state


def payload(delivery: Delivery) -> bytes:
    """Return the JSON body of a delivery: type, timestamp and data, as Standard Webhooks shapes it.

    `data` holds the ledger's `position` and `entry_id` beside what the event tells.
    """
    document: dict[str, Any] = {
        "type": delivery.event.value,
        "timestamp": format_timestamp(delivery.occurred_at),
        "data": {
            "entry_id": str(delivery.entry_id),
            "position": delivery.position,
            **delivery.data,
        },
    }
    return json.dumps(document, separators=(",", ":"), sort_keys=True).encode()


def signed_headers(secret: str, delivery_id: UUID, sent_at: int, body: bytes) -> dict[str, str]:
    """Return the headers that let a receiver check who sent `body`, and when (Unix seconds).

    signature = base64(HMAC-SHA256(secret, "<id>.<timestamp>." + body)), version v1.
    """
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{delivery_id}.{sent_at}.".encode() + body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "content-type": "application/json",
        "webhook-id": str(delivery_id),
        "webhook-timestamp": str(sent_at),
        "webhook-signature": f"v1,{signature}",
    }


def _events(events: tuple[WebhookEvent, ...]) -> tuple[WebhookEvent, ...]:
    chosen = tuple(dict.fromkeys(events))
    if not chosen:
        _refuse("events", "names at least one event")
    return chosen


def _no_such(webhook_id: UUID) -> NotFound:
    return NotFound("There is no such webhook.", webhook_id=str(webhook_id))


def _refuse(field: str, message: str) -> None:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
