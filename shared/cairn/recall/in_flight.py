"""One search on its way: what was asked, as whom, and by which recipe. A value, passed along."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from cairn.graph.node import Label
from cairn.recall.questions.names import question_names
from cairn.recall.routing import looked_up
from cairn.recall.walks.graph_ports import Method

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Stopwatch
    from cairn.recall.query import SearchRequest
    from cairn.recall.questions.model_calls import ModelCalls
    from cairn.recall.questions.read import Asked
    from cairn.recall.recipes import Recipe
    from cairn.recall.records import Filters
    from cairn.workspace.settings import RecallSettings


@dataclass(frozen=True, kw_only=True)
class Search:
    """One search. `recipe` is as workspace, request and route left it.

    `at` is the moment the search answers for: now, or the moment of `as_of`. `wordings` are the
    question and its paraphrases. `ignored` names settings of the workspace that are not valid.
    """

    id: UUID
    principal: Principal
    request: SearchRequest
    recipe: Recipe
    filters: Filters
    asked: Asked
    at: datetime
    started_at: datetime
    calls: ModelCalls
    workspace: RecallSettings
    wordings: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def limit(self) -> int:
        """Return how many results are wanted: the request's number, else the recipe's."""
        return self.request.limit or self.recipe.limit

    @property
    def hops(self) -> int:
        """Return how far results are expanded: the request's number, else the recipe's."""
        asked = self.request.expand_hops
        return self.recipe.expand_hops if asked is None else asked

    @property
    def looked_up(self) -> bool:
        """Return whether anything is searched for: not when the gate or the route says so."""
        return self.asked.verdict.search and looked_up(self.recipe, self.asked.retrieval_class)

    @property
    def method(self) -> Method | None:
        """Return how the graph leg ranks: as the request, else the recipe says; None by intents."""
        return Method(self.request.method) if self.request.method else self.recipe.method

    @property
    def ranges(self) -> tuple[Filters, ...]:
        """Return what each leg is asked for, one after the other: `filters`, for each client.

        With memories of some kinds besides, when the recipe says so.
        """
        clients = self.request.clients or (self.filters.client_id,)
        found = tuple(replace(self.filters, client_id=client) for client in clients)
        kinds = self.recipe.with_kinds
        if not kinds:
            return found
        return (*found, *(replace(one, labels=(Label.MEMORY,), kinds=kinds) for one in found))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return what the question may call entities by."""
        return question_names(self.asked.question)

    @property
    def intents(self) -> Mapping[str, float]:
        """Return the intents by name, the surest first."""
        return {intent.value: sure for intent, sure in self.asked.intents.confidence.items()}


class Stages:
    """Milliseconds by stage, in order."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        self._stopwatch = stopwatch
        self._start = self._last = stopwatch()
        self.ms: dict[str, float] = {}

    def end(self, stage: str) -> None:
        """Say that a stage ended now, and the next begins."""
        now = self._stopwatch()
        self.ms[stage] = (now - self._last) * 1000
        self._last = now

    def total(self) -> float:
        """Return milliseconds from the start to the last stage's end."""
        return (self._last - self._start) * 1000
