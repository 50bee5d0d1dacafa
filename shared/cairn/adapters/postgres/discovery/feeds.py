"""Feeds: words of models that are kept for a day, and how feeds do, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.discovery.feed.health import FeedCounts
from cairn.discovery.feed.rows import CachedRow, HealthRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID


class PostgresFeeds(Store):
    """The feeds that the transaction's principal may see."""

    def cached(self, member_id: UUID, since: datetime) -> Sequence[CachedRow]:
        """Return what was worded for a member since a moment."""
        return self.all_of(record(CachedRow), "feed.cached", member_id=member_id, since=since)

    def keep(self, row: CachedRow) -> None:
        """Keep words in the place of those before."""
        self.write("feed.keep", row)

    def drop(self, before: datetime) -> int:
        """Take away words that are too old to be used; return how many."""
        return self.run("feed.drop", before=before).rowcount

    def counts(self, members: Sequence[UUID], since: datetime) -> Sequence[FeedCounts]:
        """Return what is in the feeds of some members; what expired before a moment is left out."""
        return self.all_of(record(FeedCounts), "feed.counts", ids=list(members), since=since)

    def members_due(self, before: datetime, limit: int) -> Sequence[UUID]:
        """Return members with active intents whose feed was not looked at since a moment."""
        return self.values("feed.members_due", before=before, limit=limit)

    def health(self, member_id: UUID) -> HealthRow | None:
        """Return how a member's feed did when it was looked at last."""
        return self.first_of(record(HealthRow), "feed.health", member_id=member_id)

    def looked_at(self, row: HealthRow) -> None:
        """Keep how a feed does."""
        self.write("feed.looked_at", row)

    def contacts_due(self, below: float, before: datetime, limit: int) -> Sequence[UUID]:
        """Return members with a poor feed whose contacts were not looked at since a moment."""
        return self.values("feed.contacts_due", below=below, before=before, limit=limit)

    def take_contacts(self, member_id: UUID, before: datetime, now: datetime) -> bool:
        """Begin to look at a member's contacts; False where that was done since a moment."""
        times = {"before": before, "now": now}
        return self.run("feed.take_contacts", member_id=member_id, **times).rowcount == 1

    def introduced(self, member_id: UUID, introduced: int) -> None:
        """Keep how many pairs of contacts were proposed to each other."""
        self.run("feed.introduced", member_id=member_id, introduced=introduced)

    def waiting(self) -> int:
        """Return how many intents wait to be looked for, up to a thousand."""
        return self.value("feed.waiting")

    def rediscover(self, member_id: UUID, before: datetime, limit: int) -> int:
        """Let a member's active intents be looked for again; return how many.

        Those looked for since a moment are left alone.
        """
        return self.run("feed.rediscover", member_id=member_id, before=before, limit=limit).rowcount
