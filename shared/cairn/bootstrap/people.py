"""What the API needs of people around investigations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.api.people_services import PeopleServices
from cairn.bootstrap.lazy import lazy
from cairn.kernel.clock import utc_now

if TYPE_CHECKING:
    from cairn.api.services import IngestDocument
    from cairn.bootstrap.api_parts import ApiParts
    from cairn.bootstrap.investigating import InvestigationParts
    from cairn.investigations.people.bundle import Escalations
    from cairn.investigations.people.candidates import Candidates
    from cairn.investigations.people.channels import Channels
    from cairn.investigations.people.opinions import Opinions
    from cairn.investigations.people.proposing import Proposals
    from cairn.investigations.people.remembering import RememberStep
    from cairn.memory_graph.ledger_graph import LedgerGraph


def people_services(parts: ApiParts, ingest: IngestDocument, graph: LedgerGraph) -> PeopleServices:
    """Return what the API needs; each part is made when a route first needs it."""
    made = parts.investigating
    return PeopleServices(
        escalations=lazy(lambda: _escalations(parts, made)),
        channels=lazy(lambda: _channels(parts, made)),
        opinions=lazy(lambda: _opinions(made)),
        candidates=lazy(lambda: _candidates(made, ingest)),
        remember=lazy(lambda: _remember(parts, made, graph)),
        proposals=lazy(lambda: _proposals(graph)),
    )


def _escalations(parts: ApiParts, made: InvestigationParts) -> Escalations:
    from cairn.bootstrap.investigation_views import browse
    from cairn.investigations.people.bundle import Escalations

    return Escalations(journal=made.journal, browse=browse(parts))


def _channels(parts: ApiParts, made: InvestigationParts) -> Channels:
    from cairn.adapters.http.webhooks import sender_for
    from cairn.investigations.people.channels import Channels

    return Channels(journal=made.journal, check=sender_for(parts.settings.webhooks).check)


def _opinions(made: InvestigationParts) -> Opinions:
    from cairn.investigations.people.learning import StageCandidates
    from cairn.investigations.people.opinions import Opinions

    return Opinions(journal=made.journal, stage=StageCandidates(journal=made.journal))


def _candidates(made: InvestigationParts, ingest: IngestDocument) -> Candidates:
    from cairn.investigations.people.candidates import Candidates

    return Candidates(journal=made.journal, desk=made.desk, ingest=ingest)


def _remember(parts: ApiParts, made: InvestigationParts, graph: LedgerGraph) -> RememberStep:
    from cairn.bootstrap.investigation_views import browse
    from cairn.investigations.people.remembering import RememberStep

    return RememberStep(
        browse=browse(parts),
        desk=made.desk,
        graph=graph.bound_to,
        redact=made.redacted,
        clock=utc_now,
    )


def _proposals(graph: LedgerGraph) -> Proposals:
    from cairn.investigations.people.proposing import Proposals

    return Proposals(graph=graph.bound_to, clock=utc_now)
