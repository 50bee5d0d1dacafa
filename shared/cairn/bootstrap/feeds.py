"""What feeds are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.discovery.feed.cards import Insight
    from cairn.discovery.feed.feeds import Feeds
    from cairn.discovery.matching.opportunities import Opportunities
    from cairn.discovery.matching.views import OpportunityView
    from cairn.discovery.negotiation.negotiations import Negotiations
    from cairn.kernel.access import Principal
    from cairn.llm.gateway import Gateway
    from cairn.writing.platform import Platform


def feeds_of(
    platform: Platform,
    opportunities: Opportunities,
    negotiations: Negotiations,
    models: Gateway | None,
) -> Feeds:
    """Return what makes feeds; a model words them where there is one."""
    from cairn.discovery.feed.cards import Insight
    from cairn.discovery.feed.feeds import Feeds
    from cairn.discovery.feed.wording import WordCards

    def listed(principal: Principal, limit: int) -> Sequence[OpportunityView]:
        return opportunities.page(principal, limit=limit)

    def insights(principal: Principal, ids: Sequence[UUID]) -> Mapping[UUID, Insight]:
        of_cards = negotiations.insights(principal, ids)
        return {
            id_: Insight(headline=each.headline, text=each.text) for id_, each in of_cards.items()
        }

    return Feeds(
        platform=platform,
        opportunities=listed,
        insights=insights,
        words=WordCards(models) if models else None,
    )
