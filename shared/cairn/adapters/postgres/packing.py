"""Hundreds of ids and floats as a few short strings: a search keeps them without slowing down.

Ids are their 16 bytes, numbers IEEE doubles in little-endian order, both in Base64 inside JSON.
Written as decimal numbers they would take five times as long, and lose nothing but time.
"""

from __future__ import annotations

import math
import sys
from array import array
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.recall.records import Candidate, ScoredNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ABSENT = math.nan  # no signal is ever NaN


def packed_candidates(candidates: Sequence[tuple[UUID, float]]) -> dict[str, str]:
    """Return a leg's candidates, in order."""
    return {
        "nodes": _ids(node_id for node_id, _ in candidates),
        "scores": _doubles(score for _, score in candidates),
    }


def unpacked_candidates(packed: Mapping[str, str]) -> tuple[Candidate, ...]:
    """Return what `packed_candidates` was given."""
    nodes, scores = _to_ids(packed["nodes"]), _to_doubles(packed["scores"])
    return tuple(map(Candidate, nodes, scores))


def packed_scored(scored: Sequence[ScoredNode]) -> dict[str, Any]:
    """Return scored nodes: the signals' names, and a row of position and values for each node.

    Signals keep the order they were added up in, since a sum of floats depends on it.
    """
    names = _in_order(one.signals for one in scored)
    values = [
        number
        for one in scored
        for number in (float(one.position), *(one.signals.get(name, ABSENT) for name in names))
    ]
    return {
        "signals": names,
        "nodes": _ids(one.node_id for one in scored),
        "values": _doubles(values),
    }


def unpacked_scored(packed: Mapping[str, Any]) -> tuple[ScoredNode, ...]:
    """Return what `packed_scored` was given."""
    names: list[str] = packed["signals"]
    values = _to_doubles(packed["values"])
    width = len(names) + 1
    return tuple(
        ScoredNode(node_id, int(values[start]), _present(names, values[start + 1 : start + width]))
        for node_id, start in zip(
            _to_ids(packed["nodes"]), range(0, len(values), width), strict=True
        )
    )


def _present(names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    named = zip(names, values, strict=True)
    return {name: value for name, value in named if not math.isnan(value)}


def _in_order(rows: Iterable[Mapping[str, float]]) -> list[str]:
    """Return every name, each after the one before it in its row."""
    names: list[str] = []
    known: set[str] = set()
    for row in rows:
        if known.issuperset(row):
            continue
        place = 0
        for name in row:
            if name not in known:
                names.insert(place, name)
                known.add(name)
            place = names.index(name) + 1
    return names


def _ids(ids: Iterable[UUID]) -> str:
    return b64encode(b"".join(one.bytes for one in ids)).decode("ascii")


def _to_ids(packed: str) -> list[UUID]:
    data = b64decode(packed)
    return [UUID(bytes=data[start : start + 16]) for start in range(0, len(data), 16)]


def _doubles(values: Iterable[float]) -> str:
    numbers = array("d", values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return b64encode(numbers.tobytes()).decode("ascii")


def _to_doubles(packed: str) -> array[float]:
    numbers = array("d", b64decode(packed))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
