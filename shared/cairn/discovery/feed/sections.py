"""Sections of a feed, made of what its cards are: only those that have one. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.discovery.matching.rows import OpportunityState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from cairn.discovery.feed.cards import FeedCard

NEW_FOR = timedelta(days=7)
MUST_MEET = 90
_ENDED = (OpportunityState.REJECTED, OpportunityState.EXPIRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedSection:
    """Cards that belong together, the best first."""

    name: str
    title: str
    cards: Sequence[FeedCard]


def sections_of(cards: Sequence[FeedCard], now: datetime) -> list[FeedSection]:
    """Return the sections of some cards; each card is in the first that takes it."""
    rules: tuple[tuple[str, str, Callable[[FeedCard], bool]], ...] = (
        ("waiting", "Waits for you", lambda card: "accept" in card.can),
        (
            "introductions",
            "Introductions",
            lambda card: card.narrator.kind == "introducer" and card.state not in _ENDED,
        ),
        ("accepted", "You agreed to meet", lambda card: card.state is OpportunityState.ACCEPTED),
        (
            "underway",
            "Your agent is on it",
            lambda card: card.state in (OpportunityState.NEGOTIATING, OpportunityState.STALLED),
        ),
        (
            "must-meet",
            "You must meet",
            lambda card: card.score >= MUST_MEET and card.state not in _ENDED,
        ),
        (
            "new",
            "New",
            lambda card: now - card.changed_at < NEW_FOR and card.state not in _ENDED,
        ),
        ("earlier", "Earlier", lambda card: card.state not in _ENDED),
        ("over", "Over", lambda _: True),
    )
    left = sorted(cards, key=lambda card: (-card.score, str(card.opportunity_id)))
    sections: list[FeedSection] = []
    for name, title, takes in rules:
        some = [card for card in left if takes(card)]
        left = [card for card in left if not takes(card)]
        if some:
            sections.append(FeedSection(name=name, title=title, cards=some))
    return sections
