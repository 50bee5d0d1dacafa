"""Recall: one walk from a question to results that say why they are there.

ask (gate, rewrite, intents) -> expand -> route -> legs -> fuse -> score, boost, merge duplicates
-> cover facets -> rerank -> cut -> read, expand one hop, surface -> record. Each stage is a module
of its own; the recipe says which ones run. Not the HTTP form of the answer. Nothing here writes,
except one row that says what the search did.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from cairn.embedding.port import gives_tokens
from cairn.graph.intent_weights import Intent
from cairn.kernel.access import Role
from cairn.kernel.errors import FieldError, Unavailable, ValidationFailed
from cairn.kernel.spans import span
from cairn.llm.budget import Budget, Limits
from cairn.llm.costs import Call
from cairn.recall.personal import (
    PERSONAL,
    nobody,
    personal_outcome,
    reasons_in,
    require_person,
    with_personal,
)
from cairn.recall.query import Search, SearchRequest, Stages, check, filters_of
from cairn.recall.questions import gate, intents
from cairn.recall.questions.facets import as_ruled, decompose, wanted_set
from cairn.recall.questions.model_calls import ModelCalls
from cairn.recall.questions.read import Asking, no_expansion
from cairn.recall.questions.understanding import as_asked
from cairn.recall.ranking import Ranking, best_fused, cut, explained, fuse, rank, reordered
from cairn.recall.recipes import GRAPH, KEYWORD, SUBSCRIPTIONS, VECTOR, recipe_named, routed
from cairn.recall.relevance import calibration_of, found_by_words_alone, judged, second_look
from cairn.recall.rerank import MAX_TEXTS
from cairn.recall.results import RecallMeta, RecallResult, proactive, shown
from cairn.recall.searches.recorder import line_of, run_of
from cairn.recall.second_pass import measuring
from cairn.recall.switches import switched, weighted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.recall.legs import LegOutcome, Legs
    from cairn.recall.personal import Traits
    from cairn.recall.ports import ReadSettings, Reindex, Report
    from cairn.recall.questions.facets import Decomposer
    from cairn.recall.questions.gate import GateVerdict, Turn
    from cairn.recall.questions.read import Expander
    from cairn.recall.recipes import Recipe
    from cairn.recall.records import SearchRun
    from cairn.recall.relevance import Calibration
    from cairn.recall.rerank import Reranker
    from cairn.recall.result_cache import ResultCache
    from cairn.recall.results import Result
    from cairn.recall.searches.recorder import RunRecorder
    from cairn.workspace.settings import RecallSettings

MAX_REINDEXED = 50
AHEAD = timedelta(seconds=5)
"""How far ahead of ours the clock of who asks `as_of` may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedAnswer:
    """What was ranked and read, and what went wrong meanwhile."""

    ranking: Ranking = field(default_factory=Ranking)
    results: tuple[Result, ...] = ()
    degraded: tuple[str, ...] = ()
    head_position: int | None = None
    unchanged: bool = False  # since before the legs ran
    run: SearchRun | None = None


