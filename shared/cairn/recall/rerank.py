"""Putting found texts in order by reading them beside the question. Not fusion, not scoring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.recall.questions.model_calls import ModelCalls

MAX_TEXTS = 20


class Reranker(Protocol):
    """Reads each text beside the question. Optional: there is no version by rules."""

    @property
    def name(self) -> str:
        """Return who reads, such as `llm` or the name of a local model."""
        ...

    def __call__(self, query: str, texts: Sequence[str], *, calls: ModelCalls) -> Sequence[float]:
        """Return one score in [0, 1] a text, in their order: how well it answers `query`.

        At most `MAX_TEXTS` texts, ValueError beyond. Raises Unavailable when it cannot answer;
        the caller keeps its own order then, and says so.
        """
        ...


def refuse_too_many(texts: Sequence[str]) -> None:
    """Raise ValueError beyond `MAX_TEXTS`: that many was the caller's to know."""
    if len(texts) > MAX_TEXTS:
        raise ValueError(f"at most {MAX_TEXTS} texts can be reranked, not {len(texts)}")
