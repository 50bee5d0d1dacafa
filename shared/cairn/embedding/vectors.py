"""The two things every embedder does around its model: refuse blanks, scale rows. Not storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.kernel.errors import Unavailable, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.embedding.port import Vectors


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