def silent(event: str, fields: dict[str, Any]) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The use case. One object serves every thread.

    Parts that are None, or answer by rules, are what a deployment without models has.
    """

    legs: Legs
    transactions: Transactions[Stores]
    search_runs: RunRecorder
    clock: Clock
    stopwatch: Stopwatch
    new_id: IdSource
    settings: ReadSettings | None = None
    asking: Asking = field(
        default_factory=lambda: Asking(gate=gate.by_rules, intents=intents.by_rules)
    )
    expander: Expander = no_expansion
    decomposer: Decomposer = as_ruled
    reranker: Reranker | None = None
    cache: ResultCache | None = None
    reindex: Reindex | None = None
    estimate: Callable[[], Calibration | None] | None = None
    traits: Traits = nobody
    report: Report = silent
    note: Report = silent  # of every search, where `report` is of trouble
    limits: Limits = field(default_factory=Limits)

    def __call__(self, principal: Principal, request: SearchRequest) -> RecallResult:
        """Answer `request` within what `principal` may see.

        Raises ValidationFailed for a bad request, Denied for a scope that is not the principal's,
        Unavailable when every leg failed or the nodes cannot be read.
        """
        with span("recall", {"cairn.workspace_id": str(principal.workspace_id)}) as measured:
            result = self._walk(principal, request)
            measured.put({"cairn.results": len(result.results)})
        self.note("recall.search", line_of(result.meta))
        return result

    def _walk(self, principal: Principal, request: SearchRequest) -> RecallResult:
        """Take the stages in their order."""
        check(request, principal)
        if request.personalize_for is not None:
            require_person(principal, request.personalize_for)
        stages = Stages(self.stopwatch)
        search = self._prepare_search(principal, request)
        stages.end("understand")
        if not search.looked_up:
            return self._answered(search, stages, {}, RankedAnswer())
        if cached := self._cached_result(search, stages):
            return cached
        before = self._last_head(search)
        search = self._taken_apart(self._reworded(search))
        stages.end("expand")
        outcomes = self._personalised(search, self.legs.run(search))
        stages.end("legs")
        fused = fuse({leg: outcome.candidates for leg, outcome in outcomes.items()}, search.recipe)
        stages.end("fuse")
        found_nodes = self._rank_and_read(search, outcomes, fused, stages, before)
        result = self._answered(search, stages, outcomes, found_nodes)
        self._keep(search, result, found_nodes)
        return result

    def _prepare_search(self, principal: Principal, request: SearchRequest) -> Search:
        """Take the question apart and settle which recipe answers it, and as of when."""
        started_at = self.clock()
        workspace, ignored = self._workspace(principal)
        recipe = _chosen(request, workspace)
        if not gives_tokens(self.legs.embedder):
            recipe = switched(recipe, {"late": False})
        position, at = self._moment(principal, request, started_at)
        search_id = self.new_id()
        calls = ModelCalls(
            Budget(self.limits, stopwatch=self.stopwatch),
            Call(workspace_id=principal.workspace_id, run_id=search_id),
        )
        question = self._asking_for(recipe)(
            request.query,
            request.history,
            admin=principal.role is Role.ADMIN,
            asked_at=at,
            calls=calls,
            intent=Intent(request.intent) if request.intent else None,
        )
        question = question.by(request.client_id or principal.client_id)
        narrowed = bool(request.labels or request.kinds)
        recipe = routed(recipe, question.retrieval_class, narrowed=narrowed)
        return Search(
            id=search_id,
            principal=principal,
            request=request,
            recipe=recipe,
            filters=filters_of(
                request,
                recipe,
                as_of_position=position,
                language=question.understanding.language,
            ),
            asked=question,
            at=at,
            started_at=started_at,
            calls=calls,
            workspace=workspace,
            calibration=self._calibration(recipe, workspace),
            wordings=(as_asked(question.question),),
            ignored=ignored,
        )

    def _asking_for(self, recipe: Recipe) -> Asking:
        """Return the first stage without what the recipe does not use: a model call takes long."""
        if recipe.gate:
            return self.asking
        inferred = self.asking.intents if recipe.weights.get(GRAPH) else intents.by_rules
        return Asking(gate=_let_pass, intents=inferred)

    def _workspace(self, principal: Principal) -> tuple[RecallSettings, tuple[str, ...]]:
        if self.settings is None:
            from cairn.workspace.settings import RecallSettings

            return RecallSettings(), ()
        current = self.settings(principal)
        ignored = tuple(name for name in current.ignored if name.startswith("recall"))
        return current.settings.recall, ignored

    def _moment(
        self, principal: Principal, request: SearchRequest, now: datetime
    ) -> tuple[int | None, datetime]:
        """Return the ledger position and the moment a search answers for; ValidationFailed ahead.

        A moment before the workspace is position 0, at which nothing was known.
        """
        as_of = request.as_of
        if as_of is None:
            return None, now
        if isinstance(as_of, datetime):
            if as_of > now + AHEAD:
                raise _ahead("is in the future")
            with self._reading(principal) as stores:
                return stores.node_reader.position_at(as_of), as_of
        if as_of == 0:
            return 0, now
        with self._reading(principal) as stores:
            moment = stores.node_reader.moment_at(as_of)
        if moment is None:
            raise _ahead("is past the ledger's end")
        return as_of, moment

    def _reworded(self, search: Search) -> Search:
        """Return the search with its paraphrases, when the recipe expands."""
        if not search.recipe.expansion:
            return search
        question = search.asked
        others = self.expander(
            search.principal.workspace_id,
            question.question,
            question.retrieval_class,
            calls=search.calls,
        )
        return replace(search, wordings=tuple(dict.fromkeys((*search.wordings, *others))))

    def _taken_apart(self, search: Search) -> Search:
        """Return the search with the parts of its question, when the recipe looks for them."""
        if not search.recipe.facets:
            return search
        question = search.asked.question
        parts = decompose(question)
        if search.recipe.decomposition:
            parts = self.decomposer(question, parts, calls=search.calls)
        return replace(search, parts=parts, wanted=wanted_set(question))

    def _personalised(
        self, search: Search, outcomes: dict[str, LegOutcome]
    ) -> Mapping[str, LegOutcome]:
        """Return the outcomes with what is known of whom the search is for."""
        if search.request.personalize_for is None:
            return outcomes
        outcome = personal_outcome(
            search,
            outcomes,
            self.traits,
            self.transactions,
            stopwatch=self.stopwatch,
            timeout_ms=self.legs.timeout_ms,
        )
        return {**outcomes, PERSONAL: outcome}

    def _rank_and_read(
        self,
        search: Search,
        outcomes: Mapping[str, LegOutcome],
        fused: Mapping[UUID, float],
        stages: Stages,
        before: int | None,
    ) -> RankedAnswer:
        """Rank what the legs found and read what is shown, in one transaction when it can be.

        Nothing is waited for while a transaction is open: neither a model, nor a thread.
        """
        lacking = self._empty_vector_leg(search, outcomes)
        with self._reading(search.principal) as stores:
            ranking = self._ranked(stores, search, outcomes, fused)
            head = stores.node_reader.head_position() if self._caches(search) else None
            still = before is not None and not stores.node_reader.changed_since(before)
            stages.end("rank")
            again = search.wanted is not None or search.parts.facets
            shown = (
                None
                if again or self._reranks(search, ranking)
                else self._shown(stores, search, outcomes, ranking, stages, degraded=lacking)
            )
        if shown is None:
            if again:
                outcomes, ranking, missed = self._covered(search, outcomes, ranking)
                lacking = (*missed, *lacking)
                stages.end("facets")
            degraded: tuple[str, ...] = ()
            if self._reranks(search, ranking):
                ranking, degraded = self._reranked(search, ranking)
                stages.end("rerank")
            with self._reading(search.principal) as stores:
                shown = self._shown(
                    stores, search, outcomes, ranking, stages, degraded=(*degraded, *lacking)
                )
        found_nodes, recording = shown
        degraded = (*found_nodes.degraded, *_ended(recording))
        stages.end("record")
        return replace(found_nodes, degraded=degraded, head_position=head, unchanged=still)

    def _ranked(
        self,
        stores: Stores,
        search: Search,
        outcomes: Mapping[str, LegOutcome],
        fused: Mapping[UUID, float],
    ) -> Ranking:
        """Rank what was fused, without what does not bear on the question."""
        node_ids = best_fused(fused, search.recipe, search.limit)
        sketches = stores.node_reader.sketch(node_ids, search.filters) if node_ids else ()
        legs = {leg: outcome.candidates for leg, outcome in outcomes.items()}
        measure = measuring(stores, search, outcomes, self.legs.embedder.model.id)
        ranking = rank(sketches, fused, search, legs, measure)
        return self._judged(stores, ranking, search, outcomes)

    def _covered(
        self, search: Search, outcomes: Mapping[str, LegOutcome], ranking: Ranking
    ) -> tuple[Mapping[str, LegOutcome], Ranking, tuple[str, ...]]:
        """Return the search with something for each facet and the set it asks about.

        What the first round left bare is looked for once more, and what failed then is named.
        """
        from cairn.recall import coverage, second_round  # most questions are one

        left_bare = coverage.bare(ranking, search.parts)
        trouble: tuple[str, ...] = ()
        if left_bare:
            wider, trouble = second_round.widened(
                self.legs, search, outcomes, left_bare, answered=bool(ranking.kept)
            )
            fused = fuse({leg: outcome.candidates for leg, outcome in wider.items()}, search.recipe)
            with self._reading(search.principal) as stores:
                again = self._ranked(stores, search, wider, fused)
            if len(coverage.bare(again, search.parts)) < len(left_bare):
                outcomes, ranking = wider, again
        ranking, covered = coverage.cover(ranking, search.parts, search.limit)
        found_set = None
        if search.wanted is not None:
            ids, missed = second_round.gathered(self.legs, search, search.wanted)
            trouble = (*trouble, *missed)
            with self._reading(search.principal) as stores:
                found_set = second_round.read_set(stores, search, search.wanted, ids)
            ranking = coverage.extreme_first(ranking, found_set, search.limit)
        covered_set = coverage.Coverage(
            parts=search.parts, covered=covered, second_round=bool(left_bare), found=found_set
        )
        return outcomes, replace(ranking, coverage=covered_set), trouble

    def _judged(
        self,
        stores: Stores,
        ranking: Ranking,
        search: Search,
        outcomes: Mapping[str, LegOutcome],
    ) -> Ranking:
        """Leave out what does not bear on the question, as far as that can be told."""
        calibration = search.calibration
        unsure: Sequence[UUID] = ()
        if calibration and search.recipe.relevance:
            unsure = found_by_words_alone(outcomes, search.recipe)
        if unsure:
            unsure = stores.node_reader.without_vector(unsure, self.legs.embedder.model.id)
        return judged(ranking, outcomes, search, calibration, without_vector=unsure)

    def _calibration(self, recipe: Recipe, workspace: RecallSettings) -> Calibration | None:
        """Return the embedder's constants, estimated when nobody fitted any; None without."""
        calibration = calibration_of(self.legs.embedder.model.name, workspace)
        if calibration or self.estimate is None or not recipe.relevance:
            return calibration
        try:
            return self.estimate()
        except Unavailable:
            return None

    def _reranks(self, search: Search, ranking: Ranking) -> bool:
        return bool(self.reranker and search.recipe.rerank and ranking.kept)

    def _reranked(self, search: Search, ranking: Ranking) -> tuple[Ranking, tuple[str, ...]]:
        """Let the reranker read the best; when it cannot, the order stays, and that is said."""
        if self.reranker is None:
            return ranking, ()
        best = ranking.kept[: min(search.recipe.rerank, MAX_TEXTS)]
        texts = [item.sketch.text for item in best]
        try:
            scores = self.reranker(search.asked.question, texts, calls=search.calls)
        except Unavailable as error:
            return ranking, (f"rerank: {error.reason}",)
        by_id = {candidate.sketch.id: score for candidate, score in zip(best, scores, strict=True)}
        return second_look(reordered(ranking, by_id)), ()

    def _shown(
        self,
        stores: Stores,
        search: Search,
        outcomes: Mapping[str, LegOutcome],
        ranking: Ranking,
        stages: Stages,
        *,
        degraded: tuple[str, ...],
    ) -> tuple[RankedAnswer, Callable[[], None]]:
        """Read what is shown, while what the search did is kept; return what ends the latter."""
        best = cut(ranking, search.recipe, search.limit)
        trouble = (*_failures(outcomes), *degraded, *_unheld(search, ranking))
        run = run_of(
            search,
            outcomes,
            ranking,
            [item.sketch.id for item in best],
            degraded=trouble,
            stages_ms=stages.ms,
        )
        recording = self.search_runs.record(run)
        legs = {name: _scores(outcome) for name, outcome in outcomes.items()}
        subscribed = frozenset(legs.get(SUBSCRIPTIONS, ()))
        results = shown(
            stores,
            search,
            explained(best, legs, ranking, search),
            ranking.merged,
            subscribed=subscribed,
            personal=reasons_in(outcomes.values()),
        )
        if ranking.judgement is None or ranking.judgement.answerable is not False:
            results = (*results, *proactive(stores, search, results, run.seeds))
        stages.end("read")
        return RankedAnswer(ranking=ranking, results=results, degraded=trouble, run=run), recording

    def _empty_vector_leg(
        self, search: Search, outcomes: Mapping[str, LegOutcome]
    ) -> tuple[str, ...]:
        """Tell when words found something and vectors nothing, and ask for missing vectors.

        The answer is degraded by it unless every node the words found has its vector: then
        nothing was alike enough, which is an answer.
        """
        vector, keyword = outcomes.get(VECTOR), outcomes.get(KEYWORD)
        if vector is None or keyword is None or vector.failure or vector.candidates:
            return ()
        if not keyword.candidates or search.filters.as_of_position is not None:
            return ()
        ids = [candidate.node_id for candidate in keyword.candidates[:MAX_REINDEXED]]
        try:
            lacking = self.reindex(search.principal, ids) if self.reindex else None
        except Unavailable as error:
            return ("vector: empty", f"reindex: {error.reason}")
        excused = lacking == 0 and search.recipe.minimum_cosine > 0
        self.report(
            "recall.vector_leg_empty",
            {
                "workspace_id": str(search.principal.workspace_id),
                "search_id": str(search.id),
                "keyword": len(keyword.candidates),
                "lacking": lacking,
                "excused": excused,
            },
        )
        return () if excused else ("vector: empty",)

    def _answered(
        self,
        search: Search,
        stages: Stages,
        outcomes: Mapping[str, LegOutcome],
        found_nodes: RankedAnswer,
    ) -> RecallResult:
        graph = next((outcome.graph for outcome in outcomes.values() if outcome.graph), None)
        meta = RecallMeta(
            search=search,
            query_ms=stages.total(),
            stages_ms=stages.ms,
            legs=outcomes,
            degraded=found_nodes.degraded,
            embedder=self.legs.embedder.model.name,
            counts=_counts(search, outcomes, found_nodes),
            seeds=tuple(seed.canonical_name for seed in graph.seeds) if graph else (),
            method=graph.method if graph else None,
            head_position=found_nodes.head_position,
            judgement=found_nodes.ranking.judgement,
            coverage=found_nodes.ranking.coverage,
        )
        return RecallResult(results=found_nodes.results, meta=meta)

    def _cached_result(self, search: Search, stages: Stages) -> RecallResult | None:
        """Return the answer given to the same question a while ago, if nothing changed since."""
        cached = self.cache.find(search) if self.cache and search.recipe.cache else None
        if cached is None:
            return None
        with self._reading(search.principal) as stores:
            head = cached.result.meta.head_position
            changed = head is None or stores.node_reader.changed_since(head)
        stages.end("cache")
        if changed:
            return None
        run = replace(
            cached.run,
            id=search.id,
            started_at=search.started_at,
            cached_from=cached.run.id,
            duration_ms=stages.total(),
            stages_ms=dict(stages.ms),
        )
        degraded = _ended(self.search_runs.record(run))
        stages.end("record")
        meta = replace(
            cached.result.meta,
            search=search,
            query_ms=stages.total(),
            stages_ms=stages.ms,
            degraded=degraded,
            cached=cached.run.id,
        )
        return replace(cached.result, meta=meta)

    def _caches(self, search: Search) -> bool:
        return self.cache is not None and search.recipe.cache

    def _last_head(self, search: Search) -> int | None:
        if self.cache is None or not search.recipe.cache:
            return None
        return self.cache.last_head(search.principal.workspace_id)

    def _keep(self, search: Search, result: RecallResult, found_nodes: RankedAnswer) -> None:
        """Keep a whole answer, when nothing changed between the legs and the reading."""
        if self.cache is None or found_nodes.run is None:
            return
        self.cache.saw(search.principal.workspace_id, found_nodes.head_position)
        lasting = all(each.node.expires_at is None for each in result.results)
        if search.recipe.cache and found_nodes.unchanged and not found_nodes.degraded and lasting:
            self.cache.keep(search, result, found_nodes.run)

    def _reading(self, principal: Principal) -> AbstractContextManager[Stores]:
        return self.transactions.reading(principal, timeout_ms=self.legs.timeout_ms)


