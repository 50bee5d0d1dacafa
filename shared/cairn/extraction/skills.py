"""What somebody can do, or learns, by the words of what is said of them. English only."""

from __future__ import annotations

import re
from enum import StrEnum

from cairn.extraction.statements import expanded

_DENIED = re.compile(r"\b(?:not|never|no longer|used to)\b")
_SKILLS = tuple(
    (re.compile(pattern), learning)
    for pattern, learning in (
        (r"\b(?:learning|studying|training (?:as|for)) (?!about |that |how )(.+)", True),
        (r"\b(?:speaks?|fluent in|native speaker of) (?!to |with |at |of |about )(.+)", False),
        (
            r"\b(?:good|great|skilled|experienced|expert|proficient|certified|trained)"
            r" (?:at|in|with|on|as) (.+)",
            False,
        ),
        (r"\b(?:know|knows|learned|learnt) how to (.+)", False),
        (r"\bcan ((?:speak|write|play|program|code|cook|drive|repair|weld|ski|sing) .+)", False),
        (r"\b(?:experience (?:with|in|of)|years of) (?!age\b|experience\b)(.+)", False),
    )
)
_SKILL_ENDS = re.compile(r"\s*(?:[.,;:()!?]|\s(?:for|since|because|but|so|at|when|after|now)\b).*")
_EDGES = " \t\n."


class Level(StrEnum):
    """How far a skill goes."""

    LEARNING = "learning"
    HAS = "has"


def skill_in(text: str) -> tuple[str, Level] | None:
    """Return the name and level of the skill that a clause states of somebody, None without one."""
    if _DENIED.search(expanded(text)):
        return None
    for pattern, learning in _SKILLS:
        match = pattern.search(text.lower())
        if match:
            name = _SKILL_ENDS.sub("", text[match.start(1) :]).strip(_EDGES)
            return (name, Level.LEARNING if learning else Level.HAS) if name else None
    return None
