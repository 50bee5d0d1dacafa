"""Every other ticket: search, answer from the documentation if it does, else hand over or ask."""

from __future__ import annotations

from cairn.agent.planning.playbooks.playbook import Ending, Playbook, Sign
from cairn.agent.state import Verdict

GENERAL = Playbook(
    name="general",
    topic=(),
    search="",
    endings=(
        Ending(
            verdict=Verdict.AUTO_RESOLVED,
            reason="The documentation answers the question.",
            when=frozenset([Sign.ANSWERED]),
            asks={
                "en": "Does that answer your question?",
                "de": "Beantwortet das Ihre Frage?",
                "fr": "Cela répond-il à votre question ?",
                "es": "¿Responde esto a su pregunta?",
            },
        ),
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
            verdict=Verdict.NEEDS_TECH,
            reason="No rule covers this ticket; a technician has to look at it.",
        ),
    ),
    tells={},
)
