"""The memory graph as canonical lines (`cairn-memory-graph-1`): one byte string per graph. Pure.

A first line names the format, then come the nodes by label and natural key, the edges by the names
of their ends and their relation, memories by when they occurred and by their bytes, and a last line
with counts and the SHA-256 of all bytes before it. So two backends that hold the same graph write
the same file, and one that was cut or changed is refused at its line. What a memory's record holds
is for `lifecycle.memory_lines` to say. Not the ledger's export: that is `ledger.export`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, cast

from cairn.graph.memory_records import (
    Dump,
    NodeDump,
    Ref,
    clean_edge,
    clean_key,
    clean_label,
    clean_node,
)
from cairn.kernel.errors import TooLarge, ValidationFailed
from cairn.kernel.text.canonical import canonical_bytes, format_timestamp, parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import BinaryIO

    from cairn.kernel.text.json_value import JsonValue

FORMAT = "cairn-memory-graph-1"
MAX_LINE_BYTES = 512 * 1024
"""More than any record can have; a longer line is refused without being read whole."""

_FIRST = canonical_bytes({"format": FORMAT}) + b"\n"
_NODE_FIELDS = {"kind", "label", "natural_key", "properties", "provenance", "status"}
_EDGE_FIELDS = {"kind", "observed_at", "properties", "relation", "source", "target", "weight"}
_END_FIELDS = {"edges", "kind", "memories", "nodes", "sha256"}
_MEMORY = "memory"


class DumpRefused(ValidationFailed):
    """A file is no export of a memory graph, or not as it was written. `line` is the first bad."""

    code = "import-refused"

    def __init__(self, line: int, message: str, reason: str) -> None:
        super().__init__(f"Line {line} {message}.", reason=reason, line=line)
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLine:
    """A memory's record, and the number of its line in the file."""

    number: int
    record: Mapping[str, Any]


def as_record(dump: Dump) -> dict[str, JsonValue]:
    """Return a record as JSON without fractions: the weight is the shortest text of its number."""
    if isinstance(dump, NodeDump):
        return {
            "kind": "node",
            "label": dump.label,
            "natural_key": dump.natural_key,
            "properties": cast("JsonValue", dict(dump.properties)),
            "provenance": dump.provenance.value,
            "status": dump.status.value,
        }
    return {
        "kind": "edge",
        "source": list(dump.source),
        "target": list(dump.target),
        "relation": dump.relation,
        "weight": repr(dump.weight),
        "properties": cast("JsonValue", dict(dump.properties)),
        "observed_at": format_timestamp(dump.observed_at),
    }


def from_record(value: object) -> Dump:
    """Return the record that JSON says; ValidationFailed names the field that is wrong."""
    if not isinstance(value, dict):
        raise ValidationFailed("This is no object.", reason="type")
    record = cast("dict[str, Any]", value)
    if record.get("kind") == "node":
        _require_fields(record, _NODE_FIELDS)
        fields = ("label", "natural_key", "properties", "provenance", "status")
        return clean_node(*(record[name] for name in fields))
    if record.get("kind") == "edge":
        _require_fields(record, _EDGE_FIELDS)
        return clean_edge(
            _ref(record["source"], "source"),
            _ref(record["target"], "target"),
            record["relation"],
            _weight(record["weight"]),
            record["properties"],
            parse_timestamp(_text(record["observed_at"], "observed_at"), field="observed_at"),
        )
    raise ValidationFailed("kind is node or edge.", reason="kind")


def dump_lines(
    dumps: Iterable[Dump], memories: Iterable[Mapping[str, JsonValue]] = ()
) -> Iterator[bytes]:
    """Yield the lines of a file; the records come in their order (see `export_all`).

    `memories` are records of memories by when they occurred, then by their canonical bytes.
    """
    digest = hashlib.sha256()
    counts = {"node": 0, "edge": 0, _MEMORY: 0}

    def counted(value: JsonValue) -> bytes:
        line = canonical_bytes(value) + b"\n"
        digest.update(line)
        return line

    digest.update(_FIRST)
    yield _FIRST
    for dump in dumps:
        record = as_record(dump)
        counts[str(record["kind"])] += 1
        yield counted(record)
    for memory in memories:
        counts[_MEMORY] += 1
        yield counted(dict(memory))
    end: JsonValue = {
        "kind": "end",
        "nodes": counts["node"],
        "edges": counts["edge"],
        "memories": counts[_MEMORY],
        "sha256": digest.hexdigest(),
    }
    yield canonical_bytes(end) + b"\n"


