"""What the rest of Cairn may ask of an embedding model, and vectors pooled. No implementation.

Importing this module costs nothing: numpy is needed only by who calls `embed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from cairn.kernel.errors import Unavailable, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Pooling = Literal["mean", "first", "last"]
"""Which of its tokens' last states a local model's vector is made of."""

PASSAGE_TOKENS = 64
"""How long a window of a text is that is cut at all.

A model that reads 256 tokens hides a sentence among them: with windows that long the fact in the
last sentence of a chunk ranked 1 to 14 of 24 chunks, with these 1 to 3, at the same computing time
(docs/operate/models.md).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """One model, as the rows it wrote name it.

    `id` is stored with each vector and never reused: vectors of two ids are not comparable.
    `max_tokens` is what the model reads of one text, its own special tokens included. `prefix` is
    put before every text; before a question `query_prefix`, unless it is None.
    """

    id: int
    name: str
    dimensions: int
    max_tokens: int
    pooling: Pooling = "mean"
    prefix: str = ""
    query_prefix: str | None = None


class TextWindows(Protocol):
    """Measures and cuts text the way one model reads it; needs no model, only its tokenizer."""

    def count_tokens(self, text: str) -> int:
        """Return how many tokens `text` is, special tokens left out; never fewer than true."""
        ...

    def windows(self, text: str, *, whole_up_to: int | None = None) -> list[str]:
        """Cut `text` into overlapping pieces, in order, each of which the model reads whole.

        A text of at most `whole_up_to` tokens (all the model reads, unless fewer are asked for) is
        returned as it is, alone. A longer one becomes windows of about PASSAGE_TOKENS, a quarter
        shared with the next; every word is in one. For messages keep the default; for passages of
        documents, where one sentence must be findable, pass PASSAGE_TOKENS.
        """
        ...


class Embedder(TextWindows, Protocol):
    """An embedding model, local or remote. Safe to share between threads."""

    @property
    def model(self) -> EmbeddingModel:
        """Return the model whose id belongs beside the vectors."""
        ...

    def load(self) -> None:
        """Make ready now what the first text would wait for; nothing when it is ready.

        Raises Unavailable when there is no model to read.
        """
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, in the order given: float32, (len(texts), dimensions).

        Rows have length 1 (L2). A text longer than the model reads is represented by its
        beginning only: cut it with `windows` first. The same text gives the same vector (cosine
        above 0.999), whatever it is embedded together with.
        Raises ValidationFailed for a blank text and Unavailable when the model does not answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenStates:
    """What the content words of a text mean in it: the last states of their pieces, in order.

    `words` has the word of each piece, casefolded; `states` (pieces, dimensions) are less the mean
    state of the model, which all have in common.
    """

    words: tuple[str, ...]
    states: Vectors

    def signs(self) -> bytes:
        """Return one bit a number, 1 for positive: dimensions / 8 bytes a piece."""
        import numpy as np

        return np.packbits(self.states > 0, axis=1).tobytes()


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder of which some models give token states, for late interaction."""

    @property
    def gives_tokens(self) -> bool:
        """Return whether this model does."""
        ...

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[TokenStates]]:
        """Return the vectors of `texts`, as `Embedder.embed`, and the token states of each.

        Both are of one pass. Only of a model that `gives_tokens`.
        """
        ...


@runtime_checkable
class QuestionEmbedder(Protocol):
    """An embedder that may read questions with another prefix than texts."""

    def embed_question(self, question: str) -> Vectors:
        """Return the vector of a question, (1, dimensions), as `Embedder.embed` of a text."""
        ...


def embed_question(embedder: Embedder, question: str) -> tuple[Vectors, TokenStates | None]:
    """Return the vector of a question, (dimensions,), and its token states where there are any."""
    if embedder.model.query_prefix is not None and isinstance(embedder, QuestionEmbedder):
        return embedder.embed_question(question)[0], None
    vectors, tokens = embed_tokens(embedder, [question])
    return vectors[0], tokens[0] if tokens else None


def gives_tokens(embedder: Embedder) -> bool:
    """Return whether the embedder's model gives token states."""
    return isinstance(embedder, TokenEmbedder) and embedder.gives_tokens


def embed_tokens(
    embedder: Embedder, texts: Sequence[str]
) -> tuple[Vectors, Sequence[TokenStates] | None]:
    """Return the vectors of `texts` and their token states; None where the model gives none."""
    if isinstance(embedder, TokenEmbedder) and embedder.gives_tokens:
        return embedder.embed_tokens(texts)
    return embedder.embed(texts), None


def refuse_blank(texts: Sequence[str]) -> None:
    """Raise ValidationFailed when a text has nothing to embed."""
    for index, text in enumerate(texts):
        if not text.strip():
            raise ValidationFailed("A blank text has no vector.", reason="blank-text", index=index)


def unit_rows(vectors: Vectors) -> Vectors:
    """Return `vectors` with every row scaled to length 1 (L2), float32, same shape.

    A row that is zero or not finite has no direction: Unavailable, for the model is at fault.
    """
    import numpy as np

    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise Unavailable(
            "The embedding model answered with a vector without direction.",
            reason="malformed-vectors",
        )
    return (vectors / lengths).astype(np.float32)


CONTEXT_WEIGHT = 0.5
"""What each earlier message weighs against the message (1.0); measured in docs/use/recall.md."""


def pooled(own: Vectors, context: Sequence[Vectors]) -> Vectors:
    """Return own + CONTEXT_WEIGHT * each context vector, length 1; all of shape (dimensions,)."""
    total = own.copy()
    for vector in context:
        total += CONTEXT_WEIGHT * vector
    return unit_rows(total[None, :])[0]
