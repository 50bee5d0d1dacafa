"""Every other ticket: a person goes on; where too little is said, the requester is asked."""

from __future__ import annotations

from cairn.investigations.planning.playbooks import lexicon
from cairn.investigations.planning.playbooks.lexicon import VAGUE
from cairn.investigations.planning.playbooks.playbook import (
    FAILING,
    MONEY,
    POWERS,
    Ending,
    Playbook,
    Sign,
)
from cairn.investigations.planning.playbooks.playbook import WEBHOOK as HOOKS
from cairn.investigations.planning.records import DELIVERIES, ENDPOINT, INVOICES
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


WEBHOOK = Playbook(
    name="failing-webhook",
    topic=(HOOKS, FAILING),
    search="webhook delivery failing endpoint status retries runbook",
    looks=(DELIVERIES, ENDPOINT),
    endings=(
        Ending(
            verdict=Verdict.NEEDS_CLIENT,
            reason="Deliveries arrive and the endpoint answers; the requester has to say more.",
            when=frozenset([Sign.DELIVERED]),
            unless=frozenset([Sign.FAILING, Sign.ENDPOINT_DOWN, Sign.ENDPOINT_SILENT]),
            asks={
                "en": "Which event is missing, and when did you expect it?",
                "de": "Welches Ereignis fehlt, und wann hätte es kommen sollen?",
                "fr": "Quel événement manque, et quand l'attendiez-vous ?",
                "es": "¿Qué evento falta y cuándo lo esperaba?",
            },
        ),
        Ending(
            verdict=Verdict.NEEDS_TECH,
            reason="Deliveries fail at the endpoint; a technician has to mend it.",
            when=frozenset([Sign.FAILING]),
        ),
        Ending(
            verdict=Verdict.NEEDS_TECH,
            reason="The endpoint does not answer as it should.",
            when=frozenset([Sign.ENDPOINT_DOWN]),
        ),
        Ending(verdict=Verdict.NEEDS_TECH, reason="A technician has to look at the deliveries."),
    ),
    covers=lexicon.WEBHOOK,
    tells={
        Sign.FAILING: {
            "en": "{count} of the last {all} deliveries failed, the latest with {status}",
            "de": "{count} der letzten {all} Zustellungen schlugen fehl, die letzte mit {status}",
            "fr": "{count} des {all} dernières livraisons ont échoué, la dernière avec {status}",
            "es": "Fallaron {count} de las últimas {all} entregas, la más reciente con {status}",
        },
        Sign.DELIVERED: {
            "en": "The latest delivery succeeded with {status}",
            "de": "Die letzte Zustellung gelang mit {status}",
            "fr": "La dernière livraison a réussi avec {status}",
            "es": "La última entrega se completó con {status}",
        },
        Sign.ENDPOINT_DOWN: {
            "en": "Our own request to the endpoint was answered with {status}",
            "de": "Unsere eigene Anfrage an den Endpunkt wurde mit {status} beantwortet",
            "fr": "Notre propre requête vers le point d'accès a reçu {status}",
            "es": "Nuestra propia petición al punto de acceso recibió {status}",
        },
        Sign.ENDPOINT_SILENT: {
            "en": "The endpoint does not answer our own request",
            "de": "Der Endpunkt antwortet auf unsere eigene Anfrage nicht",
            "fr": "Le point d'accès ne répond pas à notre propre requête",
            "es": "El punto de acceso no responde a nuestra propia petición",
        },
        Sign.ENDPOINT_UP: {
            "en": "The endpoint answers our own request with {status}",
            "de": "Der Endpunkt beantwortet unsere eigene Anfrage mit {status}",
            "fr": "Le point d'accès répond à notre propre requête avec {status}",
            "es": "El punto de acceso responde a nuestra petición con {status}",
        },
    },
)


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
