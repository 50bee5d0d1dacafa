"""Verification names the first bad position and the reason."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.ledger.chains import NOW, OTHER_WORKSPACE, WORKSPACE, chain

from cairn.ledger.chain import empty_head, entry_hash, head_of
from cairn.ledger.entry import Actor, ActorKind, Entry
from cairn.ledger.verify import Fault, verify

CHAIN = chain(8)


def resealed(entry: Entry) -> Entry:
    """What a forger with write access would store: the hash recomputed over the lie."""
    return replace(entry, hash=entry_hash(entry))


def with_change(position: int, change: Callable[[Entry], Entry]) -> list[Entry]:
    return [change(entry) if entry.position == position else entry for entry in CHAIN]


def test_a_good_chain_holds_and_ends_at_its_head() -> None:
    outcome = verify(CHAIN, workspace_id=WORKSPACE, expected=head_of(CHAIN[-1]))
    assert outcome.ok
    assert outcome.checked == 8
    assert outcome.first_bad_position is None
    assert outcome.head == head_of(CHAIN[-1])


def test_an_empty_chain_holds() -> None:
    outcome = verify([], workspace_id=WORKSPACE, expected=empty_head(WORKSPACE))
    assert outcome.ok
    assert outcome.head == empty_head(WORKSPACE)


def test_verification_can_start_at_a_trusted_head() -> None:
    outcome = verify(CHAIN[3:], workspace_id=WORKSPACE, start=head_of(CHAIN[2]))
    assert outcome.ok
    assert outcome.checked == 5


def test_entries_are_taken_one_at_a_time_and_no_further_than_the_first_bad_one() -> None:
    taken: list[int] = []

    def stream() -> Iterator[Entry]:
        for entry in with_change(3, lambda bad: replace(bad, type="memory.forged")):
            taken.append(entry.position)
            yield entry

    assert verify(stream(), workspace_id=WORKSPACE).first_bad_position == 3
    assert taken == [1, 2, 3]


@pytest.mark.parametrize(
    ("entries", "position", "reason"),
    [
        (CHAIN[1:], 1, Fault.GAP),
        ([*CHAIN[:3], *CHAIN[4:]], 4, Fault.GAP),
        ([*CHAIN[:3], CHAIN[2], *CHAIN[3:]], 4, Fault.GAP),
        ([CHAIN[1], CHAIN[0], *CHAIN[2:]], 1, Fault.GAP),
        (
            with_change(4, lambda e: replace(e, workspace_id=OTHER_WORKSPACE)),
            4,
            Fault.FOREIGN_ENTRY,
        ),
        (with_change(5, lambda e: replace(e, prev_hash=bytes(32))), 5, Fault.PREV_MISMATCH),
        (with_change(5, lambda e: replace(e, hash=bytes(32))), 5, Fault.HASH_MISMATCH),
        (with_change(4, lambda e: resealed(replace(e, meta_text="{}"))), 5, Fault.PREV_MISMATCH),
        (with_change(2, lambda e: replace(e, body=e.body[:-1])), 2, Fault.BODY_MISMATCH),
        (with_change(2, lambda e: replace(e, body_hash=bytes(32))), 2, Fault.BODY_MISMATCH),
        (
            with_change(2, lambda e: replace(e, body=b"", body_hash=hashlib.sha256(b"").digest())),
            2,
            Fault.HASH_MISMATCH,
        ),
        (
            with_change(6, lambda e: resealed(replace(e, meta_text='{"a": 1}'))),
            6,
            Fault.META_NOT_CANONICAL,
        ),
        (
            with_change(6, lambda e: resealed(replace(e, meta_text="[]"))),
            6,
            Fault.META_NOT_CANONICAL,
        ),
        (with_change(6, lambda e: replace(e, meta_text='{"a":1}')), 6, Fault.HASH_MISMATCH),
        (with_change(6, lambda e: replace(e, trace_id="\ud800")), 6, Fault.HASH_MISMATCH),
        (
            with_change(7, lambda e: resealed(replace(e, recorded_at=NOW - timedelta(days=1)))),
            7,
            Fault.TIME_WENT_BACK,
        ),
    ],
)
def test_the_first_bad_position_and_its_reason_are_named(
    entries: list[Entry], position: int, reason: Fault
) -> None:
    outcome = verify(entries, workspace_id=WORKSPACE)
    assert not outcome.ok
    assert (outcome.first_bad_position, outcome.reason) == (position, reason)
    assert outcome.checked == position - 1


def other_value(entry: Entry, field: str, noise: int) -> Any:
    """A value of the field's type that differs from what is stored."""
    value: Any = getattr(entry, field)
    if isinstance(value, Actor):
        return Actor(kind=ActorKind.USER, id=value.id) if noise % 2 else replace(value, id="other")
    if isinstance(value, bytes):
        changed = bytearray(value)
        changed[noise % len(value)] ^= 1 + noise % 255
        return bytes(changed)
    if isinstance(value, tuple):
        return () if noise % 2 else (*value, UUID(int=noise))
    if isinstance(value, UUID):
        return UUID(int=value.int ^ (1 << noise % 128))
    if isinstance(value, int):
        return value + 1 + noise
    if value is None:
        return f"x{noise}"
    if isinstance(value, str):
        return value[:-1] + chr(1 + ord(value[-1]))
    return value + timedelta(microseconds=1 + noise)


