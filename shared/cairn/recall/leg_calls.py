"""Which legs a search runs, and what each is asked. Not how they run side by side, nor fusion."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from cairn.kernel.access import Role
from cairn.kernel.errors import Unavailable
from cairn.recall.legs import Leg, LegOutcome, merged, run_legs, united
from cairn.recall.questions.understanding import understand
from cairn.recall.recipes import GRAPH, KEYWORD, LEGS, SUBSCRIPTIONS, VECTOR
from cairn.recall.walks.graph_ports import GraphFound, GraphSeeds, GraphTuning

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from cairn.embedding.port import Embedder
    from cairn.kernel.clock import Stopwatch
    from cairn.recall.in_flight import Search
    from cairn.recall.ports import KeywordLeg, VectorLeg
    from cairn.recall.records import Candidate
    from cairn.recall.subscription_leg import SubscribedKeywords, SubscriptionLeg
    from cairn.recall.walks.graph_ports import GraphLeg
    from cairn.workspace.settings import RecallSettings

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
    graph: GraphLeg | None = None
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
            calls,
            pool=self.pool,
            deadline_s=self.timeout_ms / 1000,
            stopwatch=self.stopwatch,
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
        vector = self.embedder.embed([text])[0]
        found = [
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
        return merged(found, limit=search.recipe.candidates)

    def _by_keyword(self, search: Search, text: str) -> Sequence[Candidate]:
        asked = search.asked
        same = text == asked.question
        terms = asked.understanding.terms if same else understand(text, search.at).terms
        found = [
            self.keyword.search(
                search.principal,
                terms,
                filters,
                limit=search.recipe.candidates,
                timeout_ms=self.timeout_ms,
            )
            for filters in search.ranges
        ]
        return merged(found, limit=search.recipe.candidates)

    def _by_graph(self, graph: GraphLeg, search: Search) -> GraphFound:
        found = [
            graph.search(
                search.principal,
                GraphSeeds(names=search.names, agent=search.principal.agent_slug),
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
        candidates = merged([one.candidates for one in found], limit=search.recipe.candidates)
        edges = {edge.id: edge for one in found for edge in one.edges}
        return replace(found[0], candidates=tuple(candidates), edges=tuple(edges.values()))

    def _by_subscription(
        self, subscriptions: SubscriptionLeg, search: Search
    ) -> Sequence[Candidate]:
        if self.subscribed is None:
            return ()
        keywords = self.subscribed(search.principal, timeout_ms=self.timeout_ms)
        if not keywords:
            return ()
        found = [
            subscriptions.search(
                search.principal,
                keywords,
                filters,
                limit=search.recipe.candidates,
                timeout_ms=self.timeout_ms,
            )
            for filters in search.ranges
        ]
        return merged(found, limit=search.recipe.candidates)


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
