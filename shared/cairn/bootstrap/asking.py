"""Gate, intents, paraphrases and reranking: by a chat model where one is configured, else by rules.

Not recall, which is given these. With nothing configured nothing of a model's client is imported.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

from cairn.clock import monotonic
from cairn.llm.budget import Limits
from cairn.retrieval import gate, intents
from cairn.retrieval.asked import Asking
from cairn.retrieval.expansion import no_expansion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pydantic import SecretStr

    from cairn.llm.anthropic_chat import AnthropicChat
    from cairn.llm.openai_chat import OpenAIChat
    from cairn.retrieval.expansion import Expander
    from cairn.retrieval.rerank import Reranker

THREADS = 8
PER_SEARCH = Limits(tokens=60_000, usd=Decimal("0.10"))
"""What one search may spend on chat models in all: more than its stages together need."""


class ChatSettings(Protocol):
    """Which chat models may be asked."""

    @property
    def anthropic_api_key(self) -> SecretStr | None: ...
    @property
    def anthropic_base_url(self) -> str | None: ...
    @property
    def openai_api_key(self) -> SecretStr | None: ...
    @property
    def openai_base_url(self) -> str | None: ...
    @property
    def embedder(self) -> str: ...
    @property
    def chat_model(self) -> str: ...
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


def asking_parts(settings: ChatSettings) -> AskingParts:
    """Return the parts the settings ask for; nothing connects.

    The clients' packages take seconds to import: a thread begins with it at once, and until it is
    done questions are answered by rules after the usual wait. Raises ValidationFailed when
    CAIRN_CHAT_MODEL names no model.
    """
    models = chat_models(settings)
    local = _cross_encoder(settings)
    if not models:
        asked = Asking(gate=gate.by_rules, intents=intents.by_rules)
        return AskingParts(asking=asked, expander=no_expansion, reranker=local)
    from cairn.llm.router import Router, routes_of
    from cairn.retrieval.expansion_model import ModelExpander
    from cairn.retrieval.intents_model import ModelIntents
    from cairn.retrieval.model_answers import ModelAnswers
    from cairn.retrieval.rerank_model import ModelReranker
    from cairn.retrieval.rewrite import ModelGate

    router = Router(models, routes=routes_of(settings.chat_model))
    pool = ThreadPoolExecutor(THREADS, thread_name_prefix="chat")
    for model in models:
        pool.submit(model.load)
    answers = ModelAnswers(router, pool=pool, stopwatch=monotonic, at_once=THREADS)
    return AskingParts(
        asking=Asking(gate=ModelGate(answers), intents=ModelIntents(answers)),
        expander=ModelExpander(answers, stopwatch=monotonic),
        reranker=local or ModelReranker(answers),
        close=lambda: _close(pool, models),
    )


def chat_models(settings: ChatSettings) -> list[AnthropicChat | OpenAIChat]:
    """Return the configured providers; none means that rules answer everything.

    Anthropic takes a key, or a base URL that asks for none. OpenAI takes the same when
    CAIRN_CHAT_MODEL names a model of it; without that its key, unless the key is there for
    embeddings, which say nothing about chat.
    """
    found: list[AnthropicChat | OpenAIChat] = []
    if settings.anthropic_api_key or settings.anthropic_base_url:
        from cairn.llm import anthropic_chat

        found.append(
            anthropic_chat.AnthropicChat(
                api_key=_secret(settings.anthropic_api_key),
                base_url=settings.anthropic_base_url,
            )
        )
    if _openai_chats(settings):
        from cairn.llm import openai_chat

        found.append(
            openai_chat.OpenAIChat(
                api_key=_secret(settings.openai_api_key),
                base_url=settings.openai_base_url,
            )
        )
    return found


def _close(pool: ThreadPoolExecutor, models: Sequence[AnthropicChat | OpenAIChat]) -> None:
    pool.shutdown(cancel_futures=True)
    for model in models:
        model.close()


def _openai_chats(settings: ChatSettings) -> bool:
    if "openai:" in settings.chat_model:
        return bool(settings.openai_api_key or settings.openai_base_url)
    return bool(settings.openai_api_key) and settings.embedder != "openai"


def _secret(key: SecretStr | None) -> str:
    return key.get_secret_value() if key else ""


def _cross_encoder(settings: ChatSettings) -> Reranker | None:
    if settings.reranker_dir is None:
        return None
    from cairn.retrieval.rerank_local import CrossEncoder

    return CrossEncoder(settings.reranker_dir)
