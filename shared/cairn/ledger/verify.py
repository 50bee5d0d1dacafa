"""Walks a chain and names the first bad position. Not a repair, and needs no key: bodies stay shut.

A chain alone cannot show that its tail was cut or that it was rewritten as a whole; `expected` (the
stored head) and `anchors` (heads published elsewhere) can.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from uuid import UUID

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import parse_canonical
from cairn.ledger.chain import empty_head, entry_hash, head_of
from cairn.ledger.entry import Entry, Head


class Fault(StrEnum):
    """What is wrong with the first bad entry, in the order of checking."""

    FOREIGN_ENTRY = "foreign-entry"  # belongs to another workspace
    GAP = "gap"  # the position that should come next is missing, or one is repeated
    PREV_MISMATCH = "prev-mismatch"  # prev_hash is not the hash of the entry before
    BODY_MISMATCH = "body-mismatch"  # body_hash is not SHA-256 of the body
    META_NOT_CANONICAL = "meta-not-canonical"  # meta is not a canonical JSON object
    HASH_MISMATCH = "hash-mismatch"  # the hash does not cover the header as it stands
    TIME_WENT_BACK = "time-went-back"  # recorded_at is earlier than the entry before
    HEAD_MISMATCH = "head-mismatch"  # the chain ends elsewhere than its head or anchor says


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The outcome. `checked` counts good entries; `head` is the last good one.

    When `ok` is false, `first_bad_position` and `reason` are set.
    """

    ok: bool
    checked: int
    first_bad_position: int | None
    reason: Fault | None
    head: Head


def verify(
    entries: Iterable[Entry],
    *,
    workspace_id: UUID,
    start: Head | None = None,
    expected: Head | None = None,
    anchors: Mapping[int, bytes] | None = None,
) -> Verification:
    """Check `entries`, ordered by position, one at a time; stops at the first bad one.

    `start` is a head already trusted (None: the empty chain), `expected` where the chain must end,
    `anchors` maps positions to the hashes they must have (those up to `start` are not looked at).
    """
    head = start or empty_head(workspace_id)
    hashes = {at: value for at, value in (anchors or {}).items() if at > head.position}
    checked = 0
    for entry in entries:
        if (fault := fault_of(entry, head, hashes)) is not None:
            return _bad(checked, head.position + 1, fault, head)
        head = head_of(entry)
        checked += 1
    if expected is not None:
        hashes[expected.position] = expected.hash
    if (bad_end := _bad_end(head, expected, hashes)) is not None:
        return _bad(checked, bad_end, Fault.HEAD_MISMATCH, head)
    return Verification(ok=True, checked=checked, first_bad_position=None, reason=None, head=head)


def fault_of(
    entry: Entry, head: Head, anchors: Mapping[int, bytes] = MappingProxyType({})
) -> Fault | None:
    """Return what is wrong with the entry that should come after `head`, None when nothing is."""
    if entry.workspace_id != head.workspace_id:
        return Fault.FOREIGN_ENTRY
    if entry.position != head.position + 1:
        return Fault.GAP
    if entry.prev_hash != head.hash:
        return Fault.PREV_MISMATCH
    if hashlib.sha256(entry.body).digest() != entry.body_hash:
        return Fault.BODY_MISMATCH
    if not _is_canonical_object(entry.meta_text):
        return Fault.META_NOT_CANONICAL
    if not _hash_holds(entry):
        return Fault.HASH_MISMATCH
    if entry.recorded_at < head.recorded_at:
        return Fault.TIME_WENT_BACK
    if anchors.get(entry.position, entry.hash) != entry.hash:
        return Fault.HEAD_MISMATCH
    return None


def _is_canonical_object(text: str) -> bool:
    if text == "{}":
        return True
    try:
        return isinstance(parse_canonical(text), dict)
    except ValidationFailed:
        return False


def _hash_holds(entry: Entry) -> bool:
    try:
        return entry_hash(entry) == entry.hash
    except (ValidationFailed, UnicodeEncodeError):
        return False


def _bad_end(head: Head, expected: Head | None, hashes: Mapping[int, bytes]) -> int | None:
    """Return the first position at which the end disagrees with what is known of it."""
    if any(position > head.position for position in hashes):
        return head.position + 1
    if expected is None:
        return None
    if expected.position < head.position:
        return expected.position + 1
    return None if expected.hash == head.hash else head.position


def _bad(checked: int, position: int, reason: Fault, head: Head) -> Verification:
    return Verification(
        ok=False, checked=checked, first_bad_position=position, reason=reason, head=head
    )
