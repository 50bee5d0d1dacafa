"""What recall needs of storage. Contracts only; nothing here knows SQL or an index."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.embedding.port import Vectors
    from cairn.kernel.access import Principal
    from cairn.recall.records import (
        Candidate,
        Filters,
    )
    from cairn.workspace.documents import CurrentSettings

ReadSettings = Callable[["Principal"], "CurrentSettings"]
"""Returns what a workspace sets, less than a second old; raises Unavailable when it cannot."""


Reindex = Callable[["Principal", "Sequence[UUID]"], int]
"""Returns how many of these nodes lack a vector, and queues what is not queued; or Unavailable."""

Report = Callable[[str, dict[str, Any]], None]
"""Tells people: an event's name, and fields of ids, counts and codes."""


class VectorLeg(Protocol):
    """Finds nodes by the cosine of their stored vector to the question's."""

    def search(
        self,
        principal: Principal,
        vector: Vectors,
        filters: Filters,
        *,
        model_id: int,
        minimum: float,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return at most `limit` distinct nodes, best first, by cosine (the best of a node's rows).

        `vector` has shape (dimensions,), length 1. Below `minimum` nothing is returned. Filters
        and the principal's guards hold inside, before the limit. Runs in one short transaction of
        its own whose statement timeout is `timeout_ms`. Raises Unavailable when it cannot answer.
        """
        ...


class KeywordLeg(Protocol):
    """Finds nodes by the words of their own text and, weaker, of what was said just before."""

    def search(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return at most `limit` nodes that contain any of `terms`, best first; scores above 0.

        Terms are plain words as a person typed them, at most 32, none of them an operator: the
        adapter stems and quotes. A term that stems to nothing is skipped; no terms, no results.
        Guards, transaction, timeout and errors as for `VectorLeg`.
        """
        ...
