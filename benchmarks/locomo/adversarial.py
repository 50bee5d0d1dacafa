"""Questions that nothing answers: what is asked of each conversation, and how many get nothing."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cairn.cli.client import Failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.locomo.corpus import Conversation

ELSEWHERE = Path(__file__).with_name("elsewhere.txt")
"""Questions of another domain, in our own words."""

EACH = 100
"""Questions of the other conversations that are asked of one; the same in every run."""
LEAST = 2

UNANSWERABLE = ("category_5", "another_domain", "other_conversations", "names_swapped")
"""What is asked that has no answer here. Of the last some do have one, by accident."""


def refuse_one(conversations: Sequence[Conversation]) -> None:
    """Raise Failure when there is no other conversation to take questions from."""
    if len(conversations) < LEAST:
        raise Failure("Questions of other conversations need two conversations or more.")


def another_domain(file: Path | None = None) -> list[str]:
    """Return questions of another domain, one a line; the shipped ones without a file."""
    lines = (file or ELSEWHERE).read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip()]


def speakers(conversation: Conversation) -> list[str]:
    """Return who speaks, in the order in which they begin."""
    return list(dict.fromkeys(turn.text.partition(": ")[0] for turn in conversation.turns))


def unanswerable(
    conversation: Conversation, others: Iterable[Conversation], elsewhere: Sequence[str]
) -> dict[str, list[str]]:
    """Return the questions to ask of a conversation, by where they come from."""
    asked = [(question.text, other) for other in others for question in other.questions]
    chosen = random.Random(conversation.name).sample(asked, min(EACH, len(asked)))
    own = speakers(conversation)
    return {
        "category_5": list(conversation.adversarial),
        "another_domain": list(elsewhere),
        "other_conversations": [text for text, _ in chosen],
        "names_swapped": [swapped(text, speakers(other), own) for text, other in chosen],
    }


def swapped(question: str, theirs: Sequence[str], own: Sequence[str]) -> str:
    """Return a question with the names of its conversation's speakers replaced by these."""
    for name, other in zip(theirs, own, strict=False):
        question = re.sub(rf"\b{re.escape(name)}\b", other, question)
    return question


def shares(silent: Mapping[str, Sequence[bool]]) -> dict[str, dict[str, Any]]:
    """Return how many questions of each kind were asked, and the share answered with nothing."""
    return {
        name: {
            "questions": len(answers),
            "answered_with_nothing": round(sum(answers) / len(answers), 4) if answers else None,
        }
        for name, answers in silent.items()
    }