def _ended(recording: Callable[[], None]) -> tuple[str, ...]:
    """Let recording end. A failure is said in the answer and costs nothing else."""
    try:
        recording()
    except Unavailable as error:
        return (f"search_run: {error.reason}",)
    return ()


def _chosen(request: SearchRequest, workspace: RecallSettings) -> Recipe:
    """Return the recipe, first as the workspace changes it, then as the request does."""
    recipe = recipe_named(request.recipe or workspace.recipe)
    recipe = replace(recipe, decay_factor=workspace.decay_factor, rrf_k=workspace.rrf_k)
    recipe = weighted(switched(recipe, workspace.stages), workspace.weights)
    stages = dict(request.stages)
    if request.gate is not None:
        stages["gate"] = request.gate
    if request.method is not None:
        stages[GRAPH] = True
    if request.min_relevance is not None:
        stages["relevance"] = True
    recipe = switched(recipe, stages) if stages else recipe
    return with_personal(recipe) if request.personalize_for is not None else recipe


def _let_pass(
    message: str, history: Sequence[Turn], *, admin: bool, calls: ModelCalls
) -> GateVerdict:
    """Stand for the gate where it is switched off: everything is searched for, as it is."""
    return _PASS


_PASS = gate.GateVerdict(
    search=True,
    query=None,
    reason="the gate is off",
    topic_change=None,
    topic_change_confidence=None,
    language=None,
    complexity=gate.Complexity.SIMPLE,
)


