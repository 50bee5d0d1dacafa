"""Spans of embedding, by OpenTelemetry's conventions for generative AI. Never a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.kernel.spans import Kind, span

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from cairn.embedding.port import EmbeddingModel
    from cairn.kernel.spans import Span


def embedding_span(
    model: EmbeddingModel, provider: str, texts: int, *, kind: Kind = Kind.INTERNAL
) -> AbstractContextManager[Span]:
    """Measure the embedding of so many texts."""
    attributes = {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model.name,
        "gen_ai.embeddings.dimension.count": model.dimensions,
        "cairn.texts": texts,
    }
    return span(f"embeddings {model.name}", attributes, kind=kind)
