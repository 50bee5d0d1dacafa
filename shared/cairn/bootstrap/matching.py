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
    from cairn.writing.platform import Platform


def discovery_of(platform: Platform, embedder: Embedder) -> Discovery:
    """Return what finds and judges who fits."""
    from cairn.discovery.matching.discovery import Discovery

    return Discovery(platform=platform, embedder=embedder)


def opportunities_of(platform: Platform, discovery: Discovery) -> Opportunities:
    """Return what members do with their opportunities."""
    from cairn.discovery.matching.opportunities import Opportunities

    return Opportunities(platform=platform, discovery=discovery)


def discover_intent(platform: Platform, embedder: Embedder) -> DiscoverIntent:
    """Return what looks for who fits an intent, by itself."""
    from cairn.discovery.matching.ambient import DiscoverIntent

    return DiscoverIntent(platform=platform, discovery=discovery_of(platform, embedder))


def sweep_discovery(
    workspaces: Callable[[], Sequence[UUID]],
    platform: Platform,
    embedder: Embedder,
    report: Callable[[str, dict[str, Any]], None],
) -> SweepDiscovery:
    """Return what looks for intents that are due, negotiates what it finds, and ends the old."""
    from cairn.bootstrap.negotiations import negotiations
    from cairn.discovery.matching.ambient import SweepDiscovery

    return SweepDiscovery(
        workspaces=workspaces,
        discover=discover_intent(platform, embedder),
        negotiate=negotiations(platform).negotiate,
        report=report,
    )
