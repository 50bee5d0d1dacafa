"""What a source said, checked or mended, so that every store can keep it. Pure; not the keeping.

A caller of the API is told what is wrong. A help desk is not: what it sends is mended and cut,
since a ticket must never be lost over its form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import FieldError, TooLarge, ValidationFailed
from cairn.kernel.text.canonical import check_characters
from cairn.kernel.text.checks import clean_json, clean_text
from cairn.tickets.ticket import MAX_BODY_CHARS, MAX_TITLE_CHARS
from cairn.writing.checks import EARLIEST_YEAR, LATEST_YEAR, moment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cairn.tickets.adapter import Incoming, Message

MAX_STORED_CHARS = 1_000_000
"""Of a body in the ledger. Longer ones are refused over the API; a source's are cut."""

MAX_EXTERNAL_ID_CHARS = 200
MAX_CUSTOMER_CHARS = 200
MAX_EMAIL_CHARS = 254
MAX_METADATA_BYTES = 16_384
MAX_METADATA_DEPTH = 5
NO_TITLE = "(no title)"
NO_TEXT = "(no text)"
CUT = "\n[cut by cairn: {count} characters in all]"

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketText:
    """What a ticket says, as it is sealed into its row; `cut` bodies are whole in the ledger."""

    title: str
    body: str
    customer: str
    requester_email: str | None
    source_metadata: Mapping[str, Any]
    cut: bool = False


def checked(given: Incoming) -> Incoming:
    """Return it unchanged; ValidationFailed or TooLarge names the field that cannot be kept."""
    clean_text(given.external_id, field="external_id", max_chars=MAX_EXTERNAL_ID_CHARS)
    clean_text(given.title, field="title", max_chars=MAX_TITLE_CHARS)
    _checked("body", given.body, MAX_STORED_CHARS)
    _checked("customer", given.customer, MAX_CUSTOMER_CHARS)
    if given.requester_email is not None:
        clean_text(given.requester_email, field="requester_email", max_chars=MAX_EMAIL_CHARS)
    for name in ("sla_at", "received_at", "modified_at"):
        moment(getattr(given, name), name)
    _metadata(given.source_metadata)
    return given


def mended(given: Incoming) -> Incoming:
    """Return it as it can be kept; ValidationFailed only when it names no ticket at all."""
    external_id = _mended(given.external_id, MAX_EXTERNAL_ID_CHARS)
    if external_id != given.external_id or not external_id.strip():
        raise ValidationFailed(
            "A ticket of this source has no id that can be kept.",
            reason="external-id",
            errors=[FieldError("external_id", "must be 1 to 200 characters")],
        )
    email = _mended(given.requester_email or "", MAX_EMAIL_CHARS)
    return replace(
        given,
        title=_mended(given.title, MAX_TITLE_CHARS).strip() or NO_TITLE,
        body=shortened(_mended(given.body), MAX_STORED_CHARS),
        customer=_mended(given.customer, MAX_CUSTOMER_CHARS),
        requester_email=email or None,
        sla_at=_within(given.sla_at),
        received_at=_within(given.received_at),
        modified_at=_within(given.modified_at),
        source_metadata=_mended_metadata(given.source_metadata),
    )


def checked_message(given: Message) -> Message:
    """Return it unchanged; ValidationFailed or TooLarge names the field that cannot be kept."""
    clean_text(given.id, field="external_id", max_chars=MAX_EXTERNAL_ID_CHARS)
    _checked("text", given.text, MAX_STORED_CHARS)
    clean_text(given.text, field="text", max_chars=MAX_STORED_CHARS)
    moment(given.written_at, "written_at")
    return given


def mended_message(given: Message) -> Message | None:
    """Return it as it can be kept; None when it has no id that can be."""
    message_id = _mended(given.id, MAX_EXTERNAL_ID_CHARS)
    if message_id != given.id or not message_id.strip():
        return None
    text = shortened(_mended(given.text), MAX_STORED_CHARS)
    written_at = _within(given.written_at)
    return replace(given, text=text.strip() or NO_TEXT, written_at=written_at)


def text_of(given: Incoming) -> TicketText:
    """Return what of a checked ticket its row holds."""
    return TicketText(
        title=given.title,
        body=shortened(given.body, MAX_BODY_CHARS),
        customer=given.customer,
        requester_email=given.requester_email,
        source_metadata=dict(given.source_metadata),
        cut=len(given.body) > MAX_BODY_CHARS,
    )


def shortened(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters; what was cut ends with a marker."""
    if len(text) <= limit:
        return text
    marker = CUT.format(count=len(text))
    return text[: limit - len(marker)] + marker


def _checked(name: str, value: str, limit: int) -> None:
    if len(value) > limit:
        message = f"has {len(value)} characters; at most {limit} are allowed"
        raise TooLarge(f"{name} {message}.", errors=[FieldError(name, message)])
    check_characters(value, name)


def _metadata(value: Mapping[str, Any]) -> None:
    clean_json(
        dict(value),
        field="source_metadata",
        max_bytes=MAX_METADATA_BYTES,
        max_depth=MAX_METADATA_DEPTH,
    )


def _mended(text: str, limit: int | None = None) -> str:
    """Return a text without NUL and lone surrogates, cut at `limit` characters."""
    return _UNSTORABLE.sub(_REPLACEMENT, text)[:limit]


def _mended_metadata(value: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        _metadata(value)
    except ValidationFailed as refused:
        return {"left_out": refused.reason}
    return dict(value)


def _within(value: datetime | None) -> datetime | None:
    """Return a time that stores can keep; None for one that is none."""
    if value is None or value.utcoffset() is None:
        return None
    return value if EARLIEST_YEAR <= value.year <= LATEST_YEAR else None
