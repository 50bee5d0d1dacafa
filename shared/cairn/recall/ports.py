"""What recall needs of storage. Contracts only; nothing here knows SQL or an index."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.embedding.port import Vectors
    from cairn.kernel.access import Principal
    from cairn.recall.proactive import ProactiveReader
    from cairn.recall.records import (
        Candidate,
        Filters,
        FoundNode,
        Neighbours,
        Sketch,
    )
    from cairn.recall.results import RelatedReader
    from cairn.workspace.documents import CurrentSettings

ReadSettings = Callable[["Principal"], "CurrentSettings"]
"""Returns what a workspace sets, less than a second old; raises Unavailable when it cannot."""


Reindex = Callable[["Principal", "Sequence[UUID]"], int]
"""Returns how many of these nodes lack a vector, and queues what is not queued; or Unavailable."""

Report = Callable[[str, dict[str, Any]], None]
"""Tells people: an event's name, and fields of ids, counts and codes."""


class VectorLeg(Protocol):
    """Finds nodes by the cosine of their stored vector to the question's."""

    def search(
        self,
        principal: Principal,
        vector: Vectors,
        filters: Filters,
        *,
        model_id: int,
        minimum: float,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return at most `limit` distinct nodes, best first, by cosine (the best of a node's rows).

        `vector` has shape (dimensions,), length 1. Below `minimum` nothing is returned. Filters
        and the principal's guards hold inside, before the limit. Runs in one short transaction of
        its own whose statement timeout is `timeout_ms`. Raises Unavailable when it cannot answer.
        """
        ...


class KeywordLeg(Protocol):
    """Finds nodes by the words of their own text and, weaker, of what was said just before."""

    def search(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return at most `limit` nodes that contain any of `terms`, best first; scores above 0.

        Terms are plain words as a person typed them, at most 32, none of them an operator: the
        adapter stems and quotes. A term that stems to nothing is skipped; no terms, no results.
        Guards, transaction, timeout and errors as for `VectorLeg`.
        """
        ...


class NodeReader(Protocol):
    """Reads found nodes inside one transaction, under row level security."""

    def sketch(self, node_ids: Sequence[UUID], filters: Filters) -> Sequence[Sketch]:
        """Return what ranking needs of the nodes the principal can see, in any order.

        With `filters.as_of_position` the version that held there, else the present row. Ids that
        are gone, hidden or unknown are left out. Up to 400 ids; a search's widest read.
        """
        ...

    def read(
        self, node_ids: Sequence[UUID], filters: Filters, *, subscribed: Collection[UUID] = ()
    ) -> Sequence[FoundNode]:
        """Return the nodes themselves, under the same terms as `sketch`. Up to 100 ids.

        A principal's agent reads only what is tagged for it, except of the ids in `subscribed`:
        those its subscriptions found. Workspace, scope and state hold for them as for all.
        """
        ...

    def neighbours(
        self, nodes: Sequence[FoundNode], count: int, filters: Filters
    ) -> Mapping[UUID, Neighbours]:
        """Return up to `count` visible neighbours on each side of each node.

        A memory's are the nearest by `sequence` of the same session, client and scope, also when
        numbers are missing between; a chunk's the nearest by `ordinal` of the same document; other
        nodes have none. Deleted and quarantined ones never appear.
        """
        ...

    def position_at(self, moment: datetime) -> int:
        """Return the last ledger position recorded at or before `moment`; 0 when there is none."""
        ...

    def moment_at(self, position: int) -> datetime | None:
        """Return when the entry at a ledger position was recorded; None when there is no entry."""
        ...

    def head_position(self) -> int:
        """Return the position of the last ledger entry: what the answer was read from."""
        ...


class RecallStores(Protocol):
    """What recall reads in its one reading transaction."""

    @property
    def node_reader(self) -> NodeReader:
        """Return the reader of nodes."""
        ...

    @property
    def related(self) -> RelatedReader | None:
        """Return the reader of related nodes; None where there is no graph."""
        ...

    @property
    def evidence(self) -> ProactiveReader | None:
        """Return the reader behind proactive nodes; None where there is no graph."""
        ...
