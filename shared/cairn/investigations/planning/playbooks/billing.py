"""Money: what the books say is looked up, and a person decides."""

from __future__ import annotations

from cairn.investigations.planning.playbooks.playbook import Ending, Playbook, Sign
from cairn.investigations.planning.playbooks.vocabulary import MONEY
from cairn.investigations.planning.uses import INVOICES
from cairn.investigations.state import Verdict

BILLING = Playbook(
    name="billing",
    topic=(MONEY,),
    search="invoice billing refund policy runbook",
    looks=(INVOICES,),
    endings=(
        Ending(
            verdict=Verdict.NEEDS_L2,
            reason="Money is asked for or disputed; a person decides that.",
            says={
                "en": "This is about money",
                "de": "Es geht um Geld",
                "fr": "Il s'agit d'argent",
                "es": "Se trata de dinero",
            },
        ),
    ),
    tells={
        Sign.INVOICES: {
            "en": "Invoices on our books: {count}, the latest {latest}",
            "de": "Rechnungen in unseren Büchern: {count}, zuletzt {latest}",
            "fr": "Factures dans nos livres : {count}, la dernière {latest}",
            "es": "Facturas en nuestros libros: {count}, la última {latest}",
        },
    },
)
