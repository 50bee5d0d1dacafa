"""The feed of a member: cards of their opportunities in sections. The use case of `/v1/feed`.

Rules make cards and sections each time, of what is there now. What a model words is kept for a day,
by a digest of what it shows: when that changes, the kept words are not used any more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from cairn.discovery.feed.cards import FeedCard, card_of, facts_of
from cairn.discovery.feed.rows import CachedRow
from cairn.discovery.feed.sections import FeedSection, sections_of
from cairn.discovery.feed.wording import MOST_CARDS
from cairn.discovery.matching.rows import SENDABLE, Party
from cairn.discovery.networks.acting import acting, client_of
from cairn.ledger.keys import BodyUnreadable, key_subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.discovery.feed.cards import Insight
    from cairn.discovery.feed.wording import WordCards
    from cairn.discovery.matching.views import OpportunityView
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

CACHED_FOR = timedelta(hours=24)
MOST_SHOWN = 100
_WORDS = ("headline", "summary", "why_you")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedView:
    """A feed. `by` says what worded it and made its sections: rules or a model."""

    sections: Sequence[FeedSection]
    cards: int
    by: Literal["rules", "model"]
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Feeds:
    """Makes feeds. `opportunities` lists a member's own, `insights` tells of negotiations."""

    platform: Platform
    opportunities: Callable[[Principal, int], Sequence[OpportunityView]]
    insights: Callable[[Principal, Sequence[UUID]], Mapping[UUID, Insight]]
    words: WordCards | None

    def get(
        self, principal: Principal, *, client_id: str | None = None, limit: int = 50
    ) -> FeedView:
        """Return the feed of the member that the principal acts for."""
        confined = acting(principal, client_id)
        now = self.platform.clock()
        views = [
            view
            for view in self.opportunities(confined, min(limit, MOST_SHOWN))
            if not is_anothers_draft(view)
        ]
        insights = self.insights(confined, [view.id for view in views])
        facts: dict[UUID, str] = {}
        cards: list[FeedCard] = []
        for view in views:
            insight = insights.get(view.id)
            facts[view.id] = facts_of(view, insight)
            cards.append(card_of(view, insight))
        sections: Sequence[FeedSection] | None = None
        if cards and self.words is not None and self.words.may(confined.workspace_id):
            cards, sections = _Wording(self, confined, self.words, facts, now)(views, cards)
        by_model = sections is not None or any(card.by == "model" for card in cards)
        return FeedView(
            sections=sections or sections_of(cards, now),
            cards=len(cards),
            by="model" if by_model else "rules",
            made_at=now,
        )


