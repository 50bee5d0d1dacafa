"""Summaries as their readers see them: a list, and a tree down to what they are made of.

Both may be asked of an earlier moment. Not how summaries come about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.graph.edge import Relation
from cairn.graph.node import Label
from cairn.kernel.errors import NotFound
from cairn.kernel.records import convert
from cairn.recall.records import Filters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.recall.records import FoundNode

DEPTH = MAX_DEPTH = 3
"""An agent's sessions, their episodes, and the sources of these."""

MAX_NODES = 500
PER_NODE = 400
EDGES_PER_LEVEL = 2_000
SOURCE_CHARS = 500
"""Characters of a source's text that a tree shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryFilter:
    """Which summaries a list has: of one scope (episode, session, agent), of one thing.

    `scope_id` is the trace or session of an episode, the session, or the agent.
    """

    scope: str | None = None
    scope_id: str | None = None
    as_of: datetime | int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryView:
    """A summary. `event_count` events, messages and memories stand behind it.

    `time_range` is from the first to the last of them. `is_extract` says that `content` is made of
    their own sentences, by rules; otherwise `model` of `provider` wrote it.
    """

    id: UUID
    position: int
    scope: str | None
    scope_id: str | None
    content: str
    created_at: datetime
    event_count: int
    time_range: tuple[str, ...]
    importance: int
    provider: str | None
    model: str | None
    is_extract: bool
    occurred_at: datetime
    session_id: str | None
    trace_id: str | None
    agent_id: str | None
    client_id: str
    agents: tuple[str, ...]
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceView:
    """Something a summary is made of: its text as far as a tree shows it."""

    id: UUID
    position: int
    label: str
    kind: str | None
    text: str
    occurred_at: datetime
    session_id: str | None
    trace_id: str | None
    agent_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A summary or a source with what it is made of, in the order of time."""

    node: SummaryView | SourceView
    children: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTree:
    """A summary down to its sources. `truncated`: there is more than was read."""

    root: Branch
    as_of_position: int | None
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSummaries:
    """The use cases. A key bound to an agent sees what is tagged for it."""

    transactions: Transactions[Stores]

    def page(
        self,
        principal: Principal,
        where: SummaryFilter,
        *,
        limit: int,
        after: tuple[datetime, UUID] | None = None,
    ) -> Sequence[SummaryView]:
        """Return up to `limit` summaries, the latest first, behind (when it happened, id)."""
        with self.transactions.reading(principal) as stores:
            filters = Filters(as_of_position=_position(stores, where.as_of))
            ids = stores.graph.summaries(
                where.scope, where.scope_id, filters, after=after, limit=limit
            )
            nodes = {item.id: item for item in stores.graph.read(ids, filters)}
        return [_summary(nodes[id_]) for id_ in ids if id_ in nodes]

    def tree(
        self,
        principal: Principal,
        summary_id: UUID,
        *,
        depth: int = DEPTH,
        as_of: datetime | int | None = None,
    ) -> SummaryTree:
        """Return a summary with what it is made of, `depth` levels down.

        NotFound for what is no summary or not to be seen.
        """
        with self.transactions.reading(principal) as stores:
            filters = Filters(as_of_position=_position(stores, as_of))
            visible = stores.graph.starts([summary_id], filters)
            if not visible or visible[0][1] != Label.SUMMARY:
                raise NotFound("There is no such summary.", summary_id=str(summary_id))
            nodes = {item.id: item for item in stores.graph.read([summary_id], filters)}
            below, truncated = _below(stores, summary_id, nodes, filters, depth)
        return SummaryTree(
            root=_branch(summary_id, nodes, below),
            as_of_position=filters.as_of_position,
            truncated=truncated,
        )


def _below(
    stores: Stores,
    root: UUID,
    nodes: dict[UUID, FoundNode],
    filters: Filters,
    depth: int,
) -> tuple[Mapping[UUID, list[UUID]], bool]:
    """Read the levels below `root` into `nodes`; return who is made of whom, and what is left out.

    A source stands under the first summary that is made of it.
    """
    below: dict[UUID, list[UUID]] = {}
    level, truncated = [root], False
    for _ in range(depth):
        here = set(level)
        edges = stores.graph.hop(
            level,
            filters,
            per_node=PER_NODE,
            limit=EDGES_PER_LEVEL,
            relations=(Relation.SUMMARIZES,),
        )
        steps = {
            edge.target_id: edge.source_id
            for edge in edges
            if edge.source_id in here and edge.target_id not in nodes
        }
        room = MAX_NODES - len(nodes)
        truncated = truncated or len(edges) >= EDGES_PER_LEVEL or len(steps) > room
        nodes_below = stores.graph.read(list(steps)[:room], filters)
        nodes.update({item.id: item for item in nodes_below})
        for item in sorted(
            nodes_below, key=lambda node: (node.occurred_at, node.sequence or -1, node.id)
        ):
            below.setdefault(steps[item.id], []).append(item.id)
        level = [item.id for item in nodes_below if item.label == Label.SUMMARY]
        if not level:
            break
    return below, truncated


def _branch(
    node_id: UUID, nodes: Mapping[UUID, FoundNode], below: Mapping[UUID, Sequence[UUID]]
) -> Branch:
    node = nodes[node_id]
    return Branch(
        node=_summary(node) if node.label == Label.SUMMARY else _source(node),
        children=tuple(_branch(id_, nodes, below) for id_ in below.get(node_id, ())),
    )


def _position(stores: Stores, as_of: datetime | int | None) -> int | None:
    return as_of if as_of is None or isinstance(as_of, int) else stores.graph.position_at(as_of)


def _summary(node: FoundNode) -> SummaryView:
    metadata: Mapping[str, Any] = node.metadata
    return convert(
        node,
        SummaryView,
        scope=node.kind,
        scope_id=metadata.get("scope_id"),
        content=node.text,
        created_at=node.recorded_at,
        event_count=metadata.get("event_count", 0),
        time_range=tuple(metadata.get("time_range", ())),
        provider=metadata.get("provider"),
        model=metadata.get("model"),
        is_extract=metadata.get("is_extract", False),
        agent_id=node.source_agent,
    )


def _source(node: FoundNode) -> SourceView:
    return convert(node, SourceView, text=node.text[:SOURCE_CHARS], agent_id=node.source_agent)
