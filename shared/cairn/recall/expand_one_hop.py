"""What hangs directly on each result: one hop, capped, direction kept. Not a ranking of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cairn.kernel.text.canonical import format_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any
    from uuid import UUID

    from cairn.recall.records import Filters

RELATED_CAP = 20
"""Related nodes shown a result; further ones are counted."""
RELATED_COUNTED = 200
RELATED_CHARACTERS = 1_000

OUTGOING = "outgoing"
INCOMING = "incoming"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedNode:
    """A node one edge away from a result. `direction` is the edge's, seen from the result."""

    of_id: UUID
    node_id: UUID
    label: str
    kind: str | None
    relation: str
    view: str
    direction: str
    text: str
    title: str | None
    canonical_name: str | None
    importance: int
    occurred_at: datetime
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """The related nodes of one result, and how many more there are than shown.

    Relations are counted up to 200 a direction, so at a hub `dropped` means at least.
    """

    nodes: tuple[RelatedNode, ...] = ()
    dropped: int = 0


class RelatedReader(Protocol):
    """Reads one hop of all results at once, inside one transaction."""

    def related(
        self, node_ids: Sequence[UUID], filters: Filters, *, cap: int
    ) -> Mapping[UUID, Related]:
        """Return up to `cap` related nodes of each result by its id; one statement for all.

        Guards on related nodes: workspace, scope, not deleted or quarantined, and the agent guard
        that lets untagged nodes pass. Both directions, heavier edges first, then by relation and
        id; a node related in two ways comes twice. Texts are cut at 1,000 characters. With
        `filters.as_of_position` as it stood there. Results without any are left out. At most 100
        results.
        """
        ...


def expand(
    reader: RelatedReader,
    node_ids: Sequence[UUID],
    filters: Filters,
    *,
    hops: int = 1,
    cap: int = RELATED_CAP,
) -> Mapping[UUID, Related]:
    """Return what hangs on each of `node_ids`; nothing with `hops` 0, which is compact output.

    A related node that is itself a result stays: the edge between two results is worth knowing.
    """
    if hops < 1 or not node_ids:
        return {}
    return reader.related(list(dict.fromkeys(node_ids)), filters, cap=min(cap, RELATED_CAP))


def related_json(node: RelatedNode) -> dict[str, Any]:
    """Return the JSON form of a related node."""
    shown = {
        "node_id": str(node.node_id),
        "type": node.label,
        "kind": node.kind,
        "relation": node.relation,
        "view": node.view,
        "direction": node.direction,
        "text": node.text,
        "title": node.title,
        "canonical_name": node.canonical_name,
        "importance": node.importance,
        "occurred_at": format_timestamp(node.occurred_at),
    }
    return {name: value for name, value in shown.items() if value is not None}
