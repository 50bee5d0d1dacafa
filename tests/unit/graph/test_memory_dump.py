"""The file of the memory graph: whatever is wrong in it is refused, and its line is named."""

import hashlib
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.memory_graphs import graphs, help_desk, read_graph

from cairn.graph.memory_dump import (
    FORMAT,
    MAX_LINE_BYTES,
    DumpRefused,
    as_record,
    dump_lines,
    file_lines,
    from_record,
)
from cairn.graph.memory_records import Dump, EdgeDump, NodeDump
from cairn.kernel.text.canonical import canonical_bytes

WHOLE = list(dump_lines(help_desk()))
NODES = sum(isinstance(item, NodeDump) for item in help_desk())


def read(lines: list[bytes]) -> list[Dump]:
    return list(read_graph(file_lines(io.BytesIO(b"".join(lines)))))


def refused(lines: list[bytes]) -> DumpRefused:
    with pytest.raises(DumpRefused) as caught:
        read(lines)
    return caught.value


def signed(records: list[Any]) -> list[bytes]:
    """A file of these records as somebody who knows the format would forge it."""
    lines = [canonical_bytes({"format": FORMAT}) + b"\n"]
    lines += [canonical_bytes(record) + b"\n" for record in records]
    kinds = [record.get("kind") for record in records]
    end = {
        "kind": "end",
        "nodes": kinds.count("node"),
        "edges": kinds.count("edge"),
        "memories": kinds.count("memory"),
        "sha256": hashlib.sha256(b"".join(lines)).hexdigest(),
    }
    return [*lines, canonical_bytes(end) + b"\n"]


def records() -> list[Any]:
    return [as_record(item) for item in help_desk()]


def test_a_file_gives_back_what_was_written() -> None:
    assert read(WHOLE) == help_desk()
    assert signed(records()) == WHOLE
    assert read(list(dump_lines([]))) == []


@given(graphs())
def test_every_record_is_read_back_from_its_json(dumps: list[Dump]) -> None:
    for dump in dumps:
        assert from_record(json.loads(json.dumps(as_record(dump)))) == dump


@given(st.data())
def test_one_byte_changed_anywhere_is_refused(data: st.DataObject) -> None:
    whole = b"".join(WHOLE)
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda item: item != whole[at]))
    changed = whole[:at] + bytes([byte]) + whole[at + 1 :]
    refused(changed.splitlines(keepends=True))


@given(st.integers(0, len(b"".join(WHOLE)) - 1))
def test_a_file_cut_anywhere_is_refused(at: int) -> None:
    assert refused([b"".join(WHOLE)[:at]]).line <= len(WHOLE)


def _with(number: int, line: bytes) -> Callable[[], list[bytes]]:
    return lambda: [*WHOLE[: number - 1], line, *WHOLE[number:]]


@pytest.mark.parametrize(
    ("lines", "line", "reason"),
    [
        (list[bytes], 1, "cut-off"),
        (_with(1, b'{"format":"cairn-ledger-1"}\n'), 1, "format"),
        (_with(3, b'{"kind":"node",\n'), 3, "not-json"),
        (_with(3, b"\xff\xfe\n"), 3, "not-json"),
        (_with(3, b"[" * 100_000 + b"\n"), 3, "not-json"),
        (_with(3, b"\n"), 3, "not-json"),
        (_with(3, b"7\n"), 3, "type"),
        (_with(3, b'{ "kind":"node"}\n'), 3, "not-canonical"),
        (_with(3, b'{"kind":"node","kind":"node"}\n'), 3, "not-canonical"),
        (_with(3, b'{"a":"\\u0000"}\n'), 3, "nul"),
        (_with(3, b'{"a":"\\ud800"}\n'), 3, "lone-surrogate"),
        (_with(3, b'{"a":1.5}\n'), 3, "type"),
        (_with(3, b'{"a":"' + b"x" * 10_000_000 + b'"}\n'), 3, "too-large"),
        (lambda: [*WHOLE, WHOLE[1]], len(WHOLE) + 1, "after-the-end"),
        (lambda: WHOLE[:-1], len(WHOLE), "cut-off"),
        (lambda: [*WHOLE[:3], *WHOLE[4:]], 11, "dangling-edge"),
        (lambda: [*WHOLE[:-2], WHOLE[-1]], len(WHOLE) - 1, "counts"),
    ],
)
def test_what_is_wrong_is_named_by_its_line(
    lines: Callable[[], list[bytes]], line: int, reason: str
) -> None:
    error = refused(lines())
    assert (error.line, error.reason) == (line, reason)
    assert f"Line {line} " in error.detail


def _changed(number: int, **changes: Any) -> list[bytes]:
    given = records()
    given[number] = {**given[number], **changes}
    return signed(given)


@pytest.mark.parametrize(
    ("number", "changes", "reason"),
    [
        (0, {"label": "Memory"}, "reserved-label"),
        (0, {"label": 7}, "validation-failed"),
        (0, {"label": "Connector"}, "changed"),
        (0, {"natural_key": ""}, "empty"),
        (0, {"properties": None}, "type"),
        (0, {"status": "deleted"}, "validation-failed"),
        (0, {"id": "0"}, "fields"),
        (0, {"kind": "vertex"}, "kind"),
        (1, {"label": "connector", "natural_key": "connector:postgres-main"}, "duplicate-node"),
        (1, {"label": "a"}, "order"),
        (NODES, {"relation": "KNOWS"}, "unknown-relation"),
        (NODES, {"relation": "uses"}, "changed"),
        (NODES, {"weight": "1"}, "changed"),
        (NODES, {"weight": "nan"}, "validation-failed"),
        (NODES, {"weight": 1}, "type"),
        (NODES, {"observed_at": "2026-02-30T00:00:00Z"}, "bad-timestamp"),
        (NODES, {"target": ["fact", "nowhere"]}, "dangling-edge"),
        (NODES, {"target": ["fact"]}, "type"),
    ],
)
def test_a_forged_file_with_a_right_checksum_is_refused_at_its_bad_record(
    number: int, changes: dict[str, Any], reason: str
) -> None:
    error = refused(_changed(number, **changes))
    assert (error.line, error.reason) == (number + 2, reason)


def test_an_edge_twice_and_a_node_after_an_edge_are_refused() -> None:
    given = records()
    twice = signed([*given[: NODES + 1], given[NODES], *given[NODES + 1 :]])
    assert refused(twice).reason == "duplicate-edge"
    late = signed([*given[1:], given[0]])
    assert refused(late).reason in ("order", "dangling-edge")


def test_only_as_much_of_a_long_line_is_read_as_shows_that_it_is() -> None:
    file = io.BytesIO(b"x" * (4 * MAX_LINE_BYTES))
    assert [len(line) for line in file_lines(file)] == [MAX_LINE_BYTES + 1]


def test_an_edge_is_sorted_by_the_names_of_its_ends() -> None:
    edges = [item for item in help_desk() if isinstance(item, EdgeDump)]
    assert [edge.key for edge in edges] == sorted(edge.key for edge in edges)