def _ahead(message: str) -> ValidationFailed:
    return ValidationFailed(
        f"as_of {message}.", reason="as-of-future", errors=[FieldError("as_of", message)]
    )


def _failures(outcomes: Mapping[str, LegOutcome]) -> tuple[str, ...]:
    return tuple(
        f"{name}: {fault}"
        for name, outcome in outcomes.items()
        if (fault := outcome.failure or outcome.note)
    )


def _unheld(search: Search, ranking: Ranking) -> tuple[str, ...]:
    """Say when a least relevance was asked for and none can be told."""
    judgement = ranking.judgement
    if search.min_relevance is None or not search.recipe.relevance:
        return ()
    if judgement is None or judgement.floor is not None:
        return ()
    return (f"relevance: {judgement.unjudged}",)


def _scores(outcome: LegOutcome) -> dict[UUID, float]:
    return {candidate.node_id: candidate.score for candidate in outcome.candidates}


def _counts(
    search: Search, outcomes: Mapping[str, LegOutcome], found_nodes: RankedAnswer
) -> dict[str, int]:
    """Return what each stage made of it, as numbers."""
    ranking = found_nodes.ranking
    left_out = ranking.judgement.left_out if ranking.judgement else 0
    return {
        "expansions": max(0, len(search.wordings) - 1),
        **{name: len(outcome.candidates) for name, outcome in outcomes.items()},
        "fused": ranking.fused,
        "scored": len(ranking.scored),
        "boosted": ranking.boosted,
        "deduped": len(ranking.kept) + left_out,
        "relevant": len(ranking.kept),
        "reranked": len(ranking.reranked),
        "final": len(found_nodes.results),
    }
