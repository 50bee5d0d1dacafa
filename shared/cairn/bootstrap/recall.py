"""Recall over PostgreSQL, for the API and for the retrieve function.

Gate, intents, paraphrases and reranking are by a chat model where one is configured, else by rules;
with nothing configured nothing of a model's client is imported.
"""

from __future__ import annotations

import atexit
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol

from cairn.adapters.postgres.memory.recall import PostgresKeywordLeg, PostgresVectorLeg
from cairn.adapters.postgres.memory.search_runs import PostgresSearchRuns
from cairn.adapters.postgres.memory.subscriptions import (
    PostgresSubscribedKeywords,
    PostgresSubscriptionLeg,
)
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.adapters.postgres.workspaces import PostgresReindex, PostgresWorkspaceSettings
from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.models import ModelSettings, chat_models
from cairn.bootstrap.parts import inform, warn
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.llm.budget import Limits
from cairn.recall.legs import Legs
from cairn.recall.questions import gate, intents
from cairn.recall.questions.facets import as_ruled
from cairn.recall.questions.read import Asking, no_expansion
from cairn.recall.recall import Recall, silent
from cairn.recall.result_cache import ResultCache
from cairn.recall.searches.recorder import RunRecorder, not_kept
from cairn.recall.walks.graph_walks import WalkingGraphLeg

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.embedding.port import Embedder
    from cairn.llm.gateway import Gateway
    from cairn.llm.wire import WireChat
    from cairn.recall.context import ShowContext
    from cairn.recall.personal import Traits
    from cairn.recall.ports import KeywordLeg, Report
    from cairn.recall.questions.facets import Decomposer
    from cairn.recall.questions.read import Expander
    from cairn.recall.records import SearchRun
    from cairn.recall.relevance import Calibration
    from cairn.recall.rerank import Reranker
    from cairn.recall.searches.searches import ReadSearches
    from cairn.recall.walks.subgraph import QuerySubgraph
    from cairn.workspace.documents import Document


THREADS = 8
PER_SEARCH = Limits(tokens=60_000, usd=Decimal("0.10"))
"""What one search may spend on chat models in all: more than its stages together need."""


class AskingSettings(ModelSettings, Protocol):
    """Which models help to understand questions."""

    @property
    def reranker_dir(self) -> Path | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingParts:
    """What recall takes apart, widens and reorders questions with.

    `close` ends the threads and connections, which otherwise live as long as the process.
    """

    asking: Asking
    expander: Expander
    reranker: Reranker | None
    decomposer: Decomposer = as_ruled
    close: Callable[[], None] = lambda: None


def asking_parts(
    settings: AskingSettings, gateway: Callable[[Sequence[WireChat[Any]]], Gateway]
) -> AskingParts:
    """Return the parts the settings ask for; nothing connects.

    The clients' packages take seconds to import: a thread begins with it at once, and until it is
    done questions are answered by rules after the usual wait. `gateway` is called with the
    configured models, when there are any; `bootstrap.models.over` raises ValidationFailed when
    CAIRN_CHAT_MODEL names no model, or CAIRN_MODEL_BUDGETS no budget.
    """
    models = chat_models(settings)
    local = _cross_encoder(settings)
    if not models:
        by_rules = Asking(gate=gate.by_rules, intents=intents.by_rules)
        return AskingParts(asking=by_rules, expander=no_expansion, reranker=local)
    from cairn.recall.questions.model_answers import ModelAnswers
    from cairn.recall.questions.model_stages import (
        ModelDecomposer,
        ModelExpander,
        ModelGate,
        ModelIntents,
        ModelReranker,
    )

    pool = ThreadPoolExecutor(THREADS, thread_name_prefix="chat")
    for model in models:
        pool.submit(model.load)
    answers = ModelAnswers(gateway(models), pool=pool, stopwatch=monotonic, at_once=THREADS)
    return AskingParts(
        asking=Asking(gate=ModelGate(answers), intents=ModelIntents(answers)),
        expander=ModelExpander(answers, stopwatch=monotonic),
        reranker=local or ModelReranker(answers),
        decomposer=ModelDecomposer(answers),
        close=lambda: _close(pool, models),
    )


def _close(pool: ThreadPoolExecutor, models: Sequence[WireChat[Any]]) -> None:
    pool.shutdown(cancel_futures=True)
    for model in models:
        model.close()


def _cross_encoder(settings: AskingSettings) -> Reranker | None:
    if settings.reranker_dir is None:
        return None
    from cairn.recall.rerank import CrossEncoder

    return CrossEncoder(settings.reranker_dir)


def context(recall: Recall) -> ShowContext:
    """Return the use case over a recall; tokens are counted as its embedder does."""
    from cairn.recall.context import AssembleContext, ShowContext

    return ShowContext(
        AssembleContext(recall=recall, count_tokens=recall.legs.embedder.count_tokens)
    )


def recorder(
    opened: Database,
    enqueue: Callable[[SearchRun], None] = not_kept,
    report: Report = silent,
    *,
    outlives_answers: bool = True,
) -> RunRecorder:
    """Return what keeps searches; its thread starts with the first."""
    recorder = RunRecorder(
        PostgresSearchRuns(opened).insert,
        enqueue,
        outlives_answers=outlives_answers,
        report=report,
    )
    if outlives_answers:
        atexit.register(recorder.drain)
    return recorder


def searches(opened: Database, runs: RunRecorder) -> ReadSearches:
    """Return the use case that explains searches, those this process has yet to record too."""
    from cairn.recall.searches.searches import ReadSearches

    return ReadSearches(
        runs=PostgresSearchRuns(opened, runs.on_its_way), transactions=StoreTransactions(opened)
    )


def subgraph(opened: Database, recalled: Recall) -> QuerySubgraph:
    """Build it beside recall, whose legs, classifier and settings it shares."""
    from cairn.recall.similar_nodes import MatchedNodes
    from cairn.recall.walks.subgraph import Classified, QuerySubgraph

    return QuerySubgraph(
        transactions=StoreTransactions(opened),
        classify=Classified(
            recalled.asking.intents, recalled.limits, clock=utc_now, stopwatch=monotonic
        ),
        clock=utc_now,
        stopwatch=monotonic,
        similar=MatchedNodes(
            legs=recalled.legs,
            transactions=recalled.transactions,
            clock=utc_now,
            new_id=new_id,
        ),
        settings=recalled.settings,
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
        decomposer=parts.decomposer,
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
        traits=lazy(lambda: _traits(opened)),
        estimate=cache(partial(_estimated, embedder)),
        report=report,
        note=note,
    )


def _traits(opened: Database) -> Traits:
    from cairn.profiles.traits import ReadTraits

    return ReadTraits(StoreTransactions(opened))


def _estimated(embedder: Embedder) -> Calibration | None:
    from cairn.recall.estimate import estimated

    return estimated(embedder)
