"""Discovery that nobody asked for: of intents that are new or have changed, and what ends by time.

Rows say what is due, so that nothing is lost with a message; a run takes a few of them, so that a
network of ten thousand is looked through by and by.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cairn.discovery.matching.discovery import DiscoveryRequest
from cairn.discovery.matching.keeping import keep
from cairn.discovery.matching.moving import moved
from cairn.discovery.matching.retries import Retried, RunDue, in_turn
from cairn.discovery.matching.rows import OpportunityState, OpportunityTrigger
from cairn.kernel.access.system import system_principal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.discovery.matching.discovery import Discovery, Match
    from cairn.writing.platform import Platform

AT_ONCE = 50
"""Intents of a workspace that a run looks for, at the most."""
FOUND = 5
"""Opportunities that one look keeps, at the most."""
SHOWN_A_DAY = 20
"""How often somebody is found for others in a day: a popular member is not flooded."""
DAY = timedelta(days=1)
LOOKING = 0.6
"""The part of a run's time in which it looks for intents."""
COUNTED = (
    "intents_discovered",
    "opportunities_found",
    "opportunities_negotiated",
    "opportunities_expired",
    "introductions_proposed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoverIntent:
    """Looks for who fits an intent, and keeps what is found as latent."""

    platform: Platform
    discovery: Discovery

    def __call__(self, workspace_id: UUID, intent_id: UUID) -> int:
        """Return how many opportunities are new; none for an intent that is gone or paused."""
        principal = system_principal(workspace_id)
        with self.platform.transactions.reading(principal) as stores:
            client_id = stores.matches.client_of(intent_id)
        if client_id is None:
            return 0
        began = self.platform.clock()
        me = replace(principal, client_id=client_id)
        request = DiscoveryRequest(intent_id=intent_id, limit=2 * FOUND)
        discovered = self.discovery(me, request)
        opportunities = [
            keep(
                self.platform,
                me,
                discovered.look,
                match,
                trigger=OpportunityTrigger.AMBIENT,
                state=OpportunityState.LATENT,
            )
            for match in self._rested(workspace_id, discovered.matches)
        ]
        with self.platform.transactions.writing(principal) as stores:
            stores.matches.discovered(intent_id, began)
        return sum(each.is_new for each in opportunities)

    def _rested(self, workspace_id: UUID, matches: Sequence[Match]) -> list[Match]:
        """Return the best of them who were not shown too often today."""
        ids = [match.judgement.member_id for match in matches]
        since = self.platform.clock() - DAY
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            shown = stores.opportunities.shown_since(ids, since)
        rested = [
            match for match in matches if shown.get(match.judgement.member_id, 0) < SHOWN_A_DAY
        ]
        return rested[:FOUND]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepDiscovery:
    """Looks for intents that are due in every workspace, negotiates what was found, ends the old.

    What fails is reported, leaves the others be, and waits longer before each further try.
    `introduce` proposes contacts of members to each other until a moment, and says how many.
    """

    workspaces: Callable[[], Sequence[UUID]]
    discover: DiscoverIntent
    negotiate: Callable[[UUID, UUID, str], object]
    introduce: Callable[[UUID, float], int]
    report: Callable[[str, dict[str, Any]], None]

    def __call__(self, *, seconds: float) -> dict[str, int]:
        """Return how much was looked for, found, negotiated and ended; `seconds` bound it.

        A part of the time is for looking, so that there is some for what was found. Each workspace
        has its share of what is left, and another one comes first each time: none starves.
        """
        began = self._platform.stopwatch()
        workspaces = in_turn(self.workspaces(), self._platform.clock())
        looking, until = began + LOOKING * seconds, began + seconds
        counts: dict[str, int] = dict.fromkeys(COUNTED, 0)
        due = [(each, ids) for each in workspaces if (ids := self._due(each))]
        for place, (workspace_id, ids) in enumerate(due):
            share = self._share(looking, len(due) - place)
            discovered, new = self._look(workspace_id, ids, share)
            counts["intents_discovered"] += discovered
            counts["opportunities_found"] += new
        for place, workspace_id in enumerate(workspaces):
            share = self._share(until, len(workspaces) - place)
            counts["opportunities_expired"] += self._expire(workspace_id, share)
            counts["opportunities_negotiated"] += self._negotiate(workspace_id, share)
            counts["introductions_proposed"] += self.introduce(workspace_id, share)
        return counts

    def _share(self, until: float, left: int) -> float:
        """Return until when one of so many may go on."""
        now = self._platform.stopwatch()
        return now + (until - now) / left

    @property
    def _platform(self) -> Platform:
        return self.discover.platform

    @property
    def _run(self) -> RunDue:
        return RunDue(platform=self._platform, report=self.report)

    def _due(self, workspace_id: UUID) -> Sequence[UUID]:
        with self._platform.transactions.reading(system_principal(workspace_id)) as stores:
            return stores.matches.due(self._platform.clock(), AT_ONCE)

    def _look(self, workspace_id: UUID, due: Sequence[UUID], until: float) -> tuple[int, int]:
        """Return how many intents were looked for, and how many opportunities are new."""
        new = 0

        def look(intent_id: UUID) -> None:
            nonlocal new
            new += self.discover(workspace_id, intent_id)

        problem = "discovery.not_run"
        done = self._run(workspace_id, Retried.INTENT, due, look, until=until, problem=problem)
        return done, new

    def _negotiate(self, workspace_id: UUID, until: float) -> int:
        """Let agents speak for the two of what was found; what fails stays latent."""
        with self._platform.transactions.reading(system_principal(workspace_id)) as stores:
            triggers = stores.opportunities.negotiable(self._platform.clock())

        def negotiate(opportunity_id: UUID) -> None:
            self.negotiate(workspace_id, opportunity_id, triggers[opportunity_id].value)

        ids, problem = list(triggers), "negotiations.not_begun"
        what = Retried.OPPORTUNITY
        return self._run(workspace_id, what, ids, negotiate, until=until, problem=problem)

    def _expire(self, workspace_id: UUID, until: float) -> int:
        principal = system_principal(workspace_id)
        with self._platform.transactions.reading(principal) as stores:
            rows = {row.id: row for row in stores.opportunities.due(self._platform.clock())}

        def expire(opportunity_id: UUID) -> None:
            moved(self._platform, principal, rows[opportunity_id], OpportunityState.EXPIRED)

        ids, problem = list(rows), "opportunity.not_expired"
        what = Retried.OPPORTUNITY
        return self._run(workspace_id, what, ids, expire, until=until, problem=problem)
