"""Doing a write once under an idempotency key: the answer is kept in the write's transaction."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.stores import Stores
from cairn.writing.items import IdempotencyKey
from cairn.writing.ports import StoredAnswer


def replayed_answer(
    stores: Stores, idempotency: IdempotencyKey | None, now: datetime
) -> Mapping[str, Any] | None:
    """Return the answer already given under this key, None when the work is still to be done.

    Raises ValidationFailed (`idempotency-mismatch`) when the key came with another body.
    """
    if idempotency is None:
        return None
    stored = stores.idempotency.find(idempotency.key, now)
    if stored is None:
        return None
    if stored.body_hash != idempotency.body_hash:
        raise ValidationFailed(
            "This Idempotency-Key was used with another body; use a new key for a new request.",
            reason="idempotency-mismatch",
        )
    return stored.answer


def save_answer(
    stores: Stores, idempotency: IdempotencyKey, answer: Mapping[str, Any], now: datetime
) -> None:
    """Keep the answer for 24 hours."""
    stored = StoredAnswer(body_hash=idempotency.body_hash, status=200, answer=answer)
    stores.idempotency.save(idempotency.key, stored, now)
