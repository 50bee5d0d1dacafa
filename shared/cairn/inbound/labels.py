"""What rules make of a message: its verdict, what it is, its language. Pure, without a model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cairn.kernel.text.words import words
from cairn.recall.questions.gate import Complexity, judge
from cairn.recall.questions.small_talk import small_talk
from cairn.safety.screening import Verdict, screen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.recall.questions.gate import Turn

RULES = "rules"
_QUESTION = re.compile(r"[?\uff1f\u061f]")
_COMPLAINTS = """
    unacceptable disappointed angry complaint terrible useless ridiculous frustrated beschwerde
    inakzeptabel plainte inacceptable queja inaceptable
"""
_COMPLAINING = frozenset(_COMPLAINTS.split())
_PERSISTING = frozenset(["still", "again", "broken", "immer", "toujours", "sigue"])
"""Words that complain in a statement; questions have them, too."""
_FOLLOWING = ("re:", "aw:", "sv:", "rv:", "fwd:", "wg:")


class Intent(StrEnum):
    """What a message is."""

    QUESTION = "question"
    INSTRUCTION = "instruction"
    COMPLAINT = "complaint"
    GREETING = "greeting"
    FOLLOW_UP = "follow-up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """What screening found. `ms` is how long it took.

    `query` is the message made fit for a search, by a model; `topic_change` is None unless there is
    a conversation to change it in. `query` has words of the message: it stands where those do.
    `provider` is who judged: `rules`, or the model's. `fallthrough` says that a model was asked
    and gave no answer.
    """

    verdict: Verdict
    injection: bool
    patterns: tuple[str, ...]
    intent: Intent
    language: str | None
    complexity: Complexity
    query: str | None = None
    topic_change: bool | None = None
    provider: str = RULES
    fallthrough: bool = False
    ms: int = 0

    def labels(self) -> dict[str, Any]:
        """Return it as JSON, without a word of the message, for rows and for planners."""
        return {
            "verdict": self.verdict.value,
            "injection": self.injection,
            "patterns": list(self.patterns),
            "intent": self.intent.value,
            "language": self.language,
            "complexity": self.complexity.value,
            "provider": self.provider,
            "fallthrough": self.fallthrough,
        }

    def of_message(self) -> dict[str, Any]:
        """Return the labels that travel with a message, sealed as it is."""
        fields = {"query": self.query, "topic_change": self.topic_change}
        return {**self.labels(), **fields}


def by_rules(text: str, history: Sequence[Turn] | None = None) -> Screened:
    """Return what patterns and word lists make of a message. Pure."""
    screening = screen(text)
    judged = judge(text, history or (), admin=history is not None)
    return Screened(
        verdict=screening.verdict,
        injection=screening.injection,
        patterns=screening.patterns,
        intent=intent_of(text),
        language=judged.language,
        complexity=judged.complexity,
        topic_change=judged.topic_change,
    )


def intent_of(text: str) -> Intent:
    """Return what a message is, by its form: rules, and a guess."""
    if small_talk(text):
        return Intent.GREETING
    if text.lstrip().casefold().startswith(_FOLLOWING):
        return Intent.FOLLOW_UP
    present = set(words(text))
    if _COMPLAINING & present:
        return Intent.COMPLAINT
    if _QUESTION.search(text):
        return Intent.QUESTION
    return Intent.COMPLAINT if _PERSISTING & present else Intent.INSTRUCTION
