"""Money: what the books say is looked up, and a person decides."""

from __future__ import annotations

from cairn.agent.planning.playbooks.playbook import Ending, Playbook, Sign
from cairn.agent.planning.playbooks.vocabulary import MONEY
from cairn.agent.planning.uses import INVOICES
from cairn.agent.state import Verdict

BILLING = Playbook(
    name="billing",
    topic=(MONEY,),
    search="invoice billing refund policy runbook",
    looks=(INVOICES,),
    endings=(
        Ending(
            verdict=Verdict.AUTO_RESOLVED,
            reason="The documentation answers the question.",
            when=frozenset([Sign.ASKS_HOW, Sign.KNOWN]),
            unless=frozenset([Sign.CLAIMS]),
        ),
        Ending(
            verdict=Verdict.NEEDS_L2,
            reason="Money is asked for or disputed; a person decides that.",
            says={
                "en": "Questions of money are decided by a person",
                "de": "Über Geld entscheidet bei uns ein Mensch",
                "fr": "Les questions d'argent sont décidées par une personne",
                "es": "Los asuntos de dinero los decide una persona",
            },
        ),
    ),
    tells={
        Sign.INVOICES: {
            "en": "On our books we see {count} invoices of yours, the latest {latest}",
            "de": "In unseren Büchern sehen wir {count} Rechnungen von Ihnen, zuletzt {latest}",
            "fr": "Nos livres montrent {count} factures à votre nom, la dernière {latest}",
            "es": "En nuestros libros vemos {count} facturas suyas, la última {latest}",
        },
    },
)
