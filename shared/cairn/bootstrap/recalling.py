"""Recall over PostgreSQL, for the API and for the retrieve function."""

from __future__ import annotations

import atexit
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.memory.recall import PostgresKeywordLeg, PostgresVectorLeg
from cairn.adapters.postgres.memory.search_runs import PostgresSearchRuns
from cairn.adapters.postgres.memory.subscriptions import (
    PostgresSubscribedKeywords,
    PostgresSubscriptionLeg,
)
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.adapters.postgres.workspaces import PostgresReindex, PostgresWorkspaceSettings
from cairn.bootstrap.logs import inform, warn
from cairn.bootstrap.question_models import PER_SEARCH, AskingParts
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.recall.answer import answer
from cairn.recall.legs import Legs
from cairn.recall.questions import gate, intents
from cairn.recall.questions.read import Asking, no_expansion
from cairn.recall.recall import Recall, silent
from cairn.recall.result_cache import ResultCache
from cairn.recall.searches.recorder import RunRecorder, not_kept
from cairn.recall.walks.graph_walks import WalkingGraphLeg

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.embedding.port import Embedder
    from cairn.kernel.access import Principal
    from cairn.recall.answer import Answer
    from cairn.recall.context import AssembleContext
    from cairn.recall.ports import KeywordLeg, Report
    from cairn.recall.query import SearchRequest
    from cairn.recall.records import SearchRun
    from cairn.recall.searches.searches import ReadSearches
    from cairn.workspace.documents import Document


@dataclass(frozen=True)
class Search:
    """Recall and the JSON form of its answer."""

    recall: Recall

    def __call__(self, principal: Principal, request: SearchRequest, /) -> Answer:
        """Answer a question."""
        return answer(self.recall(principal, request), request)


@dataclass(frozen=True)
class Context:
    """Recall as a block of text, and the JSON form of it."""

    assemble: AssembleContext

    def __call__(
        self, principal: Principal, request: SearchRequest, *, max_tokens: int
    ) -> dict[str, Any]:
        """Assemble the block for a question."""
        from cairn.recall.context import context_json

        made = self.assemble(principal, request, max_tokens=max_tokens)
        return context_json(made, answer(made.found, request).meta)


def context(found: Recall) -> Context:
    """Return the use case over a recall; tokens are counted as its embedder does."""
    from cairn.recall.context import AssembleContext

    return Context(AssembleContext(recall=found, count_tokens=found.legs.embedder.count_tokens))


def recorder(
    opened: Database,
    enqueue: Callable[[SearchRun], None] = not_kept,
    report: Report = silent,
    *,
    outlives_answers: bool = True,
) -> RunRecorder:
    """Return what keeps searches; its thread starts with the first."""
    made = RunRecorder(
        PostgresSearchRuns(opened).insert,
        enqueue,
        outlives_answers=outlives_answers,
        report=report,
    )
    if outlives_answers:
        atexit.register(made.drain)
    return made


def searches(opened: Database, runs: RunRecorder) -> ReadSearches:
    """Return the use case that explains searches, those this process has yet to record too."""
    from cairn.recall.searches.searches import ReadSearches

    return ReadSearches(
        runs=PostgresSearchRuns(opened, runs.on_its_way), transactions=StoreTransactions(opened)
    )


def recall(
    opened: Database,
    embedder: Embedder,
    log: Logger | None = None,
    keyword: KeywordLeg | None = None,
    parts: AskingParts | None = None,
    measure: Callable[[Report], Report] | None = None,
    runs: RunRecorder | None = None,
    deployment: Document | None = None,
) -> Recall:
    """Return the use case with one thread pool for its legs, a thread a connection.

    Without a `log` it tells nobody anything; `measure` adds metrics to what it tells. `keyword`
    None is PostgreSQL's leg, `parts` None answers by rules and reranks nothing, `runs` None keeps
    searches without a queue behind the database, and `deployment` is what the environment says
    where a workspace sets nothing.
    """
    report, note = (warn(log), inform(log)) if log else (silent, silent)
    if measure:
        report, note = measure(report), measure(note)
    parts = parts or AskingParts(
        asking=Asking(gate=gate.by_rules, intents=intents.by_rules),
        expander=no_expansion,
        reranker=None,
    )
    return Recall(
        legs=Legs(
            embedder=embedder,
            vector=PostgresVectorLeg(opened),
            keyword=keyword or PostgresKeywordLeg(opened),
            pool=ThreadPoolExecutor(opened.size, thread_name_prefix="leg"),
            stopwatch=monotonic,
            graph=WalkingGraphLeg(transactions=StoreTransactions(opened), stopwatch=monotonic),
            subscriptions=PostgresSubscriptionLeg(opened),
            subscribed=PostgresSubscribedKeywords(opened),
        ),
        asking=parts.asking,
        expander=parts.expander,
        reranker=parts.reranker,
        limits=PER_SEARCH,
        transactions=StoreTransactions(opened),
        search_runs=runs or recorder(opened, report=report),
        clock=utc_now,
        stopwatch=monotonic,
        new_id=new_id,
        settings=PostgresWorkspaceSettings(opened, monotonic, deployment),
        cache=ResultCache(monotonic),
        reindex=PostgresReindex(
            opened, model_id=embedder.model.id, clock=utc_now, new_id=new_id
        ).request,
        report=report,
        note=note,
    )