@dataclass(frozen=True, slots=True)
class _Wording:
    """Words the first cards of a feed by a model, or takes what it said of the same before."""

    feeds: Feeds
    confined: Principal
    words: WordCards
    facts: Mapping[UUID, str]
    now: datetime

    def __call__(
        self, views: Sequence[OpportunityView], cards: Sequence[FeedCard]
    ) -> tuple[list[FeedCard], Sequence[FeedSection] | None]:
        """Return the cards, and the sections that a model makes of them when it words all."""
        platform, confined = self.feeds.platform, self.confined
        with platform.transactions.reading(confined) as stores:
            member = stores.members.of_client(client_of(confined))
            since = self.now - CACHED_FOR
            rows = stores.feeds.cached(member.id, since) if member else ()
        if member is None:
            return list(cards), None
        cached = {(row.subject_id, row.version): row for row in rows}
        subjects = {view.id: _subjects(view, member.id) for view in views}
        shown = self._cards(cards[:MOST_CARDS], cached, member.id, subjects)
        every = [*shown, *cards[MOST_CARDS:]]
        sections = None
        if len(cards) <= MOST_CARDS:
            sections = self._sections(every, cached, member.id, subjects)
        return every, sections

    def _cards(
        self,
        cards: Sequence[FeedCard],
        cached: Mapping[tuple[UUID, str], CachedRow],
        member_id: UUID,
        subjects: Mapping[UUID, tuple[UUID, ...]],
    ) -> list[FeedCard]:
        texts: dict[UUID, FeedCard] = {}
        for card in cards:
            row = cached.get((card.opportunity_id, self.facts[card.opportunity_id]))
            body = self._opened(row)
            if body:
                words = {name: body[name] for name in _WORDS}
                texts[card.opportunity_id] = replace(card, **words, by="model")
        new = [card for card in cards if card.opportunity_id not in texts]
        if new:
            worded = self.words.cards(self.confined.workspace_id, new)
            for card in worded:
                texts[card.opportunity_id] = card
                if card.by == "model":
                    body = {name: getattr(card, name) for name in _WORDS}
                    self._keep(
                        member_id,
                        card.opportunity_id,
                        self.facts[card.opportunity_id],
                        subjects[card.opportunity_id],
                        body,
                    )
        return [texts[card.opportunity_id] for card in cards]

    def _sections(
        self,
        cards: Sequence[FeedCard],
        cached: Mapping[tuple[UUID, str], CachedRow],
        member_id: UUID,
        subjects: Mapping[UUID, tuple[UUID, ...]],
    ) -> Sequence[FeedSection] | None:
        version = _version(self.facts, cards)
        row = cached.get((member_id, version))
        body = self._opened(row)
        by_id = {str(card.opportunity_id): card for card in cards}
        if body:
            return [
                FeedSection(
                    name=section["name"],
                    title=section["title"],
                    cards=[by_id[each] for each in section["cards"]],
                )
                for section in body["sections"]
            ]
        sections = self.words.sections(self.confined.workspace_id, cards)
        if sections is not None:
            about = tuple(sorted({each for some in subjects.values() for each in some}))
            document = {
                "sections": [
                    {
                        "name": section.name,
                        "title": section.title,
                        "cards": [str(card.opportunity_id) for card in section.cards],
                    }
                    for section in sections
                ]
            }
            self._keep(member_id, member_id, version, about, document)
        return sections

    def _keep(
        self,
        member_id: UUID,
        subject_id: UUID,
        version: str,
        data_subjects: tuple[UUID, ...],
        body: Mapping[str, Any],
    ) -> None:
        platform, workspace_id = self.feeds.platform, self.confined.workspace_id
        row_id = platform.new_id()
        keys = platform.keys.get_or_create(workspace_id, data_subjects)
        row = CachedRow(
            id=row_id,
            member_id=member_id,
            subject_id=subject_id,
            version=version,
            data_subjects=data_subjects,
            body=platform.cipher.seal(row_id, workspace_id, keys, dict(body)),
            made_at=self.now,
        )
        with platform.transactions.preparing(self.confined) as (stores, _):
            stores.feeds.keep(row)

    def _opened(self, row: CachedRow | None) -> Mapping[str, Any]:
        if row is None:
            return {}
        platform, workspace_id = self.feeds.platform, self.confined.workspace_id
        subjects = key_subjects(workspace_id, row.data_subjects)
        keys = platform.keys.get(workspace_id, subjects)
        try:
            return platform.cipher.open(row.id, workspace_id, subjects, keys, row.body)
        except BodyUnreadable:
            return {}


def is_anothers_draft(view: OpportunityView) -> bool:
    """Return whether an introducer has not sent it yet, and somebody else reads."""
    introduced = view.introducer_id is not None and view.yours is not Party.INTRODUCER
    return introduced and view.state in SENDABLE


def _subjects(view: OpportunityView, member_id: UUID) -> tuple[UUID, ...]:
    people = {member_id, view.source.member_id, view.target.member_id}
    return tuple(sorted(people | ({view.introducer_id} if view.introducer_id else set())))


def _version(facts: Mapping[UUID, str], cards: Sequence[FeedCard]) -> str:
    return sha256(
        "".join(sorted(facts[card.opportunity_id] for card in cards)).encode()
    ).hexdigest()
