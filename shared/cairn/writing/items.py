"""What callers hand to the writing use cases and what they get back. Not checked yet."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from cairn.kernel.errors import CairnError

Json = Mapping[str, Any]


class Outcome(StrEnum):
    """What became of one item."""

    CREATED = "created"
    DUPLICATE = "duplicate"  # the same agent had said exactly this
    CORROBORATED = "corroborated"  # another agent had; now both are observers
    SUPERSEDED = "superseded"  # created, and it replaced an earlier one
    REJECTED = "rejected"  # refused; only in batches


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyKey:
    """What the caller sent to make a write repeatable, with the hash of the body it came with.

    `key` is unique per principal for 24 hours. The use case stores both in its own transaction: the
    same key with another hash is ValidationFailed (reason `idempotency-mismatch`), one still in
    flight is Conflict (`idempotency-in-flight`), a repeat returns the first answer as replayed.
    """

    key: str
    body_hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOutcome:
    """What became of one item of a batch. `error` is set exactly when it was rejected."""

    outcome: Outcome
    id: UUID | None = None
    position: int | None = None
    error: CairnError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WarnedOutcome(ItemOutcome):
    """What became of one item, and what its writer should know of it."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """What a soft deletion did: the ledger position of its entry and how many nodes it hid."""

    id: UUID
    position: int
    nodes: int = 1
