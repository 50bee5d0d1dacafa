"""An embedder whose model a database must know before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cairn.embedding.port import Embedder, EmbeddingModel, Vectors


class RegisteredEmbedder:
    """Asks once, with the first text: vectors of a model without an index would find nothing."""

    def __init__(self, embedder: Embedder, check: Callable[[EmbeddingModel], None]) -> None:
        self._embedder = embedder
        self._check = check
        self._checked = False

    @property
    def model(self) -> EmbeddingModel:
        """As `Embedder`."""
        return self._embedder.model

    def count_tokens(self, text: str) -> int:
        """As `Embedder`."""
        return self._embedder.count_tokens(text)

    def windows(self, text: str, *, whole_up_to: int | None = None) -> list[str]:
        """As `Embedder`."""
        return self._embedder.windows(text, whole_up_to=whole_up_to)

    def load(self) -> None:
        """As `Embedder`; the database is not asked."""
        self._embedder.load()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As `Embedder`; Unavailable, too, when the model is not registered."""
        if not self._checked:
            self._check(self.model)
            self._checked = True
        return self._embedder.embed(texts)