@settings(max_examples=300)
@given(st.integers(0, 7), st.sampled_from([f.name for f in fields(Entry)]), st.integers(0, 10_000))
def test_a_change_of_any_single_field_is_found_where_it_is(
    index: int, field: str, noise: int
) -> None:
    forged = replace(CHAIN[index], **{field: other_value(CHAIN[index], field, noise)})
    entries = [*CHAIN[:index], forged, *CHAIN[index + 1 :]]
    outcome = verify(entries, workspace_id=WORKSPACE)
    assert not outcome.ok
    assert outcome.first_bad_position == index + 1


def test_a_chain_cut_at_its_end_is_found_through_the_head() -> None:
    assert verify(CHAIN[:5], workspace_id=WORKSPACE).ok
    outcome = verify(CHAIN[:5], workspace_id=WORKSPACE, expected=head_of(CHAIN[7]))
    assert (outcome.first_bad_position, outcome.reason) == (6, Fault.HEAD_MISMATCH)


def test_entries_beyond_the_head_are_found() -> None:
    outcome = verify(CHAIN, workspace_id=WORKSPACE, expected=head_of(CHAIN[5]))
    assert (outcome.first_bad_position, outcome.reason) == (7, Fault.HEAD_MISMATCH)


def test_a_last_entry_rewritten_with_its_hash_is_found_through_the_head() -> None:
    entries = with_change(8, lambda entry: resealed(replace(entry, type="memory.forged")))
    assert verify(entries, workspace_id=WORKSPACE).ok
    outcome = verify(entries, workspace_id=WORKSPACE, expected=head_of(CHAIN[7]))
    assert (outcome.first_bad_position, outcome.reason) == (8, Fault.HEAD_MISMATCH)


def test_a_chain_rewritten_whole_is_found_through_an_anchor() -> None:
    rewritten = chain(8)  # other nonces, so other bodies
    assert verify(rewritten, workspace_id=WORKSPACE, expected=head_of(rewritten[-1])).ok
    outcome = verify(rewritten, workspace_id=WORKSPACE, anchors={4: CHAIN[3].hash})
    assert (outcome.first_bad_position, outcome.reason) == (4, Fault.HEAD_MISMATCH)


def test_a_good_chain_agrees_with_its_anchors() -> None:
    anchors = {2: CHAIN[1].hash, 8: CHAIN[7].hash}
    assert verify(CHAIN, workspace_id=WORKSPACE, anchors=anchors).ok


def test_an_anchor_beyond_the_end_shows_a_cut() -> None:
    outcome = verify(CHAIN[:5], workspace_id=WORKSPACE, anchors={7: CHAIN[6].hash})
    assert (outcome.first_bad_position, outcome.reason) == (6, Fault.HEAD_MISMATCH)
