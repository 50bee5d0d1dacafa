"""What an action may have come to that a technician has to see, whatever its playbook."""

from __future__ import annotations

from cairn.investigations.planning.playbooks.playbook import Ending, Sign
from cairn.investigations.state import Verdict

_REASONS = {
    Sign.UNKNOWN: "Nobody knows whether the action took effect; a technician has to look.",
    Sign.REFUSED: "The action that would mend this was refused.",
    Sign.FAILED: "The action that would mend this did not work.",
    Sign.SIMULATED: "The action that would mend this was only rehearsed.",
}

OUTCOMES = tuple(
    Ending(verdict=Verdict.NEEDS_TECH, reason=reason, when=frozenset([sign]))
    for sign, reason in _REASONS.items()
)
"""They go before the endings of the playbook."""

ANSWER = Ending(
    verdict=Verdict.AUTO_RESOLVED,
    reason="The documentation answers the question.",
    when=frozenset([Sign.ANSWERED]),
    unless=frozenset([Sign.UNEXPLAINED, Sign.CLAIMS, Sign.SUSPICIOUS]),
    asks={
        "en": "Does that answer your question?",
        "de": "Beantwortet das Ihre Frage?",
        "fr": "Cela répond-il à votre question ?",
        "es": "¿Responde esto a su pregunta?",
    },
)
"""A question that the documentation answers, whatever playbook its words belong to."""
