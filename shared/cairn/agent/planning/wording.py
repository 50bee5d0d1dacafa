"""Sentences every message may have, in the languages rules can write; English for all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.agent.planning.playbooks.playbook import Sign
from cairn.agent.state import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.agent.planning.playbooks.playbook import Text

LANGUAGES = frozenset({"en", "de", "fr", "es"})

GREETING: Text = {"en": "Hello,", "de": "Guten Tag,", "fr": "Bonjour,", "es": "Buenos días,"}

QUOTED: Text = {
    "en": "Our documentation says: “{quote}”",
    "de": "In unserer Dokumentation steht: „{quote}“",
    "fr": "Notre documentation dit : « {quote} »",
    "es": "Nuestra documentación dice: «{quote}»",
}

TELLS: Mapping[Sign, Text] = {
    Sign.NO_ACCOUNT: {
        "en": "There is no account under the address we looked for",
        "de": "Unter der gesuchten Adresse gibt es kein Konto",
        "fr": "Il n'existe aucun compte sous l'adresse recherchée",
        "es": "No hay ninguna cuenta con la dirección buscada",
    },
    Sign.KNOWN: {
        "en": "Our documentation covers this kind of problem",
        "de": "Unsere Dokumentation behandelt dieses Problem",
        "fr": "Notre documentation traite ce type de problème",
        "es": "Nuestra documentación trata este tipo de problema",
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
    Verdict.NEEDS_TECH: {
        "en": "A technician takes over your ticket",
        "de": "Eine Technikerin oder ein Techniker übernimmt Ihr Anliegen",
        "fr": "Un technicien prend le relais",
        "es": "Un técnico se hace cargo de su caso",
    },
    Verdict.NEEDS_L2: {
        "en": "A colleague takes over your ticket",
        "de": "Eine Kollegin oder ein Kollege übernimmt Ihr Anliegen",
        "fr": "Une personne de l'équipe prend le relais",
        "es": "Una persona del equipo se hace cargo de su caso",
    },
    Verdict.NEEDS_CLIENT: {
        "en": "Your ticket waits for your answer",
        "de": "Ihr Anliegen wartet auf Ihre Antwort",
        "fr": "Votre demande attend votre réponse",
        "es": "Su caso espera su respuesta",
    },
    Verdict.SKIPPED: {
        "en": "Your message asks for nothing we would have to look into",
        "de": "Ihre Nachricht verlangt nichts, dem wir nachgehen müssten",
        "fr": "Votre message ne demande aucune recherche de notre part",
        "es": "Su mensaje no pide nada que debamos investigar",
    },
    Verdict.FAILED: {
        "en": "Our automatic investigation failed, a technician takes over",
        "de": "Die automatische Untersuchung ist gescheitert, ein Mensch übernimmt",
        "fr": "Notre recherche automatique a échoué, un technicien prend le relais",
        "es": "Nuestra investigación automática falló, un técnico se hace cargo",
    },
    Verdict.FAILED_BUDGET: {
        "en": "Our automatic investigation took too long, a technician takes over",
        "de": "Die automatische Untersuchung dauerte zu lange, ein Mensch übernimmt",
        "fr": "Notre recherche automatique a duré trop longtemps, un technicien prend le relais",
        "es": "Nuestra investigación automática tardó demasiado, un técnico se hace cargo",
    },
}


def said(text: Text, language: str) -> str:
    """Return the sentence in a language, in English where it is not known."""
    return text.get(language, text["en"])
