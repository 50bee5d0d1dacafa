"""What discovery is made of: for the API, and for what looks by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.discovery.matching.ambient import DiscoverIntent, SweepDiscovery
    from cairn.discovery.matching.discovery import Discovery
    from cairn.discovery.matching.opportunities import Opportunities
    from cairn.embedding.port import Embedder
    from cairn.llm.gateway import Gateway
    from cairn.writing.platform import Platform


def discovery_of(platform: Platform, embedder: Embedder, gateway: Gateway | None) -> Discovery:
    """Return what finds and judges who fits, by models where some are configured."""
    from cairn.discovery.matching.discovery import Discovery
    from cairn.discovery.matching.evaluator import Evaluator
    from cairn.discovery.matching.hyde import HypotheticalDocuments, RecentLenses

    recent = RecentLenses(platform.stopwatch)
    return Discovery(
        platform=platform,
        embedder=embedder,
        evaluator=Evaluator(gateway=gateway, warn=platform.warn),
        documents=HypotheticalDocuments(platform=platform, gateway=gateway, recent=recent),
    )


def opportunities_of(
    platform: Platform, discovery: Discovery, gateway: Gateway | None
) -> Opportunities:
    """Return what members do with their opportunities."""
    from cairn.bootstrap.negotiations import negotiations
    from cairn.discovery.matching.opportunities import Opportunities

    negotiate = negotiations(platform, gateway).negotiate
    return Opportunities(platform=platform, discovery=discovery, negotiate=negotiate)


def discover_intent(
    platform: Platform, embedder: Embedder, gateway: Gateway | None
) -> DiscoverIntent:
    """Return what looks for who fits an intent, by itself."""
    from cairn.discovery.matching.ambient import DiscoverIntent

    return DiscoverIntent(platform=platform, discovery=discovery_of(platform, embedder, gateway))


def sweep_discovery(
    workspaces: Callable[[], Sequence[UUID]],
    platform: Platform,
    embedder: Embedder,
    report: Callable[[str, dict[str, Any]], None],
    gateway: Gateway | None = None,
) -> SweepDiscovery:
    """Return what looks for intents that are due, negotiates and introduces, and ends the old."""
    from cairn.bootstrap.negotiations import negotiations
    from cairn.discovery.feed.maintenance import MaintainFeeds
    from cairn.discovery.matching.ambient import SweepDiscovery

    discover = discover_intent(platform, embedder, gateway)
    opportunities = opportunities_of(platform, discover.discovery, gateway)
    contacts = MaintainFeeds(platform=platform, introduce=opportunities.introduce)
    return SweepDiscovery(
        workspaces=workspaces,
        discover=discover,
        negotiate=negotiations(platform, gateway).negotiate,
        introduce=contacts.introduce_due,
        report=report,
    )
