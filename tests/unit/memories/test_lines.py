"""Memories as records of a file: read back as they were, and refused when they were changed."""

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.memory_graphs import help_desk

from cairn.graph.memory_dump import (
    MAX_LINE_BYTES,
    DumpRefused,
    MemoryLine,
    dump_lines,
    file_lines,
    read_file,
)
from cairn.kernel.errors import TooLarge
from cairn.kernel.text.canonical import canonical_bytes
from cairn.memories.lines import as_request, memory_record, new_memory

VIEW: dict[str, Any] = {
    "id": "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e",
    "text": "Acme runs on Next.js.",
    "type": "fact",
    "state": "active",
    "client_id": "acme",
    "scope": "admin",
    "agents": ["scout", "clerk"],
    "importance": 7,
    "confidence": 0.35,
    "key": "stack",
    "subject": None,
    "status_value": None,
    "category": "semantic",
    "knowledge_category": "general",
    "source_agent": "scout",
    "occurred_at": "2026-03-15T11:00:00+01:00",
    "valid_from": "2026-03-15T10:00:00Z",
    "valid_to": None,
    "session_id": None,
    "sequence": None,
    "trace_id": None,
    "metadata": {},
    "observation_count": 3,
}


def record(**changes: Any) -> dict[str, Any]:
    made = memory_record({**VIEW, **changes})
    assert made is not None
    return made


def ordered(*records: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(records, key=lambda record: (record["occurred_at"], canonical_bytes(record)))


def refused(records: list[dict[str, Any]]) -> DumpRefused:
    with pytest.raises(DumpRefused) as caught:
        list(read_file(dump_lines(help_desk(), records), new_memory))
    return caught.value


def test_a_record_has_what_the_writer_decided_and_no_id() -> None:
    made = record()
    assert made["occurred_at"] == "2026-03-15T10:00:00.000000Z"
    assert (made["confidence"], made["agents"]) == ("0.35", ["clerk", "scout"])
    assert not {"id", "position", "observation_count", "data_subjects"} & made.keys()
    new = new_memory(made)
    assert (new.text, new.key, new.confidence) == (VIEW["text"], "stack", 0.35)
    asked = as_request(made)
    assert (asked["confidence"], asked["agents"]) == (0.35, ["clerk", "scout"])
    assert not {"kind", "state", "valid_to", "subject"} & asked.keys()


@pytest.mark.parametrize("state", ["expired", "archived", "quarantined", "provisional"])
def test_what_does_not_hold_and_was_not_replaced_stays_behind(state: str) -> None:
    assert memory_record({**VIEW, "state": state}) is None


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(1 - 2**53, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "7", "0.5", "x"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["$number", "a", "b"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from(["$number", "a", "b"]), JSON, max_size=2))
def test_metadata_of_any_kind_is_read_back_as_it_was(metadata: dict[str, Any]) -> None:
    made = record(metadata=metadata)
    canonical_bytes(made)
    assert repr(as_request(made)["metadata"]) == repr(metadata)


def test_a_number_that_the_store_gives_back_as_a_huge_integer_can_be_written_again() -> None:
    made = record(metadata={"a": 10**300})
    assert made["metadata"] == {"a": {"$number": "1e+300"}}
    assert new_memory(made).metadata == {"a": 1e300}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"id": "x"}, "fields"),
        ({"state": "archived"}, "state"),
        ({"text": 7}, "type"),
        ({"text": " "}, "empty"),
        ({"type": "rumour"}, "unknown-value"),
        ({"scope": "everybody"}, "unknown-value"),
        ({"category": "x"}, "unknown-value"),
        ({"knowledge_category": "x"}, "unknown-value"),
        ({"agents": ["b", "a"]}, "type"),
        ({"agents": "a"}, "type"),
        ({"importance": 11}, "range"),
        ({"importance": True}, "type"),
        ({"sequence": -1}, "range"),
        ({"confidence": "1"}, "range"),
        ({"confidence": "1.5"}, "range"),
        ({"confidence": "nan"}, "range"),
        ({"metadata": []}, "type"),
        ({"metadata": {"a": {"$number": "7"}}}, "type"),
        ({"metadata": {"a": {"$number": "many"}}}, "type"),
        ({"metadata": {"$number": "0.5"}}, "changed"),
        ({"metadata": {"a": {"$number": "nan"}}}, "not-finite"),
        ({"occurred_at": "2026-03-15T10:00:00Z"}, "changed"),
        ({"occurred_at": None}, "type"),
        ({"valid_from": "yesterday"}, "bad-timestamp"),
        ({"valid_to": "2026-03-14T10:00:00.000000Z"}, "validation-failed"),
        ({"text": "x" * 32_001}, "too-large"),
    ],
)
def test_a_record_that_is_wrong_is_named_by_its_line(changes: dict[str, Any], reason: str) -> None:
    first = record(occurred_at="2026-01-01T00:00:00Z")
    error = refused([first, {**record(), **changes}])
    assert (error.line, error.reason) == (len(help_desk()) + 3, reason)


def test_a_file_gives_back_memories_with_their_lines() -> None:
    records = ordered(record(), record(text="Other."), record(occurred_at="2027-01-01T00:00:00Z"))
    lines = list(dump_lines(help_desk(), records))
    found = list(read_file(file_lines(io.BytesIO(b"".join(lines))), new_memory))
    assert found[: len(help_desk())] == help_desk()
    told = [item for item in found if isinstance(item, MemoryLine)]
    assert [item.record for item in told] == records
    assert [canonical_bytes(item.record) + b"\n" for item in told] == [
        lines[item.number - 1] for item in told
    ]


def test_order_repeats_and_counts_are_checked() -> None:
    one, other = ordered(record(), record(text="Other."))
    assert refused([other, one]).reason == "order"
    assert refused([one, one]).reason == "duplicate-memory"
    lines = list(dump_lines(help_desk(), [one, other]))
    for changed, reason in (
        ([*lines[:-2], lines[-1]], "counts"),
        ([lines[0], lines[-2], *lines[1:-2], lines[-1]], "order"),
        ([lines[0], lines[-3].replace(b"Acme", b"Bcme"), lines[-1]], "counts"),
        ([*lines[:-2], lines[-2].replace(b'"acme"', b'"bcme"'), lines[-1]], "checksum"),
    ):
        with pytest.raises(DumpRefused) as caught:
            list(read_file(changed, new_memory))
        assert caught.value.reason == reason


def test_the_largest_memory_fits_a_line() -> None:
    most = record(
        text="\x01" * 31_999 + "x",
        agents=["\x01" * 254 + f"{n:02}" for n in range(50)],
        metadata={"a": [0.5] * 3_200},
        **dict.fromkeys(("key", "subject", "session_id", "trace_id"), "\x01" * 255 + "x"),
    )
    line = canonical_bytes(most)
    assert 300_000 < len(line) < MAX_LINE_BYTES
    with pytest.raises(TooLarge):
        new_memory({**most, "metadata": {"a": "x" * 16_384}})
