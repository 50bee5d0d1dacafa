"""What the API needs of investigations: to show, start and resume them, to ask people, to grant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.api.approval_services import ApprovalServices, GrantServices
from cairn.api.investigation_services import InvestigationServices
from cairn.bootstrap.lazy import lazy
from cairn.investigations.browse import BrowseInvestigations
from cairn.investigations.opening import Opener
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from cairn.api.investigation_services import ResumeInvestigations, StartInvestigation
    from cairn.bootstrap.api_parts import ApiParts
    from cairn.bootstrap.investigating import InvestigationParts
    from cairn.investigations.approvals.decide import Approvals
    from cairn.investigations.approvals.granting import GrantFromQuestion
    from cairn.investigations.approvals.grants import Grants
    from cairn.workspace.redaction import RedactionProfile


def investigation_services(parts: ApiParts) -> InvestigationServices:
    """Build them; nothing connects yet, and what starts is built when something is started."""
    return InvestigationServices(
        start=lazy(lambda: _start(parts)),
        resume=lazy(lambda: _resume(parts)),
        browse=browse(parts),
    )


def approval_services(parts: ApiParts) -> ApprovalServices:
    """Build the questions to people; what decides is built when somebody decides."""
    return ApprovalServices(
        page=lazy(lambda: browse(parts).approvals), decide=lazy(lambda: _approvals(parts))
    )


def grant_services(parts: ApiParts) -> GrantServices:
    """Build what keeps standing grants."""
    return GrantServices(
        make=lazy(lambda: _granting(parts)), keep=lazy(lambda: _grants(parts.investigating))
    )


def redaction_profile(parts: ApiParts) -> RedactionProfile:
    """Build what a workspace's redaction profile is chosen by."""
    from cairn.workspace.redaction import RedactionProfile

    return RedactionProfile(
        transactions=parts.investigating.transactions, clock=utc_now, new_id=new_id
    )


def browse(parts: ApiParts) -> BrowseInvestigations:
    """Build what reads investigations."""
    return BrowseInvestigations(
        transactions=StoreTransactions(parts.opened),
        open=Opener(keys=parts.remember.resolver.keys, cipher=parts.remember.cipher),
    )


def _start(parts: ApiParts) -> StartInvestigation:
    from cairn.investigations.run.admission import Start

    made = parts.investigating
    return Start(journal=made.journal, admit=made.admit, desk=made.desk)


def _resume(parts: ApiParts) -> ResumeInvestigations:
    return parts.investigating.resume


def _approvals(parts: ApiParts) -> Approvals:
    from cairn.investigations.approvals.decide import Approvals

    made = parts.investigating
    return Approvals(
        journal=made.journal, pipeline=made.pipeline, desk=made.desk, hiding=made.hiding
    )


def _granting(parts: ApiParts) -> GrantFromQuestion:
    from cairn.investigations.approvals.granting import GrantFromQuestion

    made = parts.investigating
    return GrantFromQuestion(
        transactions=made.transactions,
        show=_approvals(parts).get,
        make=_grants(made).make,
    )


def _grants(made: InvestigationParts) -> Grants:
    from cairn.investigations.approvals.grants import Grants
    from cairn.ledger.keys import BodyCipher

    return Grants(
        transactions=made.transactions,
        policies=made.policies,
        keys=made.keys,
        cipher=BodyCipher(),
        clock=utc_now,
        new_id=new_id,
    )
