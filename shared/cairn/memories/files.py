"""Memories on their way to and from a file: sorted, each once, in batches. No file and no wire.

However many there are, some mebibytes of them are in memory; the rest waits in temporary files.
"""

from __future__ import annotations

import heapq
import json
from contextlib import ExitStack
from itertools import islice
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from cairn.kernel.text.canonical import canonical_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cairn.graph.memory_dump import MemoryLine

    T = TypeVar("T")

A_BATCH = 100
AT_ONCE_BYTES = 1024 * 1024
"""What a batch carries at the most, give or take a record; its records are few, or small."""
SORTING_AT_ONCE_BYTES = 16 * 1024 * 1024
"""Lines held in memory at once; what is more waits in one temporary file for each so many bytes."""

_TIME_BYTES = len("2026-03-20T12:00:00.000000Z")


def sorted_memories(views: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the records of memories as the API shows them, in the order of a file.

    That is by when they occurred, then by their bytes. Two that differ only in what no record
    holds are one.
    """
    last = b""
    for line in sorted_lines(_memory_lines(views)):
        if line != last:
            yield json.loads(line[_TIME_BYTES:])
        last = line


def by_validity(lines: Iterable[MemoryLine]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the numbers and records of a file's memories by when they began to hold.

    So chains come out. Of two in one chain that began together the one that holds goes last: its
    successor is known by that alone.
    """
    for line in sorted_lines(_validity_lines(lines)):
        _, number, record = json.loads(line[_TIME_BYTES:])
        yield number, record


def batches(records: Iterable[T]) -> Iterator[list[T]]:
    """Yield records as they are written: up to a hundred, and not much above a mebibyte."""
    waiting = iter(records)
    while batch := list(islice(waiting, 1)):
        size = len(canonical_bytes(batch[0]))
        while size < AT_ONCE_BYTES and len(batch) < A_BATCH:
            record = next(waiting, None)
            if record is None:
                break
            batch.append(record)
            size += len(canonical_bytes(record))
        yield batch


def sorted_lines(
    lines: Iterable[bytes], *, at_once: int = SORTING_AT_ONCE_BYTES
) -> Iterator[bytes]:
    """Yield lines by their bytes; each ends with a line feed and has no other."""
    with ExitStack() as files:
        runs: list[Iterable[bytes]] = []
        held: list[bytes] = []
        size = 0
        for line in lines:
            held.append(line)
            size += len(line)
            if size >= at_once:
                file = cast("BinaryIO", files.enter_context(TemporaryFile("w+b")))
                runs.append(_written(file, held))
                held, size = [], 0
        held.sort()
        yield from heapq.merge(*runs, held)


def _written(file: BinaryIO, lines: list[bytes]) -> BinaryIO:
    lines.sort()
    file.writelines(lines)
    file.seek(0)
    return file


def _memory_lines(views: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield records as they are sorted: the time, and the record's canonical bytes."""
    from cairn.memories.lines import memory_record

    for view in views:
        record = memory_record(view)
        if record is not None:
            yield str(record["occurred_at"]).encode() + canonical_bytes(record) + b"\n"


def _validity_lines(lines: Iterable[MemoryLine]) -> Iterator[bytes]:
    """Yield memories as they are sorted for writing: time, state, line number and record."""
    for each in lines:
        holds = int(each.record["state"] == "active")
        line = canonical_bytes([holds, each.number, each.record])
        yield str(each.record["valid_from"]).encode() + line + b"\n"
