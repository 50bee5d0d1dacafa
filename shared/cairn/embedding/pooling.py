"""One vector for a message among its neighbours, made from vectors that exist already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.embedding.vectors import unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.embedding.port import Vectors

CONTEXT_WEIGHT = 0.5
"""What each earlier message weighs against the message (1.0); measured in docs/use/recall.md."""


def pooled(own: Vectors, context: Sequence[Vectors]) -> Vectors:
    """Return own + CONTEXT_WEIGHT * each context vector, length 1; all of shape (dimensions,)."""
    total = own.copy()
    for vector in context:
        total += CONTEXT_WEIGHT * vector
    return unit_rows(total[None, :])[0]
