"""What is kept of a search, and keeping it beside the answer: in the database, or on a queue to it.

Enough to replay and to explain the search, and none of its words. An answer waits for its row for
20 ms and no longer.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import asdict, dataclass, field
from functools import partial
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import CairnError, Unavailable
from cairn.recall.records import Explored, ScoredNode, SearchRun
from cairn.recall.relevance import HELD_TO

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.recall.legs import LegOutcome
    from cairn.recall.ports import Report
    from cairn.recall.query import Search, SearchRequest
    from cairn.recall.ranking import Ranking
    from cairn.recall.recipes import Recipe
    from cairn.recall.results import RecallMeta


MAX_EDGES = 200
"""Edges of the graph leg's walk that are kept, the heaviest first."""


def digest_of(request: SearchRequest, workspace_id: UUID) -> bytes:
    """Return 32 bytes that equal requests of a workspace share: SHA-256 over every field."""
    values = [getattr(request, name) for name in request.__slots__ if name != "stages"]
    text = repr((str(workspace_id), values, sorted(request.stages.items())))
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).digest()


def recipe_json(recipe: Recipe) -> dict[str, Any]:
    """Return the recipe as plain JSON values."""
    values = {name: getattr(recipe, name) for name in recipe.__slots__}
    return values | {
        "fusion": recipe.fusion.value,
        "weights": dict(recipe.weights),
        "signals": asdict(recipe.signals),
        "second_pass": asdict(recipe.second_pass) if recipe.second_pass else None,
        "labels": list(recipe.labels),
        "with_kinds": list(recipe.with_kinds),
    }


def line_of(meta: RecallMeta) -> dict[str, Any]:
    """Return the fields of the search's log line: ids, counts, times, codes; nobody's words."""
    search = meta.search
    return {
        "workspace_id": str(search.principal.workspace_id),
        "search_id": str(search.id),
        "recipe": search.recipe.name,
        "mode": search.recipe.fusion.value,
        "retrieval_class": search.asked.retrieval_class.value,
        "intents": list(search.intents),
        "searched": search.asked.verdict.search,
        "counts": dict(meta.counts),
        "ms": round(meta.query_ms, 3),
        "stages_ms": {name: round(ms, 3) for name, ms in meta.stages_ms.items()},
        "degraded": [each.partition(":")[0] for each in meta.degraded],
        "cached": meta.cached is not None,
        "as_of": search.filters.as_of_position is not None,
        "model_calls": len(search.calls.uses),
        "cost_usd": float(search.calls.cost_usd),
    }


def run_of(
    search: Search,
    outcomes: Mapping[str, LegOutcome],
    ranking: Ranking,
    returned: Sequence[UUID],
    *,
    degraded: Sequence[str],
    stages_ms: Mapping[str, float],
) -> SearchRun:
    """Return what is kept of this search."""
    graph = next((outcome.graph for outcome in outcomes.values() if outcome.graph), None)
    edges = sorted(graph.edges, key=lambda edge: -edge.weight)[:MAX_EDGES] if graph else []
    return SearchRun(
        id=search.id,
        workspace_id=search.principal.workspace_id,
        principal_id=search.principal.principal_id,
        recipe=search.recipe.name,
        started_at=search.started_at,
        returned=tuple(returned),
        candidates={name: outcome.candidates for name, outcome in outcomes.items()},
        degraded=tuple(degraded),
        duration_ms=sum(stages_ms.values()),
        counts_as_access=search.filters.as_of_position is None,
        request_digest=digest_of(search.request, search.principal.workspace_id),
        recipe_used=recipe_json(search.recipe) | _held_to(ranking),
        wanted=search.limit,
        retrieval_class=search.asked.retrieval_class.value,
        intents=search.intents,
        seeds=graph.seed_ids if graph else (),
        scored=tuple(
            ScoredNode(item.sketch.id, item.sketch.position, item.signals)
            for item in ranking.scored
        ),
        reranked=ranking.reranked,
        merged=ranking.merged,
        edges=tuple(
            Explored(edge.source_id, edge.target_id, edge.view, edge.relation, edge.weight)
            for edge in edges
        ),
        as_of_position=search.filters.as_of_position,
        session_id=search.request.session_id,
        stages_ms={name: round(ms, 3) for name, ms in stages_ms.items()},
    )


def _held_to(ranking: Ranking) -> dict[str, Any]:
    floor = ranking.judgement.floor if ranking.judgement else None
    return {HELD_TO: floor.json()} if floor and floor.enough else {}


BUDGET_S = 0.02
"""What recording may add to an answer."""

MOST_WAITING = 256
"""Runs that wait for the database; what comes above goes to the queue at once."""

