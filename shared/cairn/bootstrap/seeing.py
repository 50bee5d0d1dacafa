"""What the API needs to show investigations, to start them, to take them up again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.agent.browse import BrowseInvestigations
from cairn.agent.opening import Opener
from cairn.api.investigation_services import InvestigationServices
from cairn.bootstrap.later import later
from cairn.storage.postgres.seeing import PostgresSeeingStores
from cairn.storage.postgres.store_transactions import StoreTransactions

if TYPE_CHECKING:
    from cairn.api.investigation_services import ResumeInvestigations, StartInvestigation
    from cairn.bootstrap.api_parts import ApiParts


def investigation_services(parts: ApiParts) -> InvestigationServices:
    """Build them; nothing connects yet, and what starts is built when something is started."""
    return InvestigationServices(
        start=later(lambda: _start(parts)),
        resume=later(lambda: _resume(parts)),
        browse=browse(parts),
    )


def browse(parts: ApiParts) -> BrowseInvestigations:
    """Build what reads investigations."""
    return BrowseInvestigations(
        transactions=StoreTransactions(parts.opened, PostgresSeeingStores),
        open=Opener(keys=parts.remember.resolver.keys, cipher=parts.remember.cipher),
    )


def _start(parts: ApiParts) -> StartInvestigation:
    from cairn.bootstrap.investigating import start

    return start(parts)


def _resume(parts: ApiParts) -> ResumeInvestigations:
    from cairn.bootstrap.investigating import resume

    return resume(parts)
