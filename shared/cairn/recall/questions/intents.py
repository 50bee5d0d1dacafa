"""Which intents a question has, by keyword patterns, several at once. Not how edges are weighed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from cairn.graph.intent_weights import Intent
from cairn.kernel.text.words import words
from cairn.recall.questions.model_calls import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cairn.recall.questions.model_calls import ModelCalls
    from cairn.recall.questions.understanding import Understanding

THRESHOLD = 0.3
"""An intent counts when its confidence is above this."""

GENERAL: Mapping[Intent, float] = MappingProxyType({Intent.GENERAL: 1.0})
MAX_CHARS = 4000  # of a question; what comes later does not change what is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredIntents:
    """Confidence in [0, 1] by intent, the surest first, and who inferred it."""

    confidence: Mapping[Intent, float]
    source: Source = Source.RULES
    provider: str | None = None


class IntentClassifier(Protocol):
    """Says what a question is after. Never fails: whoever asks a model falls back to the rules."""

    def __call__(
        self, question: str, *, understanding: Understanding, calls: ModelCalls
    ) -> InferredIntents:
        """Return at least one intent with a confidence above `THRESHOLD`."""
        ...


_Pattern = tuple[Intent, float, str]


def _pattern(intent: Intent, confidence: float, *alternatives: str) -> _Pattern:
    return intent, confidence, "|".join(alternatives)


_NO_THING = (  # "what happened" and "what caused it" ask for no thing
    r"(?!\s+(?:happen|occur|took|went|led|caus|time|date|day|month|year|reason"
    r"|(?:is |was )?the (?:reason|cause|root)))"
)

_WHOSE = r"my|our|his|her|their|user'?s?|customer'?s?"
_LIKED = r"preferences?|favou?rites?|tastes?|settings|habits|style|interests?|profile"

_PATTERNS: tuple[_Pattern, ...] = (
    _pattern(
        Intent.WHY,
        0.7,
        r"\bwhy\b",
        r"\bhow come\b",
        r"\breasons?\b",
        r"\b(?:pourquoi|warum|weshalb|wieso|por qu[eé]|perch[eé]|waarom|dlaczego|почему)\b",
        r"为什么|為什麼|なぜ|どうして|왜",
    ),
    _pattern(
        Intent.WHY,
        0.6,
        r"\b(?:root|underlying)[- ]causes?\b",
        r"\bcaus(?:e|es|ed|ing)\b",
        r"\b(?:led|leads?|leading) (?:up )?to\b",
        r"\b(?:due to|because of|result(?:ed)? (?:of|from|in)|explain|trigger(?:s|ed)?|blame)\b",
        r"\bwhat went wrong\b",
    ),
    _pattern(
        Intent.WHEN,
        0.7,
        r"\bwhen\b",
        r"\bhow (?:often|long|many times|recently|soon)\b",
        r"\b(?:what|which) (?:time|date|day|week|month|year)\b",
        r"\b(?:timeline|chronolog\w*|in what order|sequence of)\b",
        r"\b(?:quand|wann|cuándo|cuando|quando|wanneer|kiedy|когда)\b",
        r"什么时候|什麼時候|いつ|언제",
    ),
    _pattern(
        Intent.WHEN,
        0.5,
        r"\b(?:before|after|afterwards?|since|until|first time|last time|previously|next)\b",
    ),
    _pattern(
        Intent.WHEN,
        0.4,
        r"\bkeeps? (?:on )?\w+ing\b",
        r"\bwhat happened\b",
        r"\b(?:again and again|repeatedly|recurring|every time|over time|history of|still)\b",
    ),
    _pattern(
        Intent.WHAT,
        0.7,
        rf"\bwhat(?:'s|\u2019s)?\b{_NO_THING}",
        rf"\bwhich\b{_NO_THING}",
        r"\b(?:who|whom|whose|where)\b",
        r"\b(?:quel(?:le)?s?|qui|wer|welche[rsn]?|wo|quién|quien|cuál|dónde|chi|quale|dove)\b",
        r"\b(?:wie is|welke|кто|что|где)\b",
        r"什么|什麼|谁|誰|哪|何|どこ|누구|무엇|어디",
    ),
    _pattern(
        Intent.WHAT,
        0.5,
        r"\b(?:my|our|their|his|her|your) \w+",
        r"\b(?:list|describe|identify|name) (?:all|the|every|each|any)\b",
    ),
    _pattern(Intent.WHAT, 0.4, r"\bwhat happened\b"),
    _pattern(
        Intent.RELATED,
        0.7,
        r"\b(?:similar|alike|resembl\w+|analog\w+|comparable)\b",
        r"\brelated (?:to|events?|memories|issues?|tickets?|cases?)\b",
        r"\b(?:like|such as) (?:this|that|these|those|it)\b",
        r"\bsame (?:kind|sort|type|problem|issue|error|thing)\b",
        r"\b(?:seen|had) (?:this|that|it) before\b",
        r"\b(?:this|that|it) (?:ever )?(?:happen|happened|occurred) before\b",
    ),
    _pattern(
        Intent.RELATED,
        0.4,
        r"\b(?:associated with|connected (?:to|with)|in common)\b",
        r"\bother (?:cases|examples|instances)\b",
    ),
    _pattern(
        Intent.WHO_IS,
        0.8,
        r"\bwho(?:'s|\u2019s| is| are| was| were)\b(?! (?:\w+ing)\b)",
        r"\btell me about [A-Z]",
        r"\b(?:qui est|wer (?:ist|war)|quién es|chi è|quem é|wie is|кто такой|кто такая)\b",
        r"是谁|是誰|って誰",
    ),
    _pattern(
        Intent.HOW_DOES,
        0.7,
        r"\bhow (?:do|does|did|to|can|could|should|would|is|are|was|were)\b",
        r"\b(?:steps|instructions|procedure|way) (?:to|for)\b",
        r"\b(?:walk me through|workflow (?:for|of|to))\b",
        r"\b(?:wie (?:funktioniert|kann|geht|macht)|comment (?:fonctionne|faire)|cómo)\b",
        r"\b(?:como (?:funciona|fazer)|come (?:funziona|si fa))\b",
        r"怎么|怎麼|如何|どうやって|어떻게",
    ),
    _pattern(
        Intent.PERSONALIZE,
        0.7,
        r"\bpersonali[sz]\w*",
        rf"\b(?:{_WHOSE}) (?:usual |own )?(?:{_LIKED})\b",
        r"\bprefer(?:s|red)?\b",
        r"\b(?:do|would|might|did) (?:i|we|they|he|she) (?:like|enjoy|want)\b",
    ),
    _pattern(
        Intent.PERSONALIZE,
        0.5,
        r"\b(?:for me|suit(?:s|ed)? me|recommend\w*|suggest\w*)\b",
        r"\bas (?:i|we) (?:usually|always)\b",
    ),
)

_ASKS_WHEN = 0.7
_NAMES_A_TIME = 0.4
_NAMES_SOMEBODY = 0.35


def classify(question: str, *, understanding: Understanding) -> Mapping[Intent, float]:
    """Return the confidence in (0, 1] of each intent the rules see, the surest first.

    Each pattern that matches is a witness w of its intent; several combine as 1 - product(1 - w).
    A time asked for or named speaks for `when`, a name for `what`. When nothing is above
    `THRESHOLD` the answer is `general` alone, 1.0. Patterns are English, with the question words
    of some other languages.
    """
    text = question[:MAX_CHARS]
    witnesses = [(intent, sure) for intent, sure, regex in _compiled() if regex.search(text)]
    if understanding.asks_when:
        witnesses.append((Intent.WHEN, _ASKS_WHEN))
    if understanding.hint is not None:
        witnesses.append((Intent.WHEN, _NAMES_A_TIME))
    if understanding.names - set(words(text)[:1]):  # a first word has a capital anyway
        witnesses.append((Intent.WHAT, _NAMES_SOMEBODY))
    return _ordered(_combined(witnesses))


def chosen(confidence: Mapping[Intent, float]) -> Mapping[Intent, float]:
    """Return the intents worth a traversal of their own: those above `THRESHOLD`."""
    return {intent: sure for intent, sure in confidence.items() if sure > THRESHOLD}


def by_rules(question: str, *, understanding: Understanding, calls: ModelCalls) -> InferredIntents:
    """Infer by `classify`; an `IntentClassifier` that asks nobody."""
    return InferredIntents(confidence=classify(question, understanding=understanding))


def overridden(intent: Intent) -> InferredIntents:
    """Return the intent a caller insists on, and no other."""
    return InferredIntents(confidence={intent: 1.0})


@cache
def _compiled() -> tuple[tuple[Intent, float, re.Pattern[str]], ...]:
    """Return the patterns, compiled with the first question: that takes a while."""
    return tuple(
        (intent, sure, re.compile(regex, re.IGNORECASE)) for intent, sure, regex in _PATTERNS
    )


def _combined(witnesses: Iterable[tuple[Intent, float]]) -> dict[Intent, float]:
    doubt: dict[Intent, float] = {}
    for intent, sure in witnesses:
        doubt[intent] = doubt.get(intent, 1.0) * (1.0 - sure)
    return {intent: round(1.0 - left, 2) for intent, left in doubt.items()}


def _ordered(confidence: Mapping[Intent, float]) -> Mapping[Intent, float]:
    """Return `confidence` surest first; `general` when nothing in it counts."""
    if not chosen(confidence):
        return GENERAL
    return dict(sorted(confidence.items(), key=lambda each: (-each[1], each[0])))
