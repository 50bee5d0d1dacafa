"""Records as rows: sent as one JSON document a statement, so that a batch is one round trip."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import groupby
from typing import Any

from cairn.graph.edge import Edge, EdgeClosure, EdgeStrength
from cairn.graph.node import Node, NodeChange
from cairn.graph.projection import EdgeRow, NodeRow

Record = Node | NodeChange | Edge | EdgeClosure | EdgeStrength

_KINDS = (Node, NodeChange, Edge, EdgeClosure, EdgeStrength)
_NAMES = {kind: tuple(one.name for one in fields(kind)) for kind in _KINDS}


def as_json(records: Iterable[Record]) -> str:
    """Return the records as a JSON array whose keys are the column names."""
    return json.dumps([_row(record) for record in records], default=str, ensure_ascii=False)


def runs(rows: Iterable[NodeRow | EdgeRow]) -> Iterable[Sequence[Record]]:
    """Split rows into runs of one kind, in order, none of which names a row twice."""
    for _, group in groupby(rows, key=type):
        run: list[Record] = []
        seen: set[Any] = set()
        for row in group:
            if row.id in seen:
                yield run
                run, seen = [], set()
            run.append(row)
            seen.add(row.id)
        yield run


def _row(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _NAMES[type(record)]}
