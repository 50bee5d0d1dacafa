"""Embedders for tests: one that hashes words, and the installed model."""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from layers.model import build

from cairn.embedding.cutting import Word, cut
from cairn.embedding.port import PASSAGE_TOKENS, EmbeddingModel, refuse_blank, unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cairn.embedding.port import Vectors

HASHING = EmbeddingModel(id=999, name="hashing", dimensions=384, max_tokens=256)


@cache
def installed_model() -> Path:
    """Return the folder of the pinned model, fetched once when a fresh clone has none."""
    return build()


class HashingEmbedder:
    """Texts that share words are near each other; nothing else is understood.

    The next calls raise what `failures` holds, one each.
    """

    def __init__(self, model: EmbeddingModel = HASHING) -> None:
        self.model = model
        self.calls: list[list[str]] = []
        self.failures: list[Exception] = []

    def count_tokens(self, text: str) -> int:
        return len(_words(text))

    def load(self) -> None:
        """Nothing is to be read."""

    def windows(self, text: str, *, whole_up_to: int | None = None) -> list[str]:
        words = _words(text)
        limit = self.model.max_tokens - 2
        if len(words) <= min(limit, whole_up_to or limit):
            return [text]
        return cut(text, words, limit=PASSAGE_TOKENS, overlap=PASSAGE_TOKENS // 4)

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.failures:
            raise self.failures.pop(0)
        refuse_blank(texts)
        self.calls.append(list(texts))
        vectors = np.zeros((len(texts), self.model.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", self.windows(text)[0].casefold()) or [text]:
                vectors[row, _bucket(word, self.model.dimensions)] += 1.0
        return unit_rows(vectors)


def _words(text: str) -> list[Word]:
    return [Word(start=m.start(), end=m.end(), cost=1) for m in re.finditer(r"\w+|[^\w\s]", text)]


def _bucket(word: str, dimensions: int) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) % dimensions
