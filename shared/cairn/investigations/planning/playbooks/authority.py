"""What only a person with authority may decide: law, contracts, complaints, security, rights."""

from __future__ import annotations

from cairn.investigations.planning.playbooks.playbook import Ending, Playbook
from cairn.investigations.planning.playbooks.vocabulary import POWERS
from cairn.investigations.state import Verdict

AUTHORITY = Playbook(
    name="authority",
    topic=(POWERS,),
    weight=100,  # whatever else the ticket says
    search="policy escalation security legal privacy contract",
    endings=(
        Ending(
            verdict=Verdict.NEEDS_L2,
            reason="Only a person with the authority for it may decide this.",
            says={
                "en": "This is about law, a contract, a complaint, security or access rights",
                "de": "Es geht um Recht, einen Vertrag, eine Beschwerde, Sicherheit oder "
                "Zugriffsrechte",
                "fr": "Il s'agit de droit, d'un contrat, d'une plainte, de sécurité ou de droits "
                "d'accès",
                "es": "Se trata de una cuestión legal, un contrato, una queja, la seguridad o "
                "permisos de acceso",
            },
        ),
    ),
    tells={},
)
