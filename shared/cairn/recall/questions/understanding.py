"""What a question asks for, by rules: its terms, names, times and class. No model, no lookups."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cairn.kernel.text.words import QUESTION_WORDS, STOP_WORDS, content_words, words
from cairn.recall.questions.small_talk import small_talk
from cairn.recall.questions.time_hints import TimeHint, time_hint

MAX_TERMS = 32

_WEAK = """
    also anything current currently ever get getting go goes going gone got kind like likely made
    make makes many may might mention mentioned much name named one said say says something sort
    tell thing things told type use used went
"""
WEAK_WORDS = frozenset(_WEAK.split())
"""Content words that questions are built with and that match almost anything."""


class RetrievalClass(StrEnum):
    """What kind of answer a question wants."""

    NONE = "none"  # small talk, or no word at all: nothing to look up
    TEMPORAL = "temporal"  # asks when, or names a time
    EVENT = "event"  # asks what happened
    ENTITY = "entity"  # asks who or what somebody or something is
    GENERAL = "general"


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """A question, taken apart.

    `terms` are the words of the keyword query, casefolded, distinct, in order. `names` are what
    capitals mark as names, casefolded; `hint` is the time the question names; `asks_when` says
    that the answer is a time.
    """

    terms: tuple[str, ...]
    names: frozenset[str]
    hint: TimeHint | None
    asks_when: bool
    retrieval_class: RetrievalClass


_ASKS_WHEN = re.compile(
    r"^\W*(?:when|how long|since when"
    r"|(?:in |on |at )?(?:what|which) (?:date|day|month|year|time))\b",
    re.IGNORECASE,
)
_ASKS_EVENT = re.compile(r"\bwhat (?:happened|took place|went wrong|occurred)\b", re.IGNORECASE)
_ASKS_ENTITY = re.compile(r"^\W*(?:who|whom|whose|what is|what's|which)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_][\w'\u2019-]*")


def understand(question: str, asked_at: datetime) -> Understanding:
    """Take `question` apart; relative times are read from `asked_at`."""
    hint = time_hint(question, asked_at)
    asks_when = bool(_ASKS_WHEN.search(question))
    terms = _terms(question)
    return Understanding(
        terms=terms,
        names=_names(question),
        hint=hint,
        asks_when=asks_when,
        retrieval_class=_class_of(question, terms, temporal=asks_when or hint is not None),
    )


def _terms(question: str) -> tuple[str, ...]:
    """Return the content words, the weak ones only when there is nothing else."""
    content = content_words(question)
    strong = [word for word in content if word not in WEAK_WORDS]
    chosen = strong or content or words(question)
    return tuple(dict.fromkeys(chosen))[:MAX_TERMS]


def _names(question: str) -> frozenset[str]:
    capitalised = (token for token in _TOKEN.findall(question) if token[0].isupper())
    found = {word for token in capitalised for word in words(token)}
    return frozenset(found - STOP_WORDS - QUESTION_WORDS)


def _class_of(question: str, terms: tuple[str, ...], *, temporal: bool) -> RetrievalClass:
    if not terms or small_talk(question):
        return RetrievalClass.NONE
    if _ASKS_EVENT.search(question):
        return RetrievalClass.EVENT
    if temporal:
        return RetrievalClass.TEMPORAL
    if _ASKS_ENTITY.search(question):
        return RetrievalClass.ENTITY
    return RetrievalClass.GENERAL
