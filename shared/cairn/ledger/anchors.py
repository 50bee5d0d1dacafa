"""Heads of chains, signed and kept where the database's owner cannot change them. Pure.

An anchor says: at `verified_at` the chain held, and its entry at `position` had this `hash`. The
anchors of a workspace are numbered 1, 2, 3, ..., and each names the digest of the one before, so
that one that is missing shows. Not the store they are kept in, and not the chain's own check.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import format_timestamp, parse_timestamp
from cairn.ledger.signing import is_signed, read_statement, sign_statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from cairn.ledger.entry import Head
    from cairn.ledger.signing import Signer, Verifier

FORMAT = "cairn-anchor-1"
_HASH_BYTES = 32


class AnchorFault(StrEnum):
    """Why an object among the anchors is not trusted, or what the anchors together lack."""

    UNSIGNED = "unsigned"  # of the time before signatures: told, never trusted, not a failure
    MALFORMED = "malformed"  # no JSON object with an anchor's fields
    NOT_AUTHENTIC = "not-authentic"  # altered, or signed by a key that is not known here
    FOREIGN = "foreign"  # a good anchor of another workspace, moved here
    MISSING = "missing"  # the numbers leave this one out, or the next one names another
    UNANCHORED = "unanchored"  # there are entries, and no trusted anchor to hold them to
    OVERDUE = "overdue"  # entries are older than two days and no anchor covers them


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A trusted anchor. `digest` is SHA-256 over its stored bytes, `previous` the one before's."""

    workspace_id: UUID
    number: int
    position: int
    hash: bytes
    recorded_at: datetime
    verified_at: datetime
    previous: str | None
    digest: str


def new_anchor(signer: Signer, head: Head, last: Anchor | None, now: datetime) -> bytes:
    """Return the bytes of the anchor of `head` that follows `last` (None: the first)."""
    return sign_statement(
        signer,
        {
            "format": FORMAT,
            "workspace_id": str(head.workspace_id),
            "number": last.number + 1 if last else 1,
            "position": head.position,
            "hash": head.hash.hex(),
            "recorded_at": format_timestamp(head.recorded_at),
            "verified_at": format_timestamp(now),
            "previous": last.digest if last else None,
        },
    )


def read_anchor(stored: bytes, workspace_id: UUID, verifier: Verifier) -> Anchor | AnchorFault:
    """Return the anchor in `stored`, or why it cannot be trusted to be one of this workspace."""
    try:
        statement = read_statement(stored)
    except ValidationFailed:
        return AnchorFault.MALFORMED
    if statement.signature is None:
        return AnchorFault.UNSIGNED if "hash" in statement.fields else AnchorFault.MALFORMED
    if not is_signed(verifier, statement, FORMAT):
        return AnchorFault.NOT_AUTHENTIC
    try:
        anchor = _anchor(dict(statement.fields), sha256(stored).hexdigest())
    except (ValidationFailed, ValueError, KeyError, TypeError, AttributeError):
        return AnchorFault.MALFORMED
    return anchor if anchor.workspace_id == workspace_id else AnchorFault.FOREIGN


def missing_numbers(anchors: Iterable[Anchor]) -> Sequence[int]:
    """Return the numbers below the highest whose anchor is not there.

    Two runs at once may both write a number; one of the two is enough, unless the next anchor
    names the other.
    """
    by_number: dict[int, list[Anchor]] = defaultdict(list)
    for anchor in anchors:
        by_number[anchor.number].append(anchor)
    missing: set[int] = set()
    for number in range(1, max(by_number, default=0) + 1):
        there = {anchor.digest for anchor in by_number.get(number - 1, ())}
        previous = {anchor.previous for anchor in by_number.get(number, ()) if anchor.previous}
        if not by_number.get(number):
            missing.add(number)
        elif previous - there or (number > 1 and not there):
            missing.add(number - 1)
    return sorted(missing)


def _anchor(fields: dict[str, Any], digest: str) -> Anchor:
    anchor = Anchor(
        workspace_id=UUID(fields["workspace_id"]),
        number=int(fields["number"]),
        position=int(fields["position"]),
        hash=bytes.fromhex(fields["hash"]),
        recorded_at=parse_timestamp(fields["recorded_at"]),
        verified_at=parse_timestamp(fields["verified_at"]),
        previous=fields["previous"],
        digest=digest,
    )
    if anchor.number < 1 or anchor.position < 1 or len(anchor.hash) != _HASH_BYTES:
        raise ValueError("out of range")
    return anchor
