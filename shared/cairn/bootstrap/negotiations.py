"""What negotiations are made of: for the API, for what discovers, and for the sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cairn.bootstrap.investigations import InvestigationParts
    from cairn.discovery.negotiation.going import SweepNegotiations
    from cairn.discovery.negotiation.negotiations import Negotiations
    from cairn.llm.gateway import Gateway
    from cairn.writing.platform import Platform


def negotiations(platform: Platform, gateway: Gateway | None = None) -> Negotiations:
    """Return negotiations and what goes on with them; where there is a model it is an advocate."""
    from cairn.discovery.negotiation.going import Advance
    from cairn.discovery.negotiation.negotiations import Negotiations
    from cairn.discovery.negotiation.speaking import AskAdvocate

    advocate = AskAdvocate(gateway) if gateway is not None else None
    return Negotiations(advance=Advance(platform=platform, advocate=advocate))


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
