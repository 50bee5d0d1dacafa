"""What only a person with authority may decide: law, contracts, complaints, security, rights."""

from __future__ import annotations

from cairn.agent.planning.playbooks.playbook import Ending, Playbook
from cairn.agent.planning.playbooks.vocabulary import POWERS
from cairn.agent.state import Verdict

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
                "en": "This is decided by a colleague who has the authority for it",
                "de": "Darüber entscheidet eine Kollegin oder ein Kollege mit der Befugnis dazu",
                "fr": "Une personne habilitée en décidera",
                "es": "Lo decidirá una persona autorizada",
            },
        ),
    ),
    tells={},
)
