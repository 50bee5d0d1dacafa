"""Sentences any message may have, in the languages rules can write; English for all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.investigations.planning.playbooks.playbook import Sign
from cairn.investigations.state import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.investigations.planning.playbooks.playbook import Text

GREETING: Text = {"en": "Hello,", "de": "Guten Tag,", "fr": "Bonjour,", "es": "Buenos días,"}

HAND_OFF: Text = {
    "en": "Hand-off note:",
    "de": "Übergabenotiz:",
    "fr": "Note de passation :",
    "es": "Nota de traspaso:",
}
"""Begins what a colleague reads in the requester's place."""

QUOTED: Text = {
    "en": "Our documentation says: “{quote}”",
    "de": "In unserer Dokumentation steht: „{quote}“",
    "fr": "Notre documentation dit : « {quote} »",
    "es": "Nuestra documentación dice: «{quote}»",
}

NEAR: Text = {
    "en": "Near to what is asked, and not sent: “{quote}”",
    "de": "Nahe an der Frage, und nicht verschickt: „{quote}“",
    "fr": "Proche de la demande, et non envoyé : « {quote} »",
    "es": "Cercano a lo que se pide, y no enviado: «{quote}»",
}

ASKED: Text = {
    "en": "In the ticket's own words: “{quote}”",
    "de": "Im Wortlaut des Tickets: „{quote}“",
    "fr": "Dans les termes du ticket : « {quote} »",
    "es": "En palabras del caso: «{quote}»",
}

NOTES: Mapping[Sign, Text] = {
    Sign.SUSPICIOUS: {
        "en": "The ticket has words that try to direct a model",
        "de": "Das Ticket enthält Worte, die ein Modell lenken sollen",
        "fr": "Le ticket contient des mots qui cherchent à diriger un modèle",
        "es": "El caso contiene palabras que intentan dirigir a un modelo",
    },
}
"""Told to colleagues only."""

TELLS: Mapping[Sign, Text] = {
    Sign.NO_ACCOUNT: {
        "en": "There is no account under the address we looked for",
        "de": "Unter der gesuchten Adresse gibt es kein Konto",
        "fr": "Il n'existe aucun compte sous l'adresse recherchée",
        "es": "No hay ninguna cuenta con la dirección buscada",
    },
    Sign.REFUSED: {
        "en": "The step that would mend this was not permitted",
        "de": "Der Schritt, der das behebt, wurde nicht erlaubt",
        "fr": "L'opération qui résoudrait cela n'a pas été autorisée",
        "es": "El paso que lo resolvería no fue autorizado",
    },
    Sign.SIMULATED: {
        "en": "The step that would mend this was only rehearsed, nothing was changed",
        "de": "Der Schritt, der das behebt, wurde nur geprobt, geändert wurde nichts",
        "fr": "L'opération qui résoudrait cela a seulement été simulée, rien n'a changé",
        "es": "El paso que lo resolvería solo se ensayó, no se cambió nada",
    },
    Sign.FAILED: {
        "en": "The step that would mend this did not work",
        "de": "Der Schritt, der das behebt, ist gescheitert",
        "fr": "L'opération qui résoudrait cela a échoué",
        "es": "El paso que lo resolvería falló",
    },
    Sign.UNKNOWN: {
        "en": "We do not know yet whether the step that mends this took effect",
        "de": "Ob der Schritt, der das behebt, gewirkt hat, wissen wir noch nicht",
        "fr": "Nous ne savons pas encore si l'opération a pris effet",
        "es": "Aún no sabemos si el paso que lo resuelve surtió efecto",
    },
}

CLOSINGS: Mapping[Verdict, Text] = {
    Verdict.NEEDS_CLIENT: {
        "en": "Your ticket waits for your answer",
        "de": "Ihr Anliegen wartet auf Ihre Antwort",
        "fr": "Votre demande attend votre réponse",
        "es": "Su caso espera su respuesta",
    },
    Verdict.NEEDS_L2: {
        "en": "Somebody with the authority for it has to decide",
        "de": "Jemand mit der Befugnis dazu muss entscheiden",
        "fr": "Une personne habilitée doit décider",
        "es": "Debe decidir una persona autorizada",
    },
}

GOES_ON: Text = {
    "en": "A technician has to go on with this ticket",
    "de": "Eine Technikerin oder ein Techniker muss hier weitermachen",
    "fr": "Un technicien doit prendre le relais",
    "es": "Un técnico debe continuar con este caso",
}
"""Closes every other hand-off."""


def phrase(text: Text, language: str) -> str:
    """Return the sentence in a language, in English where it is not known."""
    return text.get(language, text["en"])
