"""Sealing entries onto a head, and the bytes a hash covers."""

import hashlib
import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.unit.ledger.chains import NOW, OTHER_WORKSPACE, SUBJECT, WORKSPACE, chain, new_entry

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import canonical_bytes
from cairn.ledger.chain import empty_head, genesis, head_of, header_bytes, seal
from cairn.ledger.entry import ENTRY_TYPE, Actor, ActorKind, NewEntry


def test_genesis_is_the_hash_of_the_ids_16_bytes() -> None:
    raw = bytes.fromhex("0198c2f47b1e7c3a9f550a1b2c3d4e5f")
    assert genesis(WORKSPACE) == hashlib.sha256(raw).digest()
    assert empty_head(WORKSPACE).hash == genesis(WORKSPACE)
    assert empty_head(WORKSPACE).position == 0


def test_each_hash_covers_the_one_before_and_the_header() -> None:
    entries = chain(7)
    previous = genesis(WORKSPACE)
    for position, entry in enumerate(entries, start=1):
        assert entry.position == position
        assert entry.prev_hash == previous
        assert entry.body_hash == hashlib.sha256(entry.body).digest()
        previous = hashlib.sha256(b"\x01" + previous + header_bytes(entry)).digest()
        assert entry.hash == previous


def test_a_header_is_canonical_and_spelled_as_documented() -> None:
    entry = chain(1)[0]
    header = json.loads(header_bytes(entry))
    assert canonical_bytes(header) == header_bytes(entry)
    assert header == {
        "actor_id": "scout",
        "actor_kind": "agent",
        "body_hash": entry.body_hash.hex(),
        "data_subjects": ["00000000-0000-0000-0000-000000000007"],
        "id": "00000000-0000-0000-0000-0000000003e8",
        "meta": '{"kind":"fact","n":0,"node":"00000000-0000-0000-0000-000000000000"}',
        "occurred_at": "2026-03-20T09:30:00.000000Z",
        "parent_id": "00000000-0000-0000-0000-000000000005",
        "position": 1,
        "recorded_at": "2026-03-20T09:30:00.000000Z",
        "session_id": "s-1",
        "trace_id": None,
        "type": "memory.created",
        "workspace_id": "0198c2f4-7b1e-7c3a-9f55-0a1b2c3d4e5f",
    }


def test_headers_stay_canonical_with_any_script_in_them() -> None:
    odd = replace(chain(1)[0], session_id='é"\\\n\u0001😀', meta_text='{"é":"\ufb33"}')
    assert canonical_bytes(json.loads(header_bytes(odd))) == header_bytes(odd)


def test_recorded_time_never_goes_back_when_the_clock_does() -> None:
    first = seal(empty_head(WORKSPACE), [new_entry(1)], NOW)
    second = seal(head_of(first[0]), [new_entry(2)], NOW - timedelta(hours=1))
    assert second[0].recorded_at == NOW


def test_data_subjects_are_stored_sorted_and_once() -> None:
    twice = replace(new_entry(1), data_subjects=(UUID(int=9), SUBJECT, UUID(int=9)))
    assert seal(empty_head(WORKSPACE), [twice], NOW)[0].data_subjects == (SUBJECT, UUID(int=9))


def test_meta_is_kept_as_canonical_text_and_reads_back() -> None:
    new = replace(new_entry(1), meta={"b": 1, "a": None})
    entry = seal(empty_head(WORKSPACE), [new], NOW)[0]
    assert entry.meta_text == '{"a":null,"b":1}'
    assert entry.meta == {"a": None, "b": 1}


def test_nothing_is_sealed_where_nothing_is_new() -> None:
    assert seal(empty_head(WORKSPACE), [], NOW) == []


def test_an_entry_of_another_workspace_is_refused() -> None:
    with pytest.raises(ValidationFailed):
        seal(empty_head(OTHER_WORKSPACE), [new_entry(1)], NOW)


def test_meta_with_a_float_is_refused() -> None:
    with pytest.raises(ValidationFailed):
        seal(empty_head(WORKSPACE), [replace(new_entry(1), meta={"score": 0.5})], NOW)


@pytest.mark.parametrize(
    "change",
    [
        {"type": "created"},
        {"type": "Memory.created"},
        {"type": "memory.created\n"},
        {"type": "a." + "b" * 100},
        {"occurred_at": datetime(2026, 1, 1)},  # noqa: DTZ001
        {"session_id": "a\0"},
        {"trace_id": "\ud800"},
        {"actor": Actor(kind=ActorKind.USER, id="\0")},
    ],
)
def test_a_malformed_entry_cannot_be_made(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        replace(new_entry(1), **change)


@pytest.mark.parametrize("name", ["memory.created", "action.applied", "node.enriched", "a.b_2.c"])
def test_dot_namespaced_names_are_types(name: str) -> None:
    assert ENTRY_TYPE.fullmatch(name)


def test_an_entry_needs_neither_subjects_nor_a_body() -> None:
    bare = NewEntry(
        id=UUID(int=1),
        workspace_id=WORKSPACE,
        type="chain.anchored",
        actor=Actor(kind=ActorKind.SYSTEM, id="audit"),
        occurred_at=NOW,
        meta={},
    )
    assert seal(empty_head(WORKSPACE), [bare], NOW)[0].body_hash == hashlib.sha256(b"").digest()
