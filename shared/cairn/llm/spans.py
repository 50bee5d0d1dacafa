"""Spans of calls of models, by OpenTelemetry's conventions for generative AI. Never a text.

https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.kernel.spans import Kind, span

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from uuid import UUID

    from cairn.kernel.spans import Span
    from cairn.llm.port import ChatAnswer, ChatRequest

_CONVENTIONAL = MappingProxyType({"bedrock": "aws.bedrock"})
"""What the conventions call a provider otherwise than we do."""


def chat_span(
    provider: str, model: str, request: ChatRequest, workspace_id: UUID
) -> AbstractContextManager[Span]:
    """Measure one request to a chat model."""
    attributes: dict[str, str | int | float] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _CONVENTIONAL.get(provider, provider),
        "gen_ai.request.model": model,
        "gen_ai.request.max_tokens": request.longest,
        "cairn.purpose": request.purpose.value,
        "cairn.workspace_id": str(workspace_id),
    }
    if request.temperature is not None:
        attributes["gen_ai.request.temperature"] = request.temperature
    return span(f"chat {model}", attributes, kind=Kind.CLIENT)


def told_of(answer: ChatAnswer) -> dict[str, str | int | float | list[str]]:
    """Return what a span says of an answer: who gave it, how it ended, and its tokens."""
    usage = answer.usage
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    attributes: dict[str, str | int | float | list[str]] = {
        "gen_ai.response.model": answer.model,
        "gen_ai.response.finish_reasons": [answer.finish.value],
        "gen_ai.usage.input_tokens": usage.input_tokens + cached,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
    }
    if answer.cost_usd is not None:
        attributes["cairn.cost_usd"] = float(answer.cost_usd)
    return attributes
