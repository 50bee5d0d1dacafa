"""What is measured in one workspace: the vector index against exact search, and times in ms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.metrics import percentile
from cairn.recall.query import SearchRequest
from cairn.recall.questions.understanding import understand
from cairn.recall.recipes import DEFAULT
from cairn.recall.records import Candidate, Filters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from benchmarks.floor import Floor
    from benchmarks.scale.load import Workspace
    from cairn.embedding.port import Embedder, Vectors
    from cairn.kernel.access import Principal
    from cairn.recall.ports import KeywordLeg, VectorLeg
    from cairn.recall.recall import Recall

NEAREST = 10
TIMEOUT_MS = 30_000
WARM_UP = 10
UNCACHED = {"cache": False}
"""A question asked before would be answered from memory."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Asks one question after the other: bare legs, floor, whole, so all see the same load."""

    embedder: Embedder
    vector_leg: VectorLeg
    keyword_leg: KeywordLeg
    index_leg: KeywordLeg | None
    recall: Recall
    floor: Floor
    http: Callable[[Workspace, str], float] | None
    clock: Callable[[], datetime]
    stopwatch: Callable[[], float]

    def run(
        self,
        workspace: Workspace,
        questions: Sequence[str],
        exact: ExactSearch,
        done: Callable[[int], None],
    ) -> dict[str, Any]:
        """Return recall@10 of the vector leg and p50 and p95 of each part, in ms.

        With an index beside PostgreSQL also how much their first ten have in common.
        """
        for question in questions[:WARM_UP]:
            self._times(workspace, question)
        found: list[float] = []
        alike: list[float] = []
        times: list[dict[str, float]] = []
        for question in questions:
            found.append(self._vector_recall(workspace, question, exact))
            if self.index_leg is not None:
                alike.append(self._alike(self.index_leg, workspace, question))
            times.append(self._times(workspace, question))
            done(1)
        beside = {"opensearch_alike_at_10": round(sum(alike) / len(alike), 4)} if alike else {}
        return {
            "rows": workspace.rows,
            "vector_recall_at_10": round(sum(found) / len(found), 4),
            **beside,
            **summary(times),
        }

    def _vector_recall(self, workspace: Workspace, question: str, exact: ExactSearch) -> float:
        vector = self.embedder.embed([question])[0]
        wanted = exact.nearest(vector, NEAREST)
        found = self.vector_leg.search(
            workspace.principal,
            vector,
            Filters(),
            model_id=self.embedder.model.id,
            minimum=-1.0,
            limit=NEAREST,
            timeout_ms=TIMEOUT_MS,
        )
        return len(wanted.intersection(each.node_id for each in found)) / max(1, len(wanted))

    def _alike(self, index: KeywordLeg, workspace: Workspace, question: str) -> float:
        """Return the share of PostgreSQL's first ten by words that the index's first ten have."""
        wanted, found = (
            {each.node_id for each in self._words(leg, workspace.principal, question)[:NEAREST]}
            for leg in (self.keyword_leg, index)
        )
        return len(wanted & found) / max(1, len(wanted))

    def _times(self, workspace: Workspace, question: str) -> dict[str, float]:
        principal, now = workspace.principal, self.clock()
        vector = self.embedder.embed([question])[0]
        model_id, limit = self.embedder.model.id, DEFAULT.candidates
        times = {
            "embed": self._timed(lambda: self.embedder.embed([question])),
            "vector": self._timed(
                lambda: self.vector_leg.search(
                    principal,
                    vector,
                    Filters(),
                    model_id=model_id,
                    minimum=DEFAULT.minimum_cosine,
                    limit=limit,
                    timeout_ms=TIMEOUT_MS,
                )
            ),
            "keyword": self._timed(lambda: self._words(self.keyword_leg, principal, question)),
            "floor": self.floor.ms(principal.workspace_id, question, now),
            "recall": self._timed(
                lambda: self.recall(
                    principal, SearchRequest(query=question, neighbours=0, stages=UNCACHED)
                )
            ),
        }
        if (index := self.index_leg) is not None:
            times["opensearch"] = self._timed(lambda: self._words(index, principal, question))
        if self.http is not None:
            times["http"] = self.http(workspace, question)
        return times

    def _words(self, leg: KeywordLeg, principal: Principal, question: str) -> Sequence[Candidate]:
        terms, limit = understand(question, self.clock()).terms, DEFAULT.candidates
        return leg.search(principal, terms, Filters(), limit=limit, timeout_ms=TIMEOUT_MS)

    def _timed(self, call: Callable[[], object]) -> float:
        start = self.stopwatch()
        call()
        return (self.stopwatch() - start) * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactSearch:
    """Every vector of a workspace as stored; `vectors` has shape (rows, dimensions)."""

    ids: Sequence[UUID]
    vectors: Vectors

    def nearest(self, vector: Vectors, count: int) -> frozenset[UUID]:
        """Return the ids of the `count` rows with the highest cosine."""
        best = (-(self.vectors @ vector)).argsort(kind="stable")[:count]
        return frozenset(self.ids[int(at)] for at in best)


def summary(times: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Return p50 and p95 of each part in ms; of the whole also as multiples of the floor's p50."""
    parts = list(times[0])
    shown: dict[str, Any] = {}
    for part in parts:
        values = [each[part] for each in times]
        shown[f"{part}_ms_p50"] = round(percentile(values, 0.5), 2)
        shown[f"{part}_ms_p95"] = round(percentile(values, 0.95), 2)
    for whole in ("recall", "http"):
        if whole in parts:
            for share in ("p50", "p95"):  # of the floor's median: what a usual floor costs
                ratio = shown[f"{whole}_ms_{share}"] / shown["floor_ms_p50"]
                shown[f"{whole}_to_floor_{share}"] = round(ratio, 2)
    return shown
