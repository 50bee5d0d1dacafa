"""The graph, read from PostgreSQL: walks, one-hop expansion and the evidence of proactive nodes.

Statements stand in `queries/graph.sql`. Nothing here walks or ranks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from psycopg.rows import args_row, scalar_row, tuple_row

from cairn.adapters.postgres.database import bound
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, keyed, record, scalar
from cairn.graph.entity_names import lookup_key
from cairn.graph.quality import GraphEdge
from cairn.kernel.access import Role
from cairn.recall.public_names import for_strangers, unnamed
from cairn.recall.records import FoundNode
from cairn.recall.results import (
    INCOMING,
    OUTGOING,
    RELATED_CHARACTERS,
    RELATED_COUNTED,
    Related,
    RelatedNode,
)
from cairn.recall.walks.graph_ports import Seed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from psycopg.rows import RowFactory

    from cairn.adapters.postgres.database import Database
    from cairn.kernel.access import Principal
    from cairn.recall.records import Filters
    from cairn.recall.searches.searches import Feedback

R = TypeVar("R")
MOST_NAMES = 64
MOST_ENTITIES = 256
_FIND_ENTITIES = ("graph.find_entities", "graph.find_entities_as_of")  # the present, the past
_EXTRA_LABELS = ("graph.extra_labels", "graph.extra_labels_as_of")
_STARTS = ("graph.starts", "graph.starts_as_of")
_HOP = ("graph.hop", "graph.hop_as_of")
_ELIGIBLE = ("graph.eligible", "graph.eligible_as_of")
_READ = ("graph.read", "graph.read_as_of")
_SUMMARIES = ("graph.summaries", "graph.summaries_as_of")
_RELATED = ("graph.related", "graph.related_as_of")


def _judged(*, judged: int, useful: int) -> tuple[int, int]:
    return judged, useful


JUDGED = keyed(_judged, "signal")


class PostgresGraph(Store):
    """Reads the graph inside one transaction, under row level security.

    Everywhere: deleted and quarantined nodes are not there, and with `filters.as_of_position` the
    versions that held at that position are read instead of the present rows.
    """

    def find_entities(self, names: Sequence[str], filters: Filters) -> Sequence[Seed]:
        """Return the visible entities that `names` mean, by canonical name or alias.

        Case does not count. A name may mean several (one an audience and type). At most 64 names
        and 256 entities. The agent guard is strict: a search starts from what it may find.
        """
        if not names:
            return ()
        keys = sorted({lookup_key(name) for name in names})[:MOST_NAMES]
        return self._read_rows(
            record(Seed), _FIND_ENTITIES, filters, names=keys, limit=MOST_ENTITIES
        )

    def starts(self, node_ids: Sequence[UUID], filters: Filters) -> Sequence[tuple[UUID, str]]:
        """Return (id, label) of those of `node_ids` the principal may see, strictly guarded."""
        return self._rows(_STARTS, filters, ids=list(node_ids)) if node_ids else ()

    def extra_labels(
        self, node_ids: Sequence[UUID], filters: Filters
    ) -> Mapping[UUID, Sequence[str]]:
        """Return what those that have several labels are beside their first."""
        return dict(self._rows(_EXTRA_LABELS, filters, ids=list(node_ids)))

    def hop(
        self,
        frontier: Sequence[UUID],
        filters: Filters,
        *,
        per_node: int,
        limit: int,
        relations: Sequence[str] = (),
        timeout_ms: int | None = None,
    ) -> Sequence[GraphEdge]:
        """Return the edges at `frontier`, in both directions; an edge may come once for each end.

        For each node and direction at most the `per_node` heaviest (the newest of equals), and as
        many CO_OCCURRENCE edges besides, so that neither hides the other; `limit` in all.
        `relations` empty means any. Both ends of an edge are visible: workspace, scope, and the
        agent guard that lets untagged nodes pass. Edges that were closed are not there. One
        statement for the whole frontier; Unavailable when it takes longer than `timeout_ms`, after
        which this transaction reads nothing more.
        """
        if not frontier:
            return ()
        if timeout_ms is not None:
            self.run("graph.limit_time", timeout_ms=str(max(1, timeout_ms)))
        return self._read_rows(
            args_row(GraphEdge),
            _HOP,
            filters,
            frontier=list(frontier),
            per_node=per_node,
            limit=limit,
            relations=list(relations) or None,
        )

    def eligible(self, node_ids: Sequence[UUID], filters: Filters) -> frozenset[UUID]:
        """Return those that may be results: all of `filters`, the strict agent guard.

        Entities only when `filters.labels` names them.
        """
        if not node_ids:
            return frozenset()
        ids = self._read_rows(
            scalar_row,
            _ELIGIBLE,
            filters,
            ids=list(node_ids),
            labels=list(filters.labels) or None,
            kinds=list(filters.kinds) or None,
            client_id=filters.client_id,
            scopes=list(filters.scopes) or None,
            occurred_from=filters.occurred_from,
            occurred_to=filters.occurred_to,
            valid_at=filters.valid_at,
            include_superseded=filters.include_superseded,
        )
        return frozenset(ids)

    def read(self, node_ids: Sequence[UUID], filters: Filters) -> Sequence[FoundNode]:
        """Return the nodes, untagged ones too, in any order. Up to 500 ids.

        Strangers are not told where documents are from: see `recall.public_names`.
        """
        if not node_ids:
            return ()
        read = partial(self._read_rows, record(FoundNode), _READ, filters)
        nodes = read(ids=list(node_ids))
        if self.principal.role is not Role.PUBLIC:
            return nodes
        documents = read(ids=list(ids)) if (ids := unnamed(nodes)) else ()
        return for_strangers(nodes, {each.id: each.title for each in documents})

    def summaries(
        self,
        scope: str | None,
        scope_id: str | None,
        filters: Filters,
        *,
        after: tuple[datetime, UUID] | None,
        limit: int,
    ) -> Sequence[UUID]:
        """Return summaries that are found, the latest first, behind (occurred_at, id).

        Of a scope (`kind`) and of one thing, if given: an episode's trace or session, a session, an
        agent. Strictly guarded.
        """
        moment, last = after or (None, None)
        parameters = {"scope": scope, "scope_id": scope_id, "moment": moment, "id": last}
        return self._read_rows(scalar_row, _SUMMARIES, filters, **parameters, limit=limit)

    def position_at(self, moment: datetime) -> int:
        """Return the last ledger position recorded at or before `moment`; 0 when there is none."""
        return self.value("ledger.position_at", moment=moment)

    def related(
        self, node_ids: Sequence[UUID], filters: Filters, *, cap: int
    ) -> Mapping[UUID, Related]:
        """Return up to `cap` related nodes of each result by its id; one statement for all.

        Guards on related nodes: workspace, scope, not deleted or quarantined, and the agent guard
        that lets untagged nodes pass. Both directions, heavier edges first, then by relation and
        id; a node related in two ways comes twice. Texts are cut at 1,000 characters. Results
        without any are left out. At most 100 results.
        """
        rows = self._read_rows(
            record(_related_node),
            _RELATED,
            filters,
            ids=list(node_ids),
            cap=cap,
            counted=RELATED_COUNTED,
            characters=RELATED_CHARACTERS,
        )
        nodes: dict[UUID, list[RelatedNode]] = {}
        counted: dict[UUID, int] = {}
        for node, count in rows:
            nodes.setdefault(node.of_id, []).append(node)
            counted[node.of_id] = count
        return {
            of_id: Related(nodes=tuple(each), dropped=counted[of_id] - len(each))
            for of_id, each in nodes.items()
        }

    def recurring(
        self, node_ids: Sequence[UUID], *, minimum: float, limit: int
    ) -> Sequence[tuple[UUID, UUID, float]]:
        """Return what resolved earlier nodes of other sessions like one of `node_ids`, and those.

        What SOLVES or ADDRESSES such a node, was CAUSED_BY it, or what it LEADS_TO. A like node
        that nothing resolved is left out: it is what `related` asks for. The third value is the
        cosine of the likeness, at least `minimum`; of equals the resolution comes first.
        """
        ids = list(node_ids)
        return self.run("graph.recurring", ids=ids, minimum=minimum, limit=limit).fetchall()

    def important_connections(
        self, entity_ids: Sequence[UUID], *, minimum: int, limit: int
    ) -> Sequence[tuple[UUID, UUID, float]]:
        """Return (node, entity, importance) of nodes at these entities of at least `minimum`.

        Among the 500 newest edges of each entity; entities themselves are left out.
        """
        ids = list(entity_ids)
        rows = self.run("graph.important_connections", ids=ids, minimum=minimum, limit=limit)
        return rows.fetchall()

    def used_again(
        self, session_id: str, *, minimum: int, limit: int
    ) -> Sequence[tuple[UUID, UUID, float]]:
        """Return nodes that the principal's searches in this session returned `minimum` times.

        With the last such search, and the number of them among the last 50.
        """
        return self.run(
            "graph.used_again",
            session_id=session_id,
            principal_id=self.principal.principal_id,
            minimum=minimum,
            limit=limit,
        ).fetchall()

    def judged(self, since: datetime) -> Mapping[str, tuple[int, int]]:
        """Return by signal how often its nodes were judged since then, and how often useful.

        What public keys say does not count: they may be anybody.
        """
        return dict(self.all_of(JUDGED, "graph.judged", since=since))

    def _rows(self, pair: tuple[str, str], filters: Filters, **parameters: Any) -> list[Any]:
        return self._read_rows(tuple_row, pair, filters, **parameters)

    def _read_rows(
        self, factory: RowFactory[R], pair: tuple[str, str], filters: Filters, **parameters: Any
    ) -> list[R]:
        all_parameters = {"workspace_id": self.principal.workspace_id, **parameters}
        present, past = pair
        name = present if filters.as_of_position is None else past
        if filters.as_of_position is not None:
            all_parameters["as_of_position"] = filters.as_of_position
        with self.connection.cursor(row_factory=factory, binary=True) as cursor:
            return cursor.execute(query(name), all_parameters).fetchall()


class PostgresFeedback:
    """Implements `FeedbackStore`, one short transaction each."""

    def __init__(
        self, database: Database, wait_for: Callable[[UUID], None] = lambda run_id: None
    ) -> None:
        self._database = database
        self._wait_for = wait_for  # a search that this process has yet to record

    def returned(self, principal: Principal, search_id: UUID, node_id: UUID) -> bool | None:
        """Return whether a search returned a node; None for a search the principal may not see."""
        self._wait_for(search_id)
        parameters = {
            "workspace_id": principal.workspace_id,
            "search_id": search_id,
            "node_id": node_id,
            "principal_id": principal.principal_id,
            "anyone": principal.role is Role.ADMIN,
        }
        with bound(self._database, principal) as connection:
            return scalar(connection, "graph.searched", parameters)

    def keep(self, principal: Principal, feedback: Feedback, now: datetime) -> str | None:
        """Keep the principal's last word on a node of a search; return the search's recipe."""
        parameters = {
            "workspace_id": principal.workspace_id,
            "search_id": feedback.search_id,
            "node_id": feedback.node_id,
            "principal_id": principal.principal_id,
            "useful": feedback.useful,
            "retrieval_reason": feedback.retrieval_reason,
            "signal": feedback.signal,
            "now": now,
        }
        with bound(self._database, principal, read_only=False) as connection:
            return scalar(connection, "graph.keep_feedback", parameters)


def _related_node(*, outgoing: bool, counted: int, **row: Any) -> tuple[RelatedNode, int]:
    return RelatedNode(direction=OUTGOING if outgoing else INCOMING, **row), counted
