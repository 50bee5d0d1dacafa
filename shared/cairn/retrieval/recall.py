"""Recall: understand, search by both legs, fuse, score, read under row level security, explain.

Not the legs themselves, nor the HTTP form of the answer. Nothing here writes, except one row that
says what the search did.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cairn.access import Principal
from cairn.clock import Clock, Stopwatch
from cairn.embedding.port import Embedder
from cairn.errors import Unavailable
from cairn.ids import IdSource
from cairn.retrieval.fusion import reciprocal_rank, weighted_sum
from cairn.retrieval.legs import Leg, LegOutcome, run_legs
from cairn.retrieval.ports import KeywordLeg, NodeReader, RecallStores, SearchRuns, VectorLeg
from cairn.retrieval.query import SearchRequest, check, filters_of
from cairn.retrieval.recipes import KEYWORD, VECTOR, Fusion, Recipe, recipe_named
from cairn.retrieval.records import Candidate, Filters, FoundNode, Neighbours, SearchRun
from cairn.retrieval.scoring import Scored, decay, score_all
from cairn.retrieval.understanding import Understanding, understand
from cairn.transaction import Transactions

LEG_TIMEOUT_MS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One found node, what stands beside it, and why it is where it is.

    `scores` by signal: relevance_score (the final score), vector and keyword (the legs' own, when
    they found it), fused, what each signal added, decay_score and importance_score.
    """

    node: FoundNode
    scores: Mapping[str, float]
    neighbours: Neighbours
    retrieval_reason: str = "direct"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallMeta:
    """What happened on the way. `degraded` names each leg that failed, and why."""

    search_id: UUID
    recipe: str
    query_ms: float
    stages_ms: Mapping[str, float]
    legs: Mapping[str, LegOutcome]
    degraded: tuple[str, ...]
    candidates: int
    as_of_position: int | None
    embedder: str
    understanding: Understanding


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """Results, best first, and what happened."""

    results: tuple[Result, ...]
    meta: RecallMeta