def file_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; of one that is too long only as much as shows that it is."""
    while line := file.readline(MAX_LINE_BYTES + 1):
        yield line
        if len(line) > MAX_LINE_BYTES:
            return


def read_file(
    lines: Iterable[bytes], check: Callable[[Mapping[str, Any]], object]
) -> Iterator[Dump | MemoryLine]:
    """Yield the records of a file, each checked; DumpRefused names the first line that is wrong.

    `check` raises for a memory's record that is wrong. Whether the file is whole is known at its
    end: read it once to the end before acting on it. Memory grows by a digest a node, some 100
    bytes, among which an edge's ends are looked for.
    """
    reader = _Reader(check)
    for number, line in enumerate(lines, start=1):
        try:
            dump = reader.take(line)
        except (ValidationFailed, TooLarge) as error:
            message = error.detail.rstrip(".")
            raise DumpRefused(number, f"is refused: {message}", error.reason) from error
        if dump is not None:
            yield dump
    if not reader.ended:
        raise DumpRefused(reader.lines + 1, "is missing: the file was cut off", "cut-off")


class _Reader:
    """What has been read of a file."""

    def __init__(self, check: Callable[[Mapping[str, Any]], object]) -> None:
        self._check = check
        self.lines = 0
        self.ended = False
        self._digest = hashlib.sha256()
        self._names: set[bytes] = set()
        self._last: tuple[str, ...] = ()
        self._edges = 0
        self._memories = 0

    def take(self, line: bytes) -> Dump | MemoryLine | None:
        """Return the record of the next line, None for the first and the last one."""
        if self.ended:
            _refuse("nothing may follow the last line", "after-the-end")
        self.lines += 1
        if self.lines == 1:
            if line != _FIRST:
                _refuse(f"a file begins with {_FIRST[:-1].decode()}", "format")
            self._digest.update(line)
            return None
        value = _parsed(line)
        if isinstance(value, dict) and value.get("kind") == "end":
            self._end(value)
            return None
        if isinstance(value, dict) and value.get("kind") == _MEMORY:
            return self._memory(value, line)
        if self._memories:
            _refuse("memories come last", "order")
        return self._record(value, line)

    def _memory(self, value: dict[str, JsonValue], line: bytes) -> MemoryLine:
        self._check(value)
        if not self._memories:
            self._last = ()
        self._follows((_text(value["occurred_at"], "occurred_at"), line.decode()), _MEMORY)
        self._memories += 1
        self._digest.update(line)
        return MemoryLine(number=self.lines, record=value)

    def _record(self, value: JsonValue, line: bytes) -> Dump:
        dump = from_record(value)
        if as_record(dump) != value:
            _refuse("this is not how the record is written; an export of it was changed", "changed")
        if isinstance(dump, NodeDump):
            if self._edges:
                _refuse("nodes come before edges", "order")
            self._follows(dump.ref, "node")
            self._names.add(_name(dump.ref))
        else:
            if not self._edges:
                self._last = ()
            self._follows(dump.key, "edge")
            for end, ref in (("source", dump.source), ("target", dump.target)):
                if _name(ref) not in self._names:
                    _refuse(f"{end} {ref[0]} {ref[1]!r} is no node of the file", "dangling-edge")
            self._edges += 1
        self._digest.update(line)
        return dump

    def _follows(self, key: tuple[str, ...], what: str) -> None:
        if key == self._last:
            _refuse(f"this {what} stands in the line before too", f"duplicate-{what}")
        if key < self._last:
            _refuse(f"this {what} is out of order, or there twice", "order")
        self._last = key

    def _end(self, value: dict[str, JsonValue]) -> None:
        _require_fields(value, _END_FIELDS)
        counts = {"nodes": len(self._names), "edges": self._edges, "memories": self._memories}
        if any(value[name] != count for name, count in counts.items()):
            counts_text = ", ".join(f"{count} {name}" for name, count in counts.items())
            _refuse(f"there are {counts_text} before it", "counts")
        if value["sha256"] != self._digest.hexdigest():
            _refuse("the lines before it are not those that were exported", "checksum")
        self.ended = True


def _parsed(line: bytes) -> JsonValue:
    if len(line) > MAX_LINE_BYTES:
        _refuse(f"it is longer than {MAX_LINE_BYTES} bytes", "too-large")
    if not line.endswith(b"\n"):
        _refuse("it is cut off", "cut-off")
    try:
        value: Any = json.loads(line[:-1].decode())
    except (ValueError, RecursionError) as error:
        raise ValidationFailed("it is not JSON.", reason="not-json") from error
    if canonical_bytes(value) != line[:-1]:
        _refuse("it is not in canonical form", "not-canonical")
    return value


def _require_fields(record: dict[str, Any], names: set[str]) -> None:
    if record.keys() != names:
        wrong = sorted(record.keys() ^ names)
        _refuse(f"it has or lacks the fields {', '.join(wrong)[:200]}", "fields")


def _ref(value: object, field: str) -> Ref:
    pair = cast("list[Any]", value) if isinstance(value, list) else []
    if len(pair) != 2 or not all(isinstance(item, str) for item in pair):
        _refuse(f"{field} is a label and a natural key", "type")
    return clean_label(pair[0], field), clean_key(pair[1], field)


def _weight(value: object) -> float:
    try:
        return float(_text(value, "weight"))
    except ValueError as error:
        raise ValidationFailed("weight is a number as a string.", reason="type") from error


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        _refuse(f"{field} must be a string", "type")
    return value


def _name(ref: Ref) -> bytes:
    return hashlib.blake2b("\x1f".join(ref).encode(), digest_size=16).digest()


def _refuse(message: str, reason: str) -> NoReturn:
    raise ValidationFailed(f"{message}.", reason=reason)
