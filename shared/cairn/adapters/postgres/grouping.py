"""Which projections may be applied together, their nodes first and then their edges.

The outcome, history included, is always that of applying them one by one: a rebuild replays entries
in other portions than they were written in. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.graph.edge import Edge, EdgeClosure, EdgeStrength, Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from cairn.graph.projection import EdgeRow, Projection

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

    def takes(self, one: Projection) -> bool:
        """Return whether one more may be applied with these."""
        if self.closed or one.removals or one.purges:
            return False
        if any(row.id in self.counted for row in one.nodes):
            return False
        if any(row.target_id in self.counted for row in _counting(one.edges)):
            return False
        return self.pairs.isdisjoint(_pairs(one.edges))

    def add(self, one: Projection) -> None:
        """Take one in. What closes edges, or hides or purges nodes, is the last of its group."""
        self.projections.append(one)
        self.counted.update(row.target_id for row in _counting(one.edges))
        self.pairs.update(_pairs(one.edges))
        self.closed = bool(
            one.removals or one.purges or any(isinstance(row, EdgeClosure) for row in one.edges)
        )


def groups(projections: Iterable[Projection]) -> Iterator[list[Projection]]:
    """Split projections, in order, into portions that may be applied kind by kind."""
    group = _Group()
    for one in projections:
        if group.projections and not group.takes(one):
            yield group.projections
            group = _Group()
        group.add(one)
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
