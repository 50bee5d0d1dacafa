"""What negotiations are made of: for the API, for what discovers, and for the sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cairn.bootstrap.investigations import InvestigationParts
    from cairn.discovery.negotiation.going import SweepNegotiations
    from cairn.discovery.negotiation.negotiations import Negotiations
    from cairn.writing.platform import Platform


def negotiations(platform: Platform) -> Negotiations:
    """Return negotiations and what goes on with them."""
    from cairn.discovery.negotiation.going import Advance
    from cairn.discovery.negotiation.negotiations import Negotiations

    return Negotiations(advance=Advance(platform=platform))


def sweep(parts: InvestigationParts) -> SweepNegotiations:
    """Return what goes on with negotiations whose windows have passed."""
    from cairn.adapters.postgres.sweeping import ListWorkspaces
    from cairn.bootstrap.parts import warn
    from cairn.discovery.negotiation.going import SweepNegotiations

    return SweepNegotiations(
        workspaces=ListWorkspaces(parts.opened),
        advance=negotiations(parts.platform).advance,
        report=warn(parts.log),
    )
