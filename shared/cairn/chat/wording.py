"""What rules and the chat itself say, in four languages. English where a language has no words."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "greeting": "Hello. Ask me what is stored, or tell me what to remember.",
            "found": "Quoted from what is stored (by rules, without a model):",
            "nothing": "Nothing that is stored bears on this.",
            "remembered": "Remembered:",
            "stated": "Noted; it is kept with this conversation.",
            "listed": "What is stored:",
            "ticket": "The ticket is in the queue:",
            "waits": "This waits for your yes (yes or no, within 15 minutes):",
            "done": "Done:",
            "cancelled": "Cancelled; nothing was changed.",
            "failed": "That did not work:",
            "refused": "I cannot help with this message. It was kept. Please say what you need.",
            "unable": "This key may not do that.",
            "fallback": "The model did not answer; this is quoted by rules.",
            "expired": "That question is no longer open; nothing was changed.",
            "person": "A person of our team was asked to join; write on, nothing is lost.",
            "more": "What else is known about {word}?",
        },
        "de": {
            "greeting": "Hallo. Frag, was gespeichert ist, oder sag, was ich mir merken soll.",
            "found": "Zitiert aus dem, was gespeichert ist (nach Regeln, ohne Modell):",
            "nothing": "Nichts von dem, was gespeichert ist, betrifft das.",
            "remembered": "Gemerkt:",
            "stated": "Notiert; es bleibt bei diesem Gespräch.",
            "listed": "Gespeichert ist:",
            "ticket": "Das Ticket ist in der Warteschlange:",
            "waits": "Das wartet auf dein Ja (ja oder nein, innerhalb von 15 Minuten):",
            "done": "Erledigt:",
            "cancelled": "Abgebrochen; nichts wurde geändert.",
            "failed": "Das ging nicht:",
            "refused": "Dabei kann ich nicht helfen; aufbewahrt ist die Nachricht. Was fehlt dir?",
            "unable": "Dieser Schlüssel darf das nicht.",
            "fallback": "Das Modell hat nicht geantwortet; das ist nach Regeln zitiert.",
            "expired": "Diese Frage ist nicht mehr offen; nichts wurde geändert.",
            "person": "Jemand aus dem Team ist gerufen; schreib weiter, nichts geht verloren.",
            "more": "Was ist noch über {word} bekannt?",
        },
        "fr": {
            "greeting": "Bonjour. Demandez ce qui est enregistré, ou dites ce qu'il faut retenir.",
            "found": "Cité de ce qui est enregistré (par règles, sans modèle) :",
            "nothing": "Rien de ce qui est enregistré ne concerne cela.",
            "remembered": "Retenu :",
            "stated": "C'est noté et gardé avec cette conversation.",
            "listed": "Ce qui est enregistré :",
            "ticket": "Le ticket est dans la file :",
            "waits": "Cela attend votre oui (oui ou non, sous 15 minutes) :",
            "done": "Fait :",
            "cancelled": "Annulé ; rien n'a été changé.",
            "failed": "Cela n'a pas marché :",
            "refused": "Je ne peux pas aider ainsi ; le message a été gardé. Que cherchez-vous ?",
            "unable": "Cette clé ne le permet pas.",
            "fallback": "Le modèle n'a pas répondu ; ceci est cité par règles.",
            "expired": "Cette question n'est plus ouverte ; rien n'a été changé.",
            "person": "Une personne de l'équipe est appelée ; continuez, rien ne se perd.",
            "more": "Que sait-on d'autre sur {word} ?",
        },
        "es": {
            "greeting": "Hola. Pregunta qué está guardado, o di qué debo recordar.",
            "found": "Citado de lo que está guardado (por reglas, sin modelo):",
            "nothing": "Nada de lo guardado trata de esto.",
            "remembered": "Recordado:",
            "stated": "Anotado; queda con esta conversación.",
            "listed": "Lo guardado:",
            "ticket": "El ticket está en la cola:",
            "waits": "Esto espera tu sí (sí o no, en 15 minutos):",
            "done": "Hecho:",
            "cancelled": "Cancelado; no se cambió nada.",
            "failed": "No funcionó:",
            "refused": "No puedo ayudar con este mensaje. Se ha guardado. ¿Qué necesitas?",
            "unable": "Esta clave no lo permite.",
            "fallback": "El modelo no respondió; esto se cita por reglas.",
            "expired": "Esa pregunta ya no está abierta; no se cambió nada.",
            "person": "Se ha llamado a una persona del equipo; sigue, nada se pierde.",
            "more": "¿Qué más se sabe de {word}?",
        },
    }
)


def phrase(name: str, language: str | None) -> str:
    """Return a sentence in a language, English for one that has no words here."""
    return _TEXTS.get(language or "en", _TEXTS["en"])[name]