AT_ONCE = 32
"""Runs of a workspace that one transaction inserts."""

DRAIN_S = 3.0
"""How long a process that ends waits for what it has not recorded yet."""


def not_kept(run: SearchRun) -> None:
    """Stand for the queue where there is none."""
    raise Unavailable("There is no queue behind the database.", reason="no-queue")


@dataclass(slots=True)
class _UnwrittenRun:
    """A run on its way."""

    run: SearchRun
    done: Event = field(default_factory=Event)
    error: Unavailable | None = None


class RunRecorder:
    """Keeps what searches did with one thread, which inserts what waits together.

    No answer waits for it: a lost row costs one access count.

    `insert` takes runs of one workspace, `enqueue` one run for another process to insert. A process
    that lives on after an answer (`outlives_answers`) goes on in the background; one that may be
    frozen by then hands the run to the queue before it answers. A run may so come twice: `insert`
    keeps the first.
    """

    def __init__(
        self,
        insert: Callable[[Sequence[SearchRun]], None],
        enqueue: Callable[[SearchRun], None],
        *,
        outlives_answers: bool,
        report: Report,
        budget_s: float = BUDGET_S,
    ) -> None:
        self._insert = insert
        self._enqueue = enqueue
        self._outlives_answers = outlives_answers
        self._report = report
        self._budget_s = budget_s
        self._waiting: OrderedDict[UUID, _UnwrittenRun] = OrderedDict()
        self._inserting: dict[UUID, _UnwrittenRun] = {}
        self._changed = Condition()
        self._thread: Thread | None = None

    def record(self, run: SearchRun, /) -> Callable[[], None]:
        """Begin to keep a run; what is returned waits for that, within the budget.

        It raises Unavailable when neither the database nor the queue takes the run.
        """
        waiting = _UnwrittenRun(run)
        with self._changed:
            full = len(self._waiting) >= MOST_WAITING
            if not full:
                self._waiting[run.id] = waiting
                self._begin()
                self._changed.notify_all()
        return partial(self._enqueue, run) if full else partial(self._settle, waiting)

    def on_its_way(self, run_id: UUID) -> SearchRun | None:
        """Return a run that is not in the database yet."""
        with self._changed:
            waiting = self._waiting.get(run_id) or self._inserting.get(run_id)
        return waiting.run if waiting else None

    def wait_for(self, run_id: UUID) -> None:
        """Wait for a run that is on its way, as long as inserting it may take."""
        with self._changed:
            waiting = self._waiting.get(run_id) or self._inserting.get(run_id)
        if waiting is not None:
            waiting.done.wait(DRAIN_S)

    def drain(self, seconds: float = DRAIN_S) -> bool:
        """Wait until nothing is on its way; False when that takes longer."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not self._waiting and not self._inserting, timeout=seconds
            )

    def _settle(self, waiting: _UnwrittenRun) -> None:
        if waiting.done.wait(self._budget_s):
            if waiting.error is not None:
                raise waiting.error
        elif not self._outlives_answers:
            with self._changed:
                self._waiting.pop(waiting.run.id, None)
            self._enqueue(waiting.run)

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._work, name="search-runs", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            some = self._take()
            try:
                self._insert([waiting.run for waiting in some])
            except CairnError as error:
                self._hand_over(some, error)
            except Exception as error:  # noqa: BLE001 - the thread has to outlive a bug
                self._hand_over(some, Unavailable("A search was not kept.", reason="bug"))
                self._report("search_run.bug", {"error": type(error).__name__})
            self._finish(some)

    def _take(self) -> list[_UnwrittenRun]:
        """Wait for runs and return the first with others of its workspace."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)
            first = next(iter(self._waiting.values())).run.workspace_id
            some = [item for item in self._waiting.values() if item.run.workspace_id == first]
            for waiting in some[:AT_ONCE]:
                self._inserting[waiting.run.id] = self._waiting.pop(waiting.run.id)
            return some[:AT_ONCE]

    def _hand_over(self, some: Sequence[_UnwrittenRun], error: CairnError) -> None:
        fields: dict[str, Any] = {"reason": error.reason, "runs": len(some)}
        self._report("search_run.not_inserted", fields)
        for waiting in some:
            try:
                self._enqueue(waiting.run)
            except Unavailable as failure:
                waiting.error = failure
                self._report("search_run.lost", {"search_id": str(waiting.run.id)})

    def _finish(self, some: Sequence[_UnwrittenRun]) -> None:
        with self._changed:
            for waiting in some:
                del self._inserting[waiting.run.id]
                waiting.done.set()
            self._changed.notify_all()
