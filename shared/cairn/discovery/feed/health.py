"""How well a member's feed does (0 to 1), and whether to look anew. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

REDISCOVER_BELOW = 0.5
CONNECTIONS, INTRODUCTIONS, EXPIRED = 3, 2, 2
"""What a whole feed is made of."""
FRESH_FOR = timedelta(days=7)
"""After that long nothing of a feed is fresh."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedCounts:
    """What is in a member's feed, by count, and when it was last looked for."""

    member_id: UUID
    connections: int
    introductions: int
    expired: int
    discovered_at: datetime | None

    @property
    def total(self) -> int:
        """Return how many opportunities there are."""
        return self.connections + self.introductions + self.expired


def health(feed: FeedCounts, now: datetime, fresh_for: timedelta = FRESH_FOR) -> float:
    """Return .4 composition + .3 freshness + .3 share not expired; an empty feed scores 0."""
    if feed.total == 0:
        return 0.0
    parts = (
        min(feed.connections / CONNECTIONS, 1),
        min(feed.introductions / INTRODUCTIONS, 1),
        min(feed.expired / EXPIRED, 1),
    )
    freshness = 0.0
    if feed.discovered_at is not None:
        freshness = min(1.0, max(0.0, 1 - (now - feed.discovered_at) / fresh_for))
    return 0.4 * sum(parts) / len(parts) + 0.3 * freshness + 0.3 * (1 - feed.expired / feed.total)
