"""The subscription leg: nodes that carry or mention the keywords an agent subscribes to.

A subscription is scope-inclusive: it finds what is in the agent's scopes although it is not tagged
for the agent. Workspace, scope and state hold as in every leg. What it returns must be read with
`NodeReader.read(..., subscribed=ids)`: the plain read keeps the strict agent guard.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cairn.recall.fusion import min_max
from cairn.recall.records import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.recall.records import Filters

MAX_KEYWORDS = 5
MAX_KEYWORD_CHARS = 64
TAGGED_SCORE = 1.0
"""A node that carries the keyword scores as the best match of the words does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionView:
    """What an agent subscribes to. `position` is that of the entry that said so."""

    agent: str
    keywords: tuple[str, ...]
    position: int


class KeywordMatch(NamedTuple):
    """One node for one keyword. `rank` is the text rank, None when only `tagged` holds."""

    node_id: UUID
    keyword: str
    rank: float | None
    tagged: bool


class SubscriptionLeg(Protocol):
    """Finds nodes by subscribed keywords, twice a keyword: in the text and in `node.keywords`."""

    def search(
        self,
        principal: Principal,
        keywords: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return at most `limit` nodes, best first, scores in [0, 1].

        `keywords` are those `SubscribedKeywords` gave; one that the principal's agent does not
        subscribe to finds nothing, so the leg cannot be used to pass the agent guard. A principal
        without an agent finds nothing. Runs in one short transaction of its own whose statement
        timeout is `timeout_ms`. Raises Unavailable when it cannot answer.
        """
        ...


class SubscribedKeywords(Protocol):
    """Reads what a principal's agent subscribes to."""

    def __call__(self, principal: Principal, *, timeout_ms: int) -> tuple[str, ...]:
        """Return at most MAX_KEYWORDS keywords; () without an agent or a subscription.

        Raises Unavailable when it cannot answer.
        """
        ...


def scored(matches: Iterable[KeywordMatch], *, limit: int) -> tuple[Candidate, ...]:
    """Return the candidates of all keywords, best first, each node with its best score.

    Text ranks are stretched to [0, 1] within a keyword; carrying the keyword is TAGGED_SCORE.
    """
    by_keyword: defaultdict[str, list[KeywordMatch]] = defaultdict(list)
    for match in matches:
        by_keyword[match.keyword].append(match)
    best: dict[UUID, float] = {}
    for found in by_keyword.values():
        for node_id, score in _scores(found):
            best[node_id] = max(best.get(node_id, 0.0), score)
    ranked = sorted(best.items(), key=lambda one: (-one[1], one[0]))
    return tuple(Candidate(node_id, score) for node_id, score in ranked[:limit])


def _scores(found: Sequence[KeywordMatch]) -> Iterable[tuple[UUID, float]]:
    """Return (node, score) of one keyword's matches, each search apart."""
    by_text = [(one.node_id, one.rank) for one in found if one.rank is not None]
    stretched = min_max([rank for _, rank in by_text])
    yield from zip((node_id for node_id, _ in by_text), stretched, strict=True)
    yield from ((one.node_id, TAGGED_SCORE) for one in found if one.tagged)
