"""Gate, intents, paraphrases and reranking: by a chat model where one is configured, else by rules.

Not recall, which is given these. With nothing configured nothing of a model's client is imported.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from cairn.bootstrap.models import ModelSettings, chat_models
from cairn.kernel.clock import monotonic
from cairn.llm.budget import Limits
from cairn.recall.questions import gate, intents
from cairn.recall.questions.read import Asking, no_expansion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from cairn.llm.gateway import Gateway
    from cairn.llm.wire import WireChat
    from cairn.recall.questions.read import Expander
    from cairn.recall.rerank import Reranker

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
