"""Every other ticket: a person goes on; where too little is said, the requester is asked."""

from __future__ import annotations

from cairn.investigations.planning.playbooks.lexicon import VAGUE
from cairn.investigations.planning.playbooks.playbook import Ending, Playbook, Sign
from cairn.investigations.state import Verdict

GENERAL = Playbook(
    name="general",
    topic=(),
    search="",
    endings=(
        Ending(
            verdict=Verdict.NEEDS_CLIENT,
            reason="The ticket says too little to look for anything.",
            when=frozenset([Sign.VAGUE]),
            asks={
                "en": "What did you want to do, what happened, and which message did you see?",
                "de": "Was wollten Sie tun, was ist passiert, und welche Meldung sahen Sie?",
                "fr": "Que vouliez-vous faire, que s'est-il passé, et quel message avez-vous vu ?",
                "es": "¿Qué quería hacer, qué ocurrió y qué mensaje vio?",
            },
        ),
        Ending(
            verdict=Verdict.NEEDS_L2,
            reason="An account or a password may be in the wrong hands; that is for security.",
            when=frozenset([Sign.DOUBTED, Sign.SIGN_IN]),
        ),
        Ending(
            verdict=Verdict.NEEDS_TECH,
            reason="No rule covers this ticket; a technician has to look at it.",
        ),
    ),
    covers=VAGUE,
    tells={},
)
