"""Whether a message needs a search at all, and what kind of message it is. By rules here.

Not the rewriting, which needs a model (`model_stages`), and not screening, which is `safety`'s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from cairn.kernel.text.language import language_of
from cairn.kernel.text.words import content_words, words
from cairn.llm.port import Role
from cairn.recall.questions.model_calls import Source
from cairn.recall.questions.small_talk import small_talk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.graph.intent_weights import Intent
    from cairn.recall.questions.model_calls import ModelCalls
    from cairn.recall.questions.understanding import RetrievalClass

WINDOW = 2  # messages of each side that are looked back at: four in all
MAX_MESSAGE_CHARS = 4000
MAX_TURN_CHARS = 1000
COMPLEX_WORDS = 20

_LETTERS = re.compile(r"[^\W\d_]")
_COMPARING = """
    compare; compared; compares; comparison; versus; vs; different; difference; differences
    tradeoff; tradeoffs; trade off; trade offs; pros and cons; as well as; both; respectively
    step by step; in detail
"""
_COMPARES = tuple(
    f" {part.strip()} " for line in _COMPARING.strip().splitlines() for part in line.split(";")
)
_POINTING = """
    it its this that these those they them their he him his she her there then same also else more
    again instead previous above
"""
_POINTS_BACK = frozenset(_POINTING.split())
_QUESTION_END = re.compile(r"[?\uff1f\u061f]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")  # scripts that put no space between words
_CHARS_A_WORD = 2  # of those scripts


class Complexity(StrEnum):
    """How much work an answer is likely to be."""

    SIMPLE = "simple"
    COMPLEX = "complex"  # long, several questions, or a comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One earlier message of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """What a message asks for. `query` None means: search for the message as it is.

    `topic_change` and its confidence in [0, 1] are None unless an administrator asked and there
    is a history to change from. `language` is ISO 639-1, None when unknown. `retrieval_class` and
    `intents` are a model's opinion; with rules they are None, and inferred elsewhere.
    """

    search: bool
    query: str | None
    reason: str
    topic_change: bool | None
    topic_change_confidence: float | None
    language: str | None
    complexity: Complexity
    source: Source = Source.RULES
    provider: str | None = None
    retrieval_class: RetrievalClass | None = None
    intents: Mapping[Intent, float] | None = None


class Gate(Protocol):
    """Judges a message. Never fails: in doubt it says search, with the message as it is."""

    def __call__(
        self, message: str, history: Sequence[Turn], *, admin: bool, calls: ModelCalls
    ) -> GateVerdict:
        """Return the verdict within three seconds. `history` is oldest first, of any length."""
        ...


def by_rules(
    message: str, history: Sequence[Turn], *, admin: bool, calls: ModelCalls
) -> GateVerdict:
    """Judge by `judge`; a `Gate` that asks nobody."""
    return judge(message, history, admin=admin)


def judge(message: str, history: Sequence[Turn], *, admin: bool) -> GateVerdict:
    """Return what rules make of a message: small talk needs no search, all else does."""
    text = printable(message, MAX_MESSAGE_CHARS)
    talk = small_talk(text)
    changed = _topic_change(text, window(history)) if admin and not talk else (None, None)
    return GateVerdict(
        search=talk is None and bool(_LETTERS.search(text) or words(text)),
        query=None,
        reason=talk or ("asks for something" if words(text) else "nothing to search for"),
        topic_change=changed[0],
        topic_change_confidence=changed[1],
        language=language_of(text),
        complexity=complexity_of(text),
    )


def window(history: Sequence[Turn]) -> list[Turn]:
    """Return the last `WINDOW` messages of each side, oldest first, each cut and made printable."""
    left = {Role.USER: WINDOW, Role.ASSISTANT: WINDOW}
    turns: list[Turn] = []
    for turn in reversed(history):
        if left[turn.role]:
            left[turn.role] -= 1
            turns.append(Turn(role=turn.role, text=printable(turn.text, MAX_TURN_CHARS)))
    return turns[::-1]


def printable(text: str, limit: int) -> str:
    """Return the first `limit` characters; NUL and lone surrogates become question marks."""
    cut = text[:limit].replace("\x00", "?")
    return cut.encode("utf-8", errors="replace").decode("utf-8")


def word_count(message: str) -> int:
    """Return how many words a message has, also in scripts that put no space between them."""
    return len(words(message)) + len(_UNSPACED.findall(message)) // _CHARS_A_WORD


def complexity_of(message: str) -> Complexity:
    """Return complex for more than twenty words, two questions, or a comparison."""
    if word_count(message) > COMPLEX_WORDS:
        return Complexity.COMPLEX
    spoken = f" {' '.join(words(message))} "
    if len(_QUESTION_END.findall(message)) > 1 or any(compare in spoken for compare in _COMPARES):
        return Complexity.COMPLEX
    return Complexity.SIMPLE


def _topic_change(message: str, history: Sequence[Turn]) -> tuple[bool | None, float | None]:
    """Compare content words: none shared, none pointing back, is another topic, at 0.6.

    Otherwise the same topic, at 0.5 plus half the share of words that were said before. Words
    alone tell little, so the confidence stays low.
    """
    message_words = set(content_words(message))
    if not history or not message_words:
        return None, None
    history_words = {word for turn in history for word in content_words(turn.text)}
    share = len(message_words & history_words) / len(message_words)
    if share == 0 and _POINTS_BACK.isdisjoint(words(message)):
        return True, 0.6
    return False, round(0.5 + share / 2, 2)
