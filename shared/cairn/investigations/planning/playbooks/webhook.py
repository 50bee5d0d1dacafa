"""Events that do not arrive: the delivery log, a look at the endpoint, then a technician."""

from __future__ import annotations

from cairn.investigations.planning.playbooks import lexicon
from cairn.investigations.planning.playbooks.playbook import Ending, Playbook, Sign
from cairn.investigations.planning.playbooks.vocabulary import FAILING
from cairn.investigations.planning.playbooks.vocabulary import WEBHOOK as HOOKS
from cairn.investigations.planning.uses import DELIVERIES, ENDPOINT
from cairn.investigations.state import Verdict

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
