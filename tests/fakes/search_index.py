"""A search index in memory: the same promises as OpenSearch's, for tests of what uses one.

Words are matched as they are, case aside; nothing is stemmed. The score is how many match.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.graph.node import State
from cairn.kernel.errors import Unavailable
from cairn.recall.keyword_index import IndexAnswer
from cairn.recall.records import Candidate
from cairn.search_index.sync import Bucket, LiveIndex, SyncResult, bucket_of, mark_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.recall.records import Filters
    from cairn.search_index.sync import IndexDocument

_PRESENT = (State.ACTIVE, State.PROVISIONAL)
CONTEXT_WEIGHT = 0.6
_WORD = re.compile(r"\w+")


@dataclass
class InMemorySearchIndex:
    """Implements `search_index.sync.SearchIndex` and `recall.keyword_index.KeywordIndex`.

    It keeps no guards: what it finds is every node of the workspace with one of the words.
    """

    indexes: dict[str, dict[UUID, IndexDocument]] = field(
        default_factory=dict[str, "dict[UUID, IndexDocument]"]
    )
    name: str | None = None
    reason: str | None = None  # why it is unavailable, when it is
    _made: int = 0

    def live(self) -> LiveIndex | None:
        """Return the index in use."""
        self._answer()
        return LiveIndex(self.name, True) if self.name else None

    def building(self) -> str | None:
        """Return the newest that is not live."""
        self._answer()
        return max((index for index in self.indexes if index != self.name), default=None)

    def create(self) -> str:
        """Make an empty one."""
        self._answer()
        self._made += 1
        name = f"memory-{self._made:06}"
        self.indexes[name] = {}
        return name

    def go_live(self, name: str) -> Sequence[str]:
        """Switch, and drop the others."""
        self._answer()
        dropped = sorted(index for index in self.indexes if index != name)
        self.indexes, self.name = {name: self._held(name)}, name
        return dropped

    def write(self, name: str, documents: Sequence[IndexDocument]) -> SyncResult:
        """Put in and take out, unless newer ones are there. What is gone is kept as its version."""
        held = self._held(name)
        counts = Counter[str]()
        for document in documents:
            known = held.get(document.node_id)
            if known and known.position > document.position:
                counts["newer"] += 1
            elif document.findable or (known and known.findable):
                counts["indexed" if document.findable else "removed"] += 1
                held[document.node_id] = document
        return SyncResult(
            indexed=counts["indexed"], removed=counts["removed"], newer=counts["newer"]
        )

    def remove(self, name: str, workspace_id: UUID, positions: Mapping[UUID, int]) -> int:
        """Take documents out at the versions seen."""
        held = self._held(name)
        gone = [
            item.node_id
            for item in self._of(name, workspace_id)
            if item.position <= positions.get(item.node_id, -1)
        ]
        for node_id in gone:
            del held[node_id]
        return len(gone)

    def refresh(self, name: str) -> None:
        """Do nothing: everything is found at once."""
        self._held(name)

    def buckets(self, name: str, workspace_id: UUID) -> Mapping[str, Bucket]:
        """Return the workspace's documents by bucket."""
        found: dict[str, Bucket] = {}
        for item in self._of(name, workspace_id):
            key = bucket_of(item.node_id)
            nodes, marks = found.get(key, Bucket(0, 0))
            found[key] = Bucket(nodes + 1, marks + mark_of(item.node_id, item.position))
        return found

    def positions(self, name: str, workspace_id: UUID, bucket: str) -> Mapping[UUID, int]:
        """Return the documents of one bucket."""
        return {
            item.node_id: item.position
            for item in self._of(name, workspace_id)
            if bucket_of(item.node_id) == bucket
        }

    def find(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> IndexAnswer:
        """Return the nodes with any of the words, those with more of them first."""
        self._answer()
        if self.name is None:
            raise Unavailable("There is no search index yet.", reason="no-alias")
        asked = _words(" ".join(terms))
        past = filters.include_superseded or filters.valid_at is not None
        scored = [
            (
                len(asked & _words(item.own)) + CONTEXT_WEIGHT * len(asked & _words(item.context)),
                item.node_id,
            )
            for item in self._of(self.name, principal.workspace_id)
            if past or item.state in _PRESENT
        ]
        best = sorted((-score, node_id) for score, node_id in scored if score)[:limit]
        return IndexAnswer(self.name, [Candidate(node_id, -score) for score, node_id in best])

    def _of(self, name: str, workspace_id: UUID) -> list[IndexDocument]:
        return [
            item
            for item in self._held(name).values()
            if item.workspace_id == workspace_id and item.findable
        ]

    def _held(self, name: str) -> dict[UUID, IndexDocument]:
        self._answer()
        if name not in self.indexes:
            raise Unavailable("The index is gone.", reason="no-index")
        return self.indexes[name]

    def _answer(self) -> None:
        if self.reason:
            raise Unavailable("The index does not answer.", reason=self.reason)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
