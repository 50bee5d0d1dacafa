"""Incoming webhooks: services outside that write memories. Signed as Standard Webhooks says.

Who may write is proved by the signature over the id, the time and the very bytes of a delivery, not
by a key of ours. What is written is the use case's of `POST /v1/memories`.
https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import FieldError, NotFound, RateLimited, Unauthenticated, ValidationFailed
from cairn.kernel.text.canonical import format_timestamp, parse_timestamp
from cairn.kernel.text.hashes import sha256
from cairn.webhooks.webhooks import SECRET_BYTES, SECRET_PREFIX
from cairn.writing.checks import clean_name
from cairn.writing.items import IdempotencyKey

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform

    WorkspaceOf: TypeAlias = Callable[[UUID], UUID | None]

MAX_INCOMING = 20
TOLERANCE = timedelta(minutes=5)
"""How far a delivery's clock may be from ours: a captured one is good for no longer."""
OVERLAP = timedelta(hours=24)
"""How long the secret before is good after a rotation."""
PER_MINUTE = 120
ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
_DELIVERY_ID = re.compile(r"[\x21-\x7e]{1,255}")
_SECONDS = re.compile(r"[0-9]{1,11}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewIncomingWebhook:
    """One as an admin wants it."""

    name: str
    client_id: str | None = None
    scope: Scope = Scope.ADMIN


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingWebhook:
    """A service that writes memories: of `client_id`, when it has one, and in `scope`."""

    id: UUID
    name: str
    client_id: str | None
    scope: Scope
    created_at: datetime
    rotated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingWebhookMade:
    """One with its new secret, which is shown this once."""

    webhook: IncomingWebhook
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingWebhooks:
    """Makes, rotates and removes them: an admin's work. Each change is a ledger entry."""

    platform: Platform
    random_bytes: Callable[[int], bytes]

    def create(self, principal: Principal, new: NewIncomingWebhook) -> IncomingWebhookMade:
        """Make one and return its secret; ValidationFailed for one too many."""
        principal.require(Role.ADMIN)
        principal.require_scope(new.scope)
        webhook = IncomingWebhook(
            id=self.platform.new_id(),
            name=clean_name(new.name, "name") or "",
            client_id=clean_name(new.client_id, "client_id"),
            scope=new.scope,
            created_at=self.platform.clock(),
        )
        secret = self._secret()
        sealed = self._sealed(principal, webhook.id, {"secret": secret})
        with self.platform.transactions.writing(principal) as stores:
            if len(stores.incoming_webhooks.all()) >= MAX_INCOMING:
                wrong = f"is one too many: a workspace has at most {MAX_INCOMING} incoming webhooks"
                raise ValidationFailed(f"name {wrong}.", errors=[FieldError("name", wrong)])
            stores.incoming_webhooks.add(webhook, sealed)
            self._record(stores, principal, "incoming_webhook.created", webhook.id)
        return IncomingWebhookMade(webhook=webhook, secret=secret)

    def all(self, principal: Principal) -> Sequence[IncomingWebhook]:
        """Return every one, newest first."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return stores.incoming_webhooks.all()

    def rotate(self, principal: Principal, webhook_id: UUID) -> IncomingWebhookMade:
        """Give one a new secret; the one before is good for a day more. NotFound without it."""
        principal.require(Role.ADMIN)
        stored = _opened(self.platform, principal.workspace_id, webhook_id)
        secret, now = self._secret(), self.platform.clock()
        until = format_timestamp(now + OVERLAP)
        secrets = {"secret": secret, "before": stored["secret"], "before_until": until}
        sealed = self._sealed(principal, webhook_id, secrets)
        with self.platform.transactions.writing(principal) as stores:
            stores.incoming_webhooks.rotate(webhook_id, sealed, now)
            webhook = stores.incoming_webhooks.find(webhook_id)
            if webhook is None:
                raise _no_such(webhook_id)
            self._record(stores, principal, "incoming_webhook.rotated", webhook_id)
        return IncomingWebhookMade(webhook=webhook, secret=secret)

    def remove(self, principal: Principal, webhook_id: UUID) -> None:
        """Remove one with its secrets; what it wrote stays. NotFound without it."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.writing(principal) as stores:
            if not stores.incoming_webhooks.remove(webhook_id):
                raise _no_such(webhook_id)
            self._record(stores, principal, "incoming_webhook.removed", webhook_id)

    def _secret(self) -> str:
        return SECRET_PREFIX + base64.b64encode(self.random_bytes(SECRET_BYTES)).decode()

    def _sealed(self, principal: Principal, webhook_id: UUID, secrets: Mapping[str, Any]) -> bytes:
        workspace_id = principal.workspace_id
        keys = self.platform.keys.get_or_create(workspace_id, (workspace_id,))
        return self.platform.cipher.seal(webhook_id, workspace_id, keys, dict(secrets))

    def _record(self, stores: Stores, principal: Principal, type_: str, webhook_id: UUID) -> None:
        from cairn.accounts.keys import record  # not for the function that only sends
        from cairn.writing.append import principal_actor

        record(
            stores,
            workspace_id=principal.workspace_id,
            type_=type_,
            meta={"webhook_id": str(webhook_id)},
            actor=principal_actor(principal),
            now=self.platform.clock(),
            new_id=self.platform.new_id,
        )


class DeliveryLimit:
    """Counts deliveries by webhook in windows of a minute, in this process; `who` sends them."""

    def __init__(self, most: int = PER_MINUTE, who: str = "An incoming webhook") -> None:
        self._most, self._who, self._window, self._lock = most, who, 0, Lock()
        self._counts: Counter[UUID] = Counter()

    def __call__(self, webhook_id: UUID, now: datetime) -> None:
        """Count one; RateLimited when there were too many in this window."""
        window, into = divmod(int(now.timestamp()), 60)
        with self._lock:
            if window != self._window:
                self._window = window
                self._counts.clear()
            self._counts[webhook_id] += 1
            count = self._counts[webhook_id]
        if count > self._most:
            raise RateLimited(
                f"{self._who} takes {self._most} requests a minute.",
                retry_after=60 - into,
                reason="too-many-deliveries",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliveries:
    """Says on whose behalf a delivery writes, and under which key it is written once."""

    platform: Platform
    workspace_of: WorkspaceOf
    limit: DeliveryLimit = field(default_factory=DeliveryLimit)

    def __call__(
        self, webhook_id: UUID, headers: Mapping[str, str], body: bytes
    ) -> tuple[Principal, IdempotencyKey]:
        """Return the writer and the delivery's idempotency key.

        NotFound without the webhook, RateLimited above its limit, Unauthenticated for a delivery
        that is not signed, forged, or not of now.
        """
        workspace_id = self.workspace_of(webhook_id)
        if workspace_id is None:
            raise _no_such(webhook_id)
        now = self.platform.clock()
        self.limit(webhook_id, now)
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            webhook = stores.incoming_webhooks.find(webhook_id)
        if webhook is None:
            raise _no_such(webhook_id)
        secrets = good_secrets(_opened(self.platform, workspace_id, webhook_id), now)
        delivery_id = verified(secrets, headers, body, now)
        principal = Principal(
            workspace_id=workspace_id,
            principal_id=webhook_id,
            role=Role.AGENT,
            allowed_scopes=frozenset({webhook.scope}),
            name=webhook.name,
            client_id=webhook.client_id,
        )
        return principal, IdempotencyKey(key=delivery_id, body_hash=sha256(body))


def verified(secrets: Sequence[str], headers: Mapping[str, str], body: bytes, now: datetime) -> str:
    """Return the id of a delivery that one of `secrets` signed now; else raise Unauthenticated."""
    delivery_id, sent_at = headers.get(ID, ""), headers.get(TIMESTAMP, "")
    header = headers.get(SIGNATURE, "")
    if not (_DELIVERY_ID.fullmatch(delivery_id) and _SECONDS.fullmatch(sent_at) and header):
        raise Unauthenticated(
            f"A delivery is signed: it has the headers {ID}, {TIMESTAMP} and {SIGNATURE}.",
            reason="unsigned",
        )
    signed = f"{delivery_id}.{sent_at}.".encode() + body
    expected = [_signature(secret, signed) for secret in secrets]
    offered = [part.encode("utf-8", errors="replace") for part in header.split(" ")]
    if not any(hmac.compare_digest(signature, two) for signature in expected for two in offered):
        raise Unauthenticated("This delivery's signature does not hold.", reason="bad-signature")
    if abs(now.timestamp() - int(sent_at)) > TOLERANCE.total_seconds():
        raise Unauthenticated(
            "This delivery was signed more than five minutes from now: it is a replay, or one of "
            "the clocks is wrong.",
            reason="token-expired",
        )
    return delivery_id


def _signature(secret: str, signed: bytes) -> bytes:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    return b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())


def good_secrets(opened: Mapping[str, Any], now: datetime) -> tuple[str, ...]:
    """Return the secrets that are good at `now`: the present one, and the last one for a day."""
    before = opened.get("before")
    if before is None or now >= parse_timestamp(str(opened["before_until"])):
        return (str(opened["secret"]),)
    return (str(opened["secret"]), str(before))


def _opened(platform: Platform, workspace_id: UUID, webhook_id: UUID) -> Mapping[str, Any]:
    owner = (workspace_id,)
    with platform.transactions.reading(system_principal(workspace_id)) as stores:
        sealed = stores.incoming_webhooks.secrets(webhook_id)
    if sealed is None:
        raise _no_such(webhook_id)
    keys = platform.keys.get(workspace_id, owner)
    return platform.cipher.open(webhook_id, workspace_id, owner, keys, sealed)


def _no_such(webhook_id: UUID) -> NotFound:
    return NotFound("There is no such incoming webhook.", webhook_id=str(webhook_id))
