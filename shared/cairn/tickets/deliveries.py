"""What every webhook's delivery is read and checked with. Which signature it is, its desk says."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.errors import Unauthenticated, ValidationFailed

if TYPE_CHECKING:
    from datetime import datetime

    from cairn.tickets.adapter import Delivered

WINDOW_SECONDS = 300
"""How far the time of a delivery may be from ours: what is older may be a replay."""

MAX_DELIVERY_CHARS = 100
_SECONDS = re.compile(r"[0-9]{1,12}")


def document_of(delivered: Delivered) -> Any:
    """Return the body as JSON; ValidationFailed for another."""
    try:
        return json.loads(delivered.body)
    except (ValueError, RecursionError) as exc:
        raise ValidationFailed("This delivery is not JSON.", reason="not-json") from exc


def record_of(delivered: Delivered) -> dict[str, Any]:
    """Return the body's object, an empty one for other JSON; ValidationFailed as above."""
    document = document_of(delivered)
    return cast("dict[str, Any]", document) if isinstance(document, dict) else {}


def delivery_id(by_desk: str, delivered: Delivered) -> str:
    """Return what a delivery is called by its desk; without that, the hash of its body."""
    short = by_desk[:MAX_DELIVERY_CHARS]
    return (
        short if short.strip() and short.isascii() else hashlib.sha256(delivered.body).hexdigest()
    )


def check_signature(sent: str, expected: str) -> None:
    """Raise Unauthenticated unless both are the same; takes as long for any that is wrong."""
    if not sent:
        raise Unauthenticated("This delivery is not signed.", reason="unsigned")
    if not hmac.compare_digest(expected.encode(), sent.encode("utf-8", errors="replace")):
        raise Unauthenticated("This delivery's signature does not hold.", reason="bad-signature")


def check_now(sent_at: str, now: datetime) -> None:
    """Raise Unauthenticated unless seconds since 1970 are within the window."""
    if not _SECONDS.fullmatch(sent_at):
        raise Unauthenticated("This delivery is not signed.", reason="unsigned")
    if abs(now.timestamp() - int(sent_at)) > WINDOW_SECONDS:
        raise Unauthenticated("This delivery is too old.", reason="stale")
