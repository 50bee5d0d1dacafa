"""An embedder that is loaded when it is first asked: importing a model costs a second."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cairn.embedding.port import Embedder, EmbeddingModel, Vectors


class LazyEmbedder:
    """Implements `Embedder` by the one that `load` returns."""

    def __init__(self, model: EmbeddingModel, load: Callable[[], Embedder]) -> None:
        self._model = model
        self._load = load

    @property
    def model(self) -> EmbeddingModel:
        """Return the model, without loading it."""
        return self._model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        return self._embedder.embed(texts)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens `text` is."""
        return self._embedder.count_tokens(text)

    def windows(self, text: str, *, whole_up_to: int | None = None) -> list[str]:
        """Cut `text` into pieces the model reads whole."""
        return self._embedder.windows(text, whole_up_to=whole_up_to)

    @cached_property
    def _embedder(self) -> Embedder:
        return self._load()