class _Stages:
    """Milliseconds by stage, in order."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        self._stopwatch = stopwatch
        self._start = self._last = stopwatch()
        self.ms: dict[str, float] = {}

    def end(self, stage: str) -> None:
        now = self._stopwatch()
        self.ms[stage] = (now - self._last) * 1000
        self._last = now

    def total(self) -> float:
        return (self._last - self._start) * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """One search on its way."""

    id: UUID
    principal: Principal
    request: SearchRequest
    recipe: Recipe
    filters: Filters
    asked: Understanding
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate that is shown, with its scores by signal."""

    scored: Scored
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The use case. One object serves every thread; `pool` runs the legs and is the caller's.

    The question is embedded inside the vector leg, beside the keyword leg, so an embedder that
    fails or is slow costs that leg and not the answer.
    """

    embedder: Embedder
    vector_leg: VectorLeg
    keyword_leg: KeywordLeg
    transactions: Transactions[RecallStores]
    search_runs: SearchRuns
    pool: Executor
    clock: Clock
    stopwatch: Stopwatch
    new_id: IdSource
    leg_timeout_ms: int = LEG_TIMEOUT_MS

    def __call__(self, principal: Principal, request: SearchRequest) -> RecallResult:
        """Answer `request` within what `principal` may see.

        Raises ValidationFailed for a bad request, Denied for a scope that is not the principal's,
        Unavailable when every leg failed or the nodes cannot be read.
        """
        check(request, principal)
        stages = _Stages(self.stopwatch)
        search = self._understood(principal, request)
        stages.end("understand")
        outcomes = self._run_legs(search)
        stages.end("legs")
        fused = _fuse(outcomes, search.recipe)
        stages.end("fuse")
        with self._reading(principal) as stores:
            best = _ranked(stores.nodes, search, outcomes, fused)
            stages.end("rank")
            # recorded while the results are read, and waited for: nothing runs after the answer
            recording = self.pool.submit(self._record, search, outcomes, best, stages.total())
            results = _shown(stores.nodes, search, best)
        stages.end("read")
        degraded = [*_failures(outcomes), *recording.result()]
        stages.end("record")
        meta = RecallMeta(
            search_id=search.id,
            recipe=search.recipe.name,
            query_ms=stages.total(),
            stages_ms=stages.ms,
            legs=outcomes,
            degraded=tuple(degraded),
            candidates=len(fused),
            as_of_position=search.filters.as_of_position,
            embedder=self.embedder.model.name,
            understanding=search.asked,
        )
        return RecallResult(results=results, meta=meta)

    def _understood(self, principal: Principal, request: SearchRequest) -> _Search:
        now = self.clock()
        position = request.as_of
        if isinstance(position, datetime):
            with self._reading(principal) as stores:
                position = stores.nodes.position_at(position)
        return _Search(
            id=self.new_id(),
            principal=principal,
            request=request,
            recipe=recipe_named(request.recipe),
            filters=filters_of(request, as_of_position=position),
            asked=understand(request.query, now),
            at=now,
        )

    def _run_legs(self, search: _Search) -> dict[str, LegOutcome]:
        with suppress(Unavailable):  # a missing model is the vector leg's to report
            self.embedder.load()
        known: dict[str, Leg] = {
            KEYWORD: lambda: self._by_keyword(search),
            VECTOR: lambda: self._by_vector(search),
        }
        outcomes = run_legs(
            {name: leg for name, leg in known.items() if search.recipe.weights.get(name)},
            pool=self.pool,
            deadline_s=self.leg_timeout_ms / 1000,
            stopwatch=self.stopwatch,
        )
        if all(outcome.failure for outcome in outcomes.values()):
            raise Unavailable("No leg of the search answered.", reason="all-legs-failed")
        return outcomes

    def _by_vector(self, search: _Search) -> Sequence[Candidate]:
        vector = self.embedder.embed([search.request.query])[0]
        return self.vector_leg.search(
            search.principal,
            vector,
            search.filters,
            model_id=self.embedder.model.id,
            minimum=search.recipe.minimum_cosine,
            limit=search.recipe.candidates,
            timeout_ms=self.leg_timeout_ms,
        )

    def _by_keyword(self, search: _Search) -> Sequence[Candidate]:
        return self.keyword_leg.search(
            search.principal,
            search.asked.terms,
            search.filters,
            limit=search.recipe.candidates,
            timeout_ms=self.leg_timeout_ms,
        )

    def _reading(self, principal: Principal) -> AbstractContextManager[RecallStores]:
        return self.transactions.reading(principal, timeout_ms=self.leg_timeout_ms)

    def _record(
        self,
        search: _Search,
        outcomes: Mapping[str, LegOutcome],
        best: Sequence[Ranked],
        duration_ms: float,
    ) -> list[str]:
        """Keep what the search did. A failure is said in the answer and costs nothing else."""
        run = SearchRun(
            id=search.id,
            workspace_id=search.principal.workspace_id,
            principal_id=search.principal.principal_id,
            recipe=search.recipe.name,
            started_at=search.at,
            returned=tuple(each.scored.sketch.id for each in best),
            candidates={
                name: tuple((found.node_id, found.score) for found in outcome.candidates)
                for name, outcome in outcomes.items()
            },
            signals={str(each.scored.sketch.id): each.scores for each in best},
            degraded=tuple(_failures(outcomes)),
            duration_ms=duration_ms,
            counts_as_access=search.filters.as_of_position is None,
        )
        try:
            self.search_runs.record(search.principal, run)
        except Unavailable as error:
            return [f"search_run: {error.reason}"]
        return []


def _ranked(
    reader: NodeReader,
    search: _Search,
    outcomes: Mapping[str, LegOutcome],
    fused: Mapping[UUID, float],
) -> list[Ranked]:
    """Score sketches of the best fused candidates and return as many as are asked for."""
    if not fused:
        return []
    widest = max(search.recipe.scored, search.request.limit)
    wanted = sorted(fused, key=fused.__getitem__, reverse=True)[:widest]
    sketches = reader.sketch(wanted, search.filters)
    scored = score_all(sketches, fused, search.asked, search.recipe, search.at)
    legs = {name: _scores(outcome) for name, outcome in outcomes.items()}
    return [
        Ranked(scored=each, scores=_explained(each, legs, search.at))
        for each in scored[: search.request.limit]
    ]


def _shown(reader: NodeReader, search: _Search, best: Sequence[Ranked]) -> tuple[Result, ...]:
    """Read the nodes that are shown and what stands beside them, in their order."""
    if not best:
        return ()
    nodes = reader.read([each.scored.sketch.id for each in best], search.filters)
    beside: Mapping[UUID, Neighbours] = {}
    if count := search.request.neighbours:
        beside = reader.neighbours(nodes, count, search.filters)
    by_id = {node.id: node for node in nodes}
    return tuple(
        Result(
            node=node,
            scores={**each.scores, "importance_score": node.importance},
            neighbours=beside.get(node.id, Neighbours()),
        )
        for each in best
        if (node := by_id.get(each.scored.sketch.id))
    )


def _failures(outcomes: Mapping[str, LegOutcome]) -> list[str]:
    return [f"{name}: {each.failure}" for name, each in outcomes.items() if each.failure]


def _fuse(outcomes: Mapping[str, LegOutcome], recipe: Recipe) -> dict[UUID, float]:
    legs = {name: outcome.candidates for name, outcome in outcomes.items()}
    if recipe.fusion is Fusion.RECIPROCAL_RANK:
        return reciprocal_rank(legs, recipe.weights)
    return weighted_sum(legs, recipe.weights, normalised=frozenset({KEYWORD}))


def _scores(outcome: LegOutcome) -> dict[UUID, float]:
    return {candidate.node_id: candidate.score for candidate in outcome.candidates}


def _explained(
    scored: Scored, legs: Mapping[str, Mapping[UUID, float]], at: datetime
) -> dict[str, float]:
    node_id = scored.sketch.id
    found_by = {name: scores[node_id] for name, scores in legs.items() if node_id in scores}
    return {
        "relevance_score": scored.score,
        **found_by,
        **scored.signals,
        "decay_score": decay(scored.sketch, at),
    }
