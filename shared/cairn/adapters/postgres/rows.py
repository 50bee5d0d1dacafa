"""Which rows go together in a statement, and as what JSON they are sent."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from cairn.graph.edge import Edge, EdgeClosure, EdgeStrength, Relation
from cairn.graph.node import Node, NodeChange, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from uuid import UUID

    from cairn.graph.projection import EdgeRow, NodeRow, Projection


Record = Node | NodeChange | Edge | EdgeClosure | EdgeStrength

_KINDS = (Node, NodeChange, Edge, EdgeClosure, EdgeStrength)
_FOUND = (State.ACTIVE, State.PROVISIONAL)
_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in _KINDS}
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
    pairs = zip(_NAMES[type(record)], values, strict=True)
    return {name: value for name, value in pairs if value is not None}


UNCOUNTED = frozenset(
    {
        Relation.FOLLOWS,
        Relation.PART_OF,
        Relation.SIMILAR_TO,
        Relation.CO_OCCURRENCE,
        Relation.SUPERSEDES,
    }
)
"""Relations that are no backlinks, as the function `is_backlink` in the database has them."""


@dataclass(slots=True)
class _Group:
    """Projections that commute so far: `counted` are nodes whose backlinks their edges change."""

    projections: list[Projection] = field(default_factory=list["Projection"])
    counted: set[UUID] = field(default_factory=set["UUID"])
    pairs: set[tuple[str, UUID, UUID]] = field(default_factory=set["tuple[str, UUID, UUID]"])
    closed: bool = False

    def takes(self, projection: Projection) -> bool:
        """Return whether one more may be applied with these."""
        if self.closed or projection.removals or projection.purges:
            return False
        if any(row.id in self.counted for row in projection.nodes):
            return False
        if any(row.target_id in self.counted for row in _counting(projection.edges)):
            return False
        return self.pairs.isdisjoint(_pairs(projection.edges))

    def add(self, projection: Projection) -> None:
        """Take one in. What closes edges, or hides or purges nodes, is the last of its group."""
        self.projections.append(projection)
        self.counted.update(row.target_id for row in _counting(projection.edges))
        self.pairs.update(_pairs(projection.edges))
        self.closed = bool(
            projection.removals
            or projection.purges
            or any(isinstance(row, EdgeClosure) for row in projection.edges)
        )


def groups(projections: Iterable[Projection]) -> Iterator[list[Projection]]:
    """Split projections, in order, into portions that may be applied kind by kind."""
    group = _Group()
    for projection in projections:
        if group.projections and not group.takes(projection):
            yield group.projections
            group = _Group()
        group.add(projection)
    if group.projections:
        yield group.projections


def _counting(edges: Iterable[EdgeRow]) -> Iterator[Edge | EdgeStrength]:
    for row in edges:
        if not isinstance(row, EdgeClosure) and row.relation not in UNCOUNTED:
            yield row


def _pairs(edges: Iterable[EdgeRow]) -> set[tuple[str, UUID, UUID]]:
    """Return what edges hold between, where a second one at once would be lost."""
    return {
        (row.relation, row.source_id, row.target_id)
        for row in edges
        if not isinstance(row, EdgeClosure)
    }
