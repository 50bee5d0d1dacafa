"""What the API calls of discovery: members, their networks, and what belongs there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.bootstrap.api_parts import ApiParts
from cairn.bootstrap.lazy import part

if TYPE_CHECKING:
    from cairn.discovery.networks.indexing import Indexer
    from cairn.discovery.networks.invites import Invites
    from cairn.discovery.networks.manage import Networks
    from cairn.discovery.networks.places import Places
    from cairn.discovery.networks.showing import ShowMembers


class DiscoveryServices(ApiParts):
    """Use cases, each imported and made when a request first needs it."""

    @part
    def networks(self) -> Networks:
        """Networks."""
        from cairn.discovery.networks.manage import Networks

        return Networks(self.platform)

    @part
    def places(self) -> Places:
        """Joining networks and leaving them."""
        from cairn.discovery.networks.places import Places

        return Places(self.platform, self.networks)

    @part
    def invites(self) -> Invites:
        """Invites to networks."""
        from cairn.discovery.networks.invites import Invites

        return Invites(platform=self.platform, gateway=lambda: self.gateway)

    @part
    def show_members(self) -> ShowMembers:
        """Members as others see them."""
        from cairn.discovery.networks.showing import ShowMembers

        return ShowMembers(self.platform)

    @part
    def indexer(self) -> Indexer:
        """Which intents belong to which networks."""
        from cairn.bootstrap.networks import indexer_of

        return indexer_of(self.platform, self.embedder, lambda: self.gateway)
