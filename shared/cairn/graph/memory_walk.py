"""Walks of the memory graph, the same over every backend: neighbours and shortest paths. Pure.

A backend says which edges touch some nodes; order and bounds are decided here, without ids, so
that two backends that hold the same graph answer the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from cairn.graph.edge import parse_relation
from cairn.kernel.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from uuid import UUID

    from cairn.graph.memory_records import EdgeKey, MemoryEdge, MemoryNode, Ref

MAX_DEPTH = 5
MAX_LIMIT = 500
FRONTIER = 1_000
"""Edges that are looked at from one level to the next at the most, the strongest first."""

Step = tuple["MemoryEdge", "MemoryNode"]
"""An edge, and the node at the end that was asked beyond."""


Touching: TypeAlias = "Callable[[Collection[UUID], Collection[str] | None, int], Sequence[Step]]"
"""Returns edges at either end of nodes, of some relations, with the visible node at the other end.

An edge between two of the nodes comes once for each. The first so many by `order`.
"""


def order(step: Step) -> tuple[float, Ref, EdgeKey]:
    """Return what steps are sorted by: the strongest edge first, then names."""
    edge, far = step
    return -edge.dump.weight, far.dump.ref, edge.dump.key


def neighbours(
    touching: Touching,
    start: UUID,
    *,
    depth: int,
    relations: Sequence[str] | None,
    limit: int,
) -> list[tuple[MemoryNode, MemoryEdge]]:
    """Return up to `limit` nodes within `depth` edges in either direction, each once.

    Nearer ones come first, then those by stronger edges. Each comes with the edge that led to it.
    Raises ValidationFailed for a depth above 5, a limit above 500 or an unknown relation.
    """
    _bounded(depth, "depth", MAX_DEPTH)
    _bounded(limit, "limit", MAX_LIMIT)
    names = (
        {parse_relation(relation).value for relation in relations}
        if relations is not None
        else None
    )
    results: dict[UUID, tuple[MemoryNode, MemoryEdge]] = {}
    level = {start}
    for _ in range(depth):
        reached: dict[UUID, tuple[MemoryNode, MemoryEdge]] = {}
        for edge, far in touching(level, names, FRONTIER):
            if far.id != start and far.id not in results:
                reached.setdefault(far.id, (far, edge))
        results |= reached
        level = set(reached)
        if len(results) >= limit or not level:
            break
    return list(results.values())[:limit]


def shortest_path(
    touching: Touching, start: UUID, goal: UUID, *, max_depth: int
) -> list[MemoryEdge] | None:
    """Return the edges of a shortest way, walked in either direction; None within `max_depth`.

    Of several of one length the way is taken that `order` finds first. To itself it is [].
    """
    _bounded(max_depth, "max_depth", MAX_DEPTH)
    came: dict[UUID, tuple[UUID, MemoryEdge] | None] = {start: None}
    level = {start}
    for _ in range(max_depth):
        if goal in came or not level:
            break
        fresh: set[UUID] = set()
        for edge, far in touching(level, None, FRONTIER):
            if far.id not in came:
                came[far.id] = (_other_end(edge, far.id), edge)
                fresh.add(far.id)
        level = fresh
    return _way_back(came, goal) if goal in came else None


def _way_back(came: dict[UUID, tuple[UUID, MemoryEdge] | None], goal: UUID) -> list[MemoryEdge]:
    edges: list[MemoryEdge] = []
    step = came[goal]
    while step is not None:
        before, edge = step
        edges.append(edge)
        step = came[before]
    return edges[::-1]


def _other_end(edge: MemoryEdge, end: UUID) -> UUID:
    return edge.source_id if edge.target_id == end else edge.target_id


def _bounded(value: int, field: str, most: int) -> None:
    if not 1 <= value <= most:
        message = f"is 1 to {most}"
        raise ValidationFailed(
            f"{field} {message}.", reason="out-of-bounds", errors=[FieldError(field, message)]
        )
