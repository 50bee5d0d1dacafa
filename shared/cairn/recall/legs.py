"""Which legs a search runs, what each is asked, and running them side by side. Not fusion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from cairn.embedding.port import embed_question
from cairn.kernel.access import Role
from cairn.kernel.errors import CairnError, Unavailable
from cairn.kernel.spans import span
from cairn.recall.keyword_index import IndexCandidates, NotedCandidates
from cairn.recall.questions.understanding import asker, understand
from cairn.recall.recipes import GRAPH, KEYWORD, LEGS, SUBSCRIPTIONS, VECTOR
from cairn.recall.records import Candidate
from cairn.recall.second_pass import ReadQuestion
from cairn.recall.walks.graph_ports import GraphFound, GraphSeeds, GraphTuning

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future
    from uuid import UUID

    from cairn.embedding.port import Embedder
    from cairn.kernel.clock import Stopwatch
    from cairn.recall.ports import KeywordLeg, VectorLeg
    from cairn.recall.query import Search
    from cairn.recall.subscriptions import SubscribedKeywords, SubscriptionLeg
    from cairn.recall.walks.graph_walks import WalkingGraphLeg
    from cairn.workspace.settings import RecallSettings


class ReadCandidates(list["Candidate"]):
    """Candidates with the question as it was read to find them."""

    def __init__(self, candidates: Iterable[Candidate], question: ReadQuestion) -> None:
        super().__init__(candidates)
        self.question = question


Leg = Callable[[], Sequence[Candidate] | GraphFound]

LATE = "late"
N = TypeVar("N")


@dataclass(frozen=True, slots=True, kw_only=True)
class LegOutcome:
    """What one leg did. `failure` is None, `late`, or the reason of the error it ended with.

    `graph` is the walk, for the leg that walks; `question` is what the leg that embeds it read in
    it. `note` says that another than usual answered, and `by_index` that an index outside the
    database did, whose scores are its own.
    """

    candidates: tuple[Candidate, ...] = ()
    ms: float = 0.0
    failure: str | None = None
    graph: GraphFound | None = None
    question: ReadQuestion | None = None
    note: str | None = None
    by_index: bool = False


def run_legs(
    legs: Mapping[N, Leg], *, pool: Executor, deadline_s: float, stopwatch: Stopwatch
) -> dict[N, LegOutcome]:
    """Run all legs at once and return what each found, in the order given, within `deadline_s`.

    A leg that raises one of Cairn's errors, or has not answered in time, is an outcome with its
    failure and no candidates; the others stand. A late leg ends by its own statement timeout.
    """
    start = stopwatch()
    running = {
        name: pool.submit(copy_context().run, _timed, _leg_name(name), leg, stopwatch)
        for name, leg in legs.items()
    }
    return {
        name: _outcome(future, start + deadline_s - stopwatch()) for name, future in running.items()
    }


def merged(parts: Sequence[Sequence[Candidate]], *, limit: int) -> Sequence[Candidate]:
    """Return what one leg found in several ranges as one: best first, ties in the order found.

    A remark on how one of them was found stays.
    """
    first, *others = parts
    if not others:
        return first
    best = _best(item for part in parts for item in part)
    ranked = sorted(best.items(), key=lambda each: -each[1])[:limit]
    candidates = [Candidate(node_id, score) for node_id, score in ranked]
    notes = [part.note for part in parts if isinstance(part, NotedCandidates)]
    if any(isinstance(part, IndexCandidates) for part in parts):
        return IndexCandidates(candidates)
    return NotedCandidates(candidates, notes[0]) if notes else tuple(candidates)


def united(outcomes: Sequence[LegOutcome], *, limit: int) -> LegOutcome:
    """Return one leg's outcomes for several wordings of a question as one.

    A node keeps its best score; best first, ties in the order found. The first outcome is of the
    question itself: its failure and its walk are the leg's. `ms` is the slowest's.
    """
    first, *others = outcomes
    if not others:
        return first
    best = _best(candidate for outcome in outcomes for candidate in outcome.candidates)
    ranked = sorted(best.items(), key=lambda each: -each[1])[:limit]
    return LegOutcome(
        candidates=tuple(Candidate(node_id, score) for node_id, score in ranked),
        ms=max(outcome.ms for outcome in outcomes),
        failure=first.failure,
        graph=first.graph,
        question=first.question,
        note=first.note,
        by_index=any(outcome.by_index for outcome in outcomes),
    )


def _best(candidates: Iterable[Candidate]) -> dict[UUID, float]:
    best: dict[UUID, float] = {}
    for node_id, score in candidates:
        best[node_id] = max(best.get(node_id, score), score)
    return best


def _leg_name(name: object) -> str:
    """Return what a leg is called, whichever wording of the question it is run for."""
    return str(cast("tuple[object, ...]", name)[0] if isinstance(name, tuple) else name)


def _timed(name: str, leg: Leg, stopwatch: Stopwatch) -> LegOutcome:
    start = stopwatch()
    try:
        with span(f"recall leg {name}"):
            answer = leg()
    except CairnError as error:
        return LegOutcome(ms=(stopwatch() - start) * 1000, failure=error.reason)
    graph = answer if isinstance(answer, GraphFound) else None
    candidates = answer.candidates if isinstance(answer, GraphFound) else tuple(answer)
    note = answer.note if isinstance(answer, NotedCandidates) else None
    question = answer.question if isinstance(answer, ReadCandidates) else None
    ms = (stopwatch() - start) * 1000
    return LegOutcome(
        candidates=candidates,
        ms=ms,
        graph=graph,
        question=question,
        note=note,
        by_index=isinstance(answer, IndexCandidates),
    )


def _outcome(future: Future[LegOutcome], seconds_left: float) -> LegOutcome:
    try:
        return future.result(timeout=max(0.0, seconds_left))
    except TimeoutError:
        future.cancel()
        return LegOutcome(failure=LATE)


LEG_TIMEOUT_MS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Legs:
    """The legs a deployment has. One that is None is not run, whatever a recipe says.

    The question is embedded inside the vector leg, beside the other legs, so an embedder that
    fails or is slow costs that leg and not the answer.
    """

    embedder: Embedder
    vector: VectorLeg
    keyword: KeywordLeg
    pool: Executor
    stopwatch: Stopwatch
    graph: WalkingGraphLeg | None = None
    subscriptions: SubscriptionLeg | None = None
    subscribed: SubscribedKeywords | None = None
    timeout_ms: int = LEG_TIMEOUT_MS

    def run(self, search: Search) -> dict[str, LegOutcome]:
        """Return what each leg of the recipe found, for the question and its paraphrases.

        Raises Unavailable when every leg failed.
        """
        with suppress(Unavailable):  # a missing model is the vector leg's to report
            self.embedder.load()
        calls = {
            (leg, number): call
            for leg in LEGS
            if search.recipe.weights.get(leg)
            for number, call in enumerate(self._calls(leg, search))
        }
        outcomes = run_legs(
            calls, pool=self.pool, deadline_s=self.timeout_ms / 1000, stopwatch=self.stopwatch
        )
        if outcomes and all(outcome.failure for outcome in outcomes.values()):
            raise Unavailable("No leg of the search answered.", reason="all-legs-failed")
        return {
            leg: united(
                [outcome for (name, _), outcome in outcomes.items() if name == leg],
                limit=search.recipe.candidates,
            )
            for leg in dict.fromkeys(leg for leg, _ in calls)
        }

    def _calls(self, leg: str, search: Search) -> list[Leg]:
        """Return the leg's calls: one for the question, and one for each paraphrase it can use.

        Each asks for every range of the search, one after the other, over one thread.
        """
        if leg == VECTOR:
            return [partial(self._by_vector, search, text) for text in search.wordings]
        if leg == KEYWORD:
            return [partial(self._by_keyword, search, text) for text in search.wordings]
        if leg == GRAPH and self.graph is not None:
            return [partial(self._by_graph, self.graph, search)]
        if leg == SUBSCRIPTIONS and self.subscriptions is not None and _may_subscribe(search):
            return [partial(self._by_subscription, self.subscriptions, search)]
        return []

    def _by_vector(self, search: Search, text: str) -> Sequence[Candidate]:
        vector, tokens = embed_question(self.embedder, text)
        lists = [
            self.vector.search(
                search.principal,
                vector,
                filters,
                model_id=self.embedder.model.id,
                minimum=search.recipe.minimum_cosine,
                limit=search.recipe.candidates,
                timeout_ms=self.timeout_ms,
            )
            for filters in search.ranges
        ]
        question = ReadQuestion(vector=vector, tokens=tokens)
        return ReadCandidates(merged(lists, limit=search.recipe.candidates), question)

    def _by_keyword(self, search: Search, text: str) -> Sequence[Candidate]:
        question_asked = search.asked
        same = text == search.wordings[0]
        terms = question_asked.understanding.terms if same else understand(text, search.at).terms
        lists = [
            self.keyword.search(
                search.principal,
                terms,
                filters,
                limit=search.recipe.candidates,
                timeout_ms=self.timeout_ms,
            )
            for filters in search.ranges
        ]
        return merged(lists, limit=search.recipe.candidates)

    def _by_graph(self, graph: WalkingGraphLeg, search: Search) -> GraphFound:
        who = search.principal
        lists = [
            graph.search(
                search.principal,
                GraphSeeds(
                    names=search.names,
                    agent=who.agent_slug,
                    own=asker(
                        search.asked.question, filters.client_id, who.client_id, who.agent_slug
                    ),
                ),
                search.asked.intents.confidence,
                filters,
                method=search.method,
                limit=search.recipe.candidates,
                timeout_ms=self.timeout_ms,
                weights=search.workspace.matrix,
                tuning=tuning_of(search.workspace),
            )
            for filters in search.ranges
        ]
        candidates = merged([item.candidates for item in lists], limit=search.recipe.candidates)
        edges = {edge.id: edge for item in lists for edge in item.edges}
        return replace(lists[0], candidates=tuple(candidates), edges=tuple(edges.values()))

    def _by_subscription(
        self, subscriptions: SubscriptionLeg, search: Search
    ) -> Sequence[Candidate]:
        if self.subscribed is None:
            return ()
        keywords = self.subscribed(search.principal, self.timeout_ms)
        if not keywords:
            return ()
        lists = [
            subscriptions.search(
                search.principal,
                keywords,
                filters,
                limit=search.recipe.candidates,
                timeout_ms=self.timeout_ms,
            )
            for filters in search.ranges
        ]
        return merged(lists, limit=search.recipe.candidates)


def tuning_of(settings: RecallSettings) -> GraphTuning:
    """Return the constants of walks as a workspace sets them."""
    return GraphTuning(
        hop_decay=settings.graph_search_decay,
        typed_boost=settings.causal_boost,
        max_depth=settings.max_depth,
    )


def _may_subscribe(search: Search) -> bool:
    """Public keys have no subscriptions unless their workspace says so."""
    return search.principal.role is not Role.PUBLIC or search.workspace.public_subscriptions
