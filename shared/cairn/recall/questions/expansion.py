"""Other wordings of a question, searched beside it. Not synonyms of its terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.recall.questions.model_calls import ModelCalls
    from cairn.recall.questions.understanding import RetrievalClass


class Expander(Protocol):
    """Paraphrases a question. Never fails: without a model there are simply none."""

    def __call__(
        self, workspace_id: UUID, query: str, retrieval_class: RetrievalClass, *, calls: ModelCalls
    ) -> Sequence[str]:
        """Return up to five paraphrases, none equal to `query`, or none at all."""
        ...


def no_expansion(
    workspace_id: UUID, query: str, retrieval_class: RetrievalClass, *, calls: ModelCalls
) -> Sequence[str]:
    """Return no paraphrases: rules make none that are worth a search."""
    return ()
