"""Records as rows: sent as one JSON document a statement, so that a batch is one round trip."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import groupby
from operator import attrgetter
from typing import Any

from cairn.graph.edge import Edge, EdgeClosure, EdgeStrength
from cairn.graph.node import Node, NodeChange, State
from cairn.graph.projection import EdgeRow, NodeRow

Record = Node | NodeChange | Edge | EdgeClosure | EdgeStrength

_KINDS = (Node, NodeChange, Edge, EdgeClosure, EdgeStrength)
_FOUND = (State.ACTIVE, State.PROVISIONAL)
_NAMES = {kind: tuple(one.name for one in fields(kind)) for kind in _KINDS}
_VALUES = {kind: attrgetter(*names) for kind, names in _NAMES.items()}


def as_json(records: Iterable[Record]) -> str:
    """Return the records as a JSON array whose keys are the column names; nulls are left out."""
    return json.dumps([_row(record) for record in records], default=str, ensure_ascii=False)


def runs(rows: Iterable[NodeRow | EdgeRow]) -> Iterable[Sequence[Record]]:
    """Split rows into runs of one kind, in order, none of which names a row twice.

    What takes a place that holds one (an identity, the end of a chain) is not in the run of what
    leaves it: within a statement there is no order.
    """
    for _, group in groupby(rows, key=lambda row: (type(row), _takes_a_place(row))):
        run: list[Record] = []
        seen: set[Any] = set()
        for row in group:
            if row.id in seen:
                yield run
                run, seen = [], set()
            run.append(row)
            seen.add(row.id)
        yield run


def _takes_a_place(row: NodeRow | EdgeRow) -> bool:
    return isinstance(row, NodeChange) and (row.revive or row.state in _FOUND)


def _row(record: Record) -> dict[str, Any]:
    values = _VALUES[type(record)](record)
    named = zip(_NAMES[type(record)], values, strict=True)
    return {name: value for name, value in named if value is not None}
