"""Any system that can send a signed webhook, as a source of tickets. Not how it is answered.

A delivery is signed as Standard Webhooks says and holds tickets, messages, or both, in a form of
ours. Answers go to an address that the source names, signed the same way.
https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

from cairn.kernel.errors import FieldError, Unauthenticated, ValidationFailed
from cairn.tickets.adapter import Capabilities, Events, Incoming, Message, Polled, time_at
from cairn.tickets.deliveries import check_now, delivery_id, document_of
from cairn.tickets.ticket import Priority

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.tickets.adapter import Delivered

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
PREFIX = "whsec_"
LEAST_KEY_BYTES, MOST_KEY_BYTES = 24, 64
MOST = 100
"""Tickets of one delivery, and messages as many."""

_TICKET = {"id", "title", "body", "customer", "requester_email", "priority", "sla_at",
           "received_at", "modified_at", "closed", "metadata"}  # fmt: skip
_MESSAGE = {"id", "ticket", "text", "author", "written_at"}


class SendEvent(Protocol):
    """Posts one event to the source's system.

    Raises Unavailable without an answer, ConnectorUnauthorised, NotFound or ValidationFailed as it
    refuses.
    """

    def __call__(self, body: bytes, headers: Mapping[str, str]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAdapter:
    """Implements `TicketAdapter`. Without `send` answers stay with their tickets here."""

    key: bytes = field(repr=False)
    clock: Clock
    new_id: IdSource
    customer: str = ""
    send: SendEvent | None = None

    def capabilities(self) -> Capabilities:
        """Say what it can do: with an address to answer to, everything."""
        can = self.send is not None
        return Capabilities(
            polls=False, replies=can, private_notes=can, statuses=can, time_entries=can
        )

    def poll(self, cursor: str | None, limit: int) -> Polled:
        """Fetch nothing: deliveries bring what is new."""
        return Polled(tickets=(), cursor=cursor)

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated unless id, time and body are signed, and the time is now."""
        sent_at = delivered.headers.get(TIMESTAMP, "")
        signatures = delivered.headers.get(SIGNATURE, "").split()
        check_now(sent_at if signatures else "", now)
        expected = _signature(self.key, delivered.headers.get(ID, ""), sent_at, delivered.body)
        # several stand there while a secret is replaced
        if not any(hmac.compare_digest(expected.encode(), each.encode()) for each in signatures):
            raise Unauthenticated(
                "This delivery's signature does not hold.", reason="bad-signature"
            )

    def read(self, delivered: Delivered) -> Events:
        """Return the tickets and messages of a delivery; ValidationFailed names what is wrong."""
        document = document_of(delivered)
        if not isinstance(document, dict):
            _refuse("body", "is an object with tickets, messages, or both")
        record = cast("dict[str, Any]", document)
        for name in record.keys() - {"tickets", "messages"}:
            _refuse(name, "is neither tickets nor messages")
        tickets = _records(record, "tickets", _TICKET)
        messages = _records(record, "messages", _MESSAGE)
        return Events(
            delivery_id=delivery_id(delivered.headers.get(ID, ""), delivered),
            tickets=tuple(self._ticket(each, number) for number, each in enumerate(tickets)),
            messages=tuple(_message(each, number) for number, each in enumerate(messages)),
        )

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Send an answer; sent again it has the same `webhook-id`."""
        event = {"type": "reply", "ticket": external_id, "text": text, "private": private}
        return self._sent(event, key)

    def set_status(self, external_id: str, status: str) -> str:
        """Send a status: one of ours."""
        event = {"type": "status", "ticket": external_id, "status": status}
        self._sent(event, str(self.new_id()))
        return status

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Send working time; sent again it has the same `webhook-id`."""
        event = {"type": "time", "ticket": external_id, "minutes": minutes, "note": note}
        return self._sent(event, key)

    def _sent(self, event: Mapping[str, Any], key: str) -> str:
        if self.send is None:
            raise ValidationFailed("This source names no reply_url.", reason="not-supported")
        body = json.dumps(event, separators=(",", ":")).encode()
        sent_at = str(int(self.clock().timestamp()))
        headers = {
            "content-type": "application/json",
            ID: key,
            TIMESTAMP: sent_at,
            SIGNATURE: _signature(self.key, key, sent_at, body),
        }
        self.send(body, headers)
        return key

    def _ticket(self, record: Mapping[str, Any], number: int) -> Incoming:
        place = f"tickets.{number}"
        return Incoming(
            external_id=_needed(record, "id", place),
            title=_text(record, "title", place),
            body=_text(record, "body", place),
            customer=_text(record, "customer", place) or self.customer,
            requester_email=_text(record, "requester_email", place) or None,
            priority=_priority(record, place),
            sla_at=_time(record, "sla_at", place),
            received_at=_time(record, "received_at", place),
            modified_at=_time(record, "modified_at", place),
            closed=record.get("closed") is True,
            source_metadata=_metadata(record, place),
        )


def key_of(secret: str) -> bytes:
    """Return the key of a secret `whsec_BASE64`; ValidationFailed for another."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or not LEAST_KEY_BYTES <= len(key) <= MOST_KEY_BYTES:
        _refuse(
            "secrets.webhook_secret",
            f"is {PREFIX} and base64 of {LEAST_KEY_BYTES} to {MOST_KEY_BYTES} random bytes",
        )
    return key


def _signature(key: bytes, name: str, sent_at: str, body: bytes) -> str:
    signed = f"{name}.{sent_at}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def _records(record: Mapping[str, Any], name: str, fields: set[str]) -> list[dict[str, Any]]:
    items = record.get(name, [])
    if not isinstance(items, list) or len(cast("list[Any]", items)) > MOST:
        _refuse(name, f"is a list of at most {MOST}")
    for number, item in enumerate(cast("list[Any]", items)):
        if not isinstance(item, dict):
            _refuse(f"{name}.{number}", "is an object")
        for unknown in cast("dict[str, Any]", item).keys() - fields:
            _refuse(f"{name}.{number}.{unknown[:40]}", f"is none of {', '.join(sorted(fields))}")
    return cast("list[dict[str, Any]]", items)


def _message(record: Mapping[str, Any], number: int) -> Message:
    place = f"messages.{number}"
    return Message(
        ticket=_needed(record, "ticket", place),
        id=_needed(record, "id", place),
        text=_text(record, "text", place),
        author=_text(record, "author", place) or None,
        written_at=_time(record, "written_at", place),
    )


def _text(record: Mapping[str, Any], name: str, place: str) -> str:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        _refuse(f"{place}.{name}", "is a text")
    return value or ""


def _needed(record: Mapping[str, Any], name: str, place: str) -> str:
    value = _text(record, name, place)
    if not value.strip():
        _refuse(f"{place}.{name}", "is needed")
    return value


def _priority(record: Mapping[str, Any], place: str) -> Priority:
    try:
        return Priority(_text(record, "priority", place) or Priority.MEDIUM.value)
    except ValueError:
        _refuse(f"{place}.priority", f"is one of {', '.join(each.value for each in Priority)}")


def _time(record: Mapping[str, Any], name: str, place: str) -> datetime | None:
    at = time_at(record, name)
    if at is None and _text(record, name, place):
        _refuse(f"{place}.{name}", "is an ISO 8601 time")
    return at


def _metadata(record: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    metadata = record.get("metadata", {})
    if not isinstance(metadata, dict):
        _refuse(f"{place}.metadata", "is an object")
    return cast("dict[str, Any]", metadata)


def _refuse(place: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{place} {message}.", errors=[FieldError(place, message)])
