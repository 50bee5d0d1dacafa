"""Keep feeds well: look how each does, let intents be looked for again, propose contacts.

A run takes a part of the members, those whose feed was looked at longest ago first, and lets no
more intents wait than the next look for takes; what is left is the next run's. So a network of ten
thousand is gone through by and by, and nobody waits behind somebody with many intents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import combinations
from typing import TYPE_CHECKING, Any

from cairn.discovery.feed.health import REDISCOVER_BELOW, FeedCounts, health
from cairn.discovery.feed.rows import HealthRow
from cairn.discovery.networks.acting import acting, client_of
from cairn.kernel.access import Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.discovery.matching.views import OpportunityView
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform

A_RUN = 500
"""Members whose feeds one run looks at, at the most."""
A_MEMBER = 5
"""Intents of a member that one run lets be looked for again."""
MOST_WAITING = 200
"""Intents of a workspace that may wait to be looked for before no more are added."""
LOOK_EVERY = timedelta(hours=1)
REST = timedelta(hours=12)
"""An intent is not looked for again sooner."""
EXPIRED_FOR = timedelta(days=30)
"""How long an expired opportunity counts."""
CONTACTS_LOOKED_AT = 6
PAIRS_TRIED = 3
"""Of contacts, each day others."""
INTRODUCE_EVERY = timedelta(days=1)
INTRODUCED_AT_ONCE = 20
"""Members whose contacts one run looks at."""
WORDS_FOR = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedHealth:
    """How a member's feed does: below `rediscover_below` its intents are looked for again."""

    score: float
    rediscover_below: float
    connections: int
    introductions: int
    expired: int
    discovered_at: datetime | None
    looked_at: datetime | None
    rediscovered_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceRun:
    """What a run did. `held_back`: enough waited already, so the rest is the next run's.

    `redriven`: what had failed again and again, and is tried again by the next run of discovery.
    """

    feeds: int
    unhealthy: int
    intents: int
    introduced: int
    held_back: bool
    redriven: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainFeeds:
    """Looks after the feeds of a workspace. `introduce` proposes two others to each other."""

    platform: Platform
    introduce: Callable[[Principal, UUID, UUID], OpportunityView] | None = None

    def health(self, principal: Principal, *, client_id: str | None = None) -> FeedHealth:
        """Return how the feed of the member does that the principal acts for."""
        confined = acting(principal, client_id)
        now = self.platform.clock()
        with self.platform.transactions.reading(confined) as stores:
            member = stores.members.of_client(client_of(confined))
            counts = stores.feeds.counts([member.id] if member else [], now - EXPIRED_FOR)
            row = stores.feeds.health(member.id) if member else None
        feed = counts[0] if counts else None
        return FeedHealth(
            score=round(health(feed, now), 4) if feed else 0.0,
            rediscover_below=REDISCOVER_BELOW,
            connections=feed.connections if feed else 0,
            introductions=feed.introductions if feed else 0,
            expired=feed.expired if feed else 0,
            discovered_at=feed.discovered_at if feed else None,
            looked_at=row.looked_at if row else None,
            rediscovered_at=row.rediscovered_at if row else None,
        )

    def run(self, principal: Principal) -> MaintenanceRun:
        """Look after all feeds of a workspace now, and let what failed be tried again; for admins.

        Contacts are proposed at once, too; by schedule the next run of discovery does so.
        """
        principal.require(Role.ADMIN)
        workspace_id = principal.workspace_id
        with self.platform.transactions.preparing(system_principal(workspace_id)) as (stores, _):
            redriven = stores.retries.redrive()
        done = self(workspace_id, every=timedelta(0))
        introduced = self.introduce_due(workspace_id, every=timedelta(0), most=A_RUN)
        return replace(done, introduced=introduced, redriven=redriven)

    def __call__(self, workspace_id: UUID, *, every: timedelta = LOOK_EVERY) -> MaintenanceRun:
        """Look after those feeds that were not looked at for so long."""
        system, now = system_principal(workspace_id), self.platform.clock()
        with self.platform.transactions.preparing(system) as (stores, _):
            stores.feeds.drop(now - WORDS_FOR)
            members = stores.feeds.members_due(now - every, A_RUN)
            counts = stores.feeds.counts(members, now - EXPIRED_FOR)
            by_member = {feed.member_id: feed for feed in counts}
            room = MOST_WAITING - stores.feeds.waiting()
            rows, held_back = self._rediscover(
                stores, [by_member[each] for each in members], room, now
            )
        done = MaintenanceRun(
            feeds=len(rows),
            unhealthy=sum(row.score < REDISCOVER_BELOW for row in rows),
            intents=sum(row.intents for row in rows),
            introduced=0,
            held_back=held_back,
        )
        self._log(workspace_id, done)
        return done

    def _rediscover(
        self, stores: Stores, feeds: Sequence[FeedCounts], room: int, now: datetime
    ) -> tuple[list[HealthRow], bool]:
        """Keep how each does; those that there is no room for are left for the next run."""
        rows: list[HealthRow] = []
        for feed in feeds:
            score = health(feed, now)
            intents = 0
            if score < REDISCOVER_BELOW:
                if room <= 0:
                    return rows, True
                least = min(room, A_MEMBER)
                intents = stores.feeds.rediscover(feed.member_id, now - REST, least)
                room -= intents
            row = HealthRow(
                member_id=feed.member_id,
                score=score,
                connections=feed.connections,
                introductions=feed.introductions,
                expired=feed.expired,
                looked_at=now,
                rediscovered_at=now if intents else None,
                intents=intents,
                introduced=0,
            )
            stores.feeds.looked_at(row)
            rows.append(row)
        return rows, False

    def introduce_due(
        self,
        workspace_id: UUID,
        until: float | None = None,
        *,
        every: timedelta = INTRODUCE_EVERY,
        most: int = INTRODUCED_AT_ONCE,
    ) -> int:
        """Propose contacts of members whose feeds are poor to each other; return how many pairs.

        A member is looked at once in so long, whatever comes of it. `until` is a moment of the
        platform's stopwatch.
        """
        if self.introduce is None:
            return 0
        total, system = 0, system_principal(workspace_id)
        now = self.platform.clock()
        with self.platform.transactions.reading(system) as stores:
            members = stores.feeds.contacts_due(REDISCOVER_BELOW, now - every, most)
        for member_id in members:
            if until is not None and self.platform.stopwatch() >= until:
                break
            with self.platform.transactions.preparing(system) as (stores, _):
                if not stores.feeds.take_contacts(member_id, now - every, now):
                    continue
            introduced = self._introduced(workspace_id, member_id)
            if introduced:
                with self.platform.transactions.preparing(system) as (stores, _):
                    stores.feeds.introduced(member_id, introduced)
            total += introduced
        return total

    def _introduced(self, workspace_id: UUID, member_id: UUID) -> int:
        client_id, pairs = self._pairs(workspace_id, member_id)
        if client_id is None:
            return 0
        me = replace(system_principal(workspace_id), client_id=client_id)
        return sum(self._proposed(me, first, second) for first, second in pairs)

    def _pairs(
        self, workspace_id: UUID, member_id: UUID
    ) -> tuple[str | None, Sequence[tuple[UUID, UUID]]]:
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            member = stores.members.find(member_id)
            contacts = stores.contacts.members_known(member_id, CONTACTS_LOOKED_AT)
        pairs = pairs_of_day(contacts, self.platform.clock())
        return (member.client_id if member else None), pairs

    def _proposed(self, me: Principal, first: UUID, second: UUID) -> int:
        assert self.introduce is not None
        began = self.platform.clock()
        try:
            view = self.introduce(me, first, second)
        except CairnError:  # nothing of theirs fits, or they share no network
            return 0
        return int(view.created_at >= began)

    def _log(self, workspace_id: UUID, done: MaintenanceRun) -> None:
        fields: dict[str, Any] = {"workspace_id": str(workspace_id)}
        names = ("feeds", "unhealthy", "intents", "held_back")
        fields |= {name: getattr(done, name) for name in names}
        self.platform.log("feeds.maintained", fields)


def pairs_of_day(contacts: Sequence[UUID], now: datetime) -> list[tuple[UUID, UUID]]:
    """Return the pairs of contacts that are tried on a day: some of them, the next day others."""
    pairs = list(combinations(contacts, 2))
    if not pairs:
        return []
    first = now.toordinal() * PAIRS_TRIED % len(pairs)
    return (pairs[first:] + pairs[:first])[:PAIRS_TRIED]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainEveryFeed:
    """Looks after the feeds of every workspace; what fails in one leaves the others be."""

    workspaces: Callable[[], Sequence[UUID]]
    maintain: MaintainFeeds

    def __call__(self) -> dict[str, int]:
        """Return what was done, added up."""
        names = ("feeds", "unhealthy", "intents")
        totals: dict[str, int] = dict.fromkeys(names, 0)
        for workspace_id in self.workspaces():
            try:
                done = self.maintain(workspace_id)
            except CairnError as error:
                fields = {"workspace_id": str(workspace_id), "reason": error.reason}
                self.maintain.platform.warn("feeds.not_maintained", fields)
                continue
            for name in names:
                totals[name] += getattr(done, name)
        return totals
