"""Sorts lines that may be more than fit in memory, by files that go away. Not a general sort."""

import heapq
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import BinaryIO, cast

AT_ONCE_BYTES = 16 * 1024 * 1024
"""Lines held in memory at once; what is more waits in one temporary file for each so many bytes."""


def sorted_lines(lines: Iterable[bytes], *, at_once: int = AT_ONCE_BYTES) -> Iterator[bytes]:
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
