"""What an exchange gives and what it wants: two that give and want the same are no exchange. Pure.

Rules of English: in each clause, who does it to whom says which half of the exchange it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cairn.kernel.text.stems import stem
from cairn.kernel.text.words import content_words, words

_CLAUSE = re.compile(
    r"[.;:,!?]\s*|\s+(?:and|but|while)\s+(?=(?:i|we|you|i'll|you'll|half|a|an|some)\b)"
    r"|\s+(?=in (?:return|exchange) for\b)",
    re.IGNORECASE,
)
_ME, _YOU = r"(?:me|us)", r"(?:you|yours?)"
_GIVING = (
    r"(?:give|teach|offer|bring|lend|share|show|help|provide|speak|cook|make|mend|repair|build|"
    r"play|write|review|test|read|translate|drive|paint|sew|fix|supply|have)"
)
_GIVES = re.compile(
    rf"\bfrom {_ME}\b|\bfor {_YOU}\b"
    rf"|\b(?:i|we)(?:'ll| will| can| could| would|'d)?(?: gladly| happily| also)? {_GIVING}\b"
    r"|\b(?:my|our) half\b",
    re.IGNORECASE,
)
_WANTS = re.compile(
    rf"\bfrom {_YOU}\b|\bfor {_ME}\b|\bin (?:return|exchange) for\b"
    rf"|\byou(?:'ll| will| can| could| would|'d)? {_GIVING}\b"
    r"|\b(?:i|we)(?:'m|'re| am| are|'d| would)?(?: also)? (?:need|want|wish|seek|seeking|learn|"
    r"learning|look for|looking for|like to|love to|lack)\b|\byour half\b",
    re.IGNORECASE,
)
_RETURN = re.compile(r"\bin (?:return|exchange)\b(?! for)", re.IGNORECASE)
_EMPTY = frozenset(
    stem(word)
    for word in words(
        "half week month day hour year once twice time return exchange swap trade need want learn"
        " look seek give teach offer bring lend share show help provide like love"
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The stems of what is given and of what is wanted for it."""

    gives: frozenset[str]
    wants: frozenset[str]


def exchange_of(text: str) -> Exchange | None:
    """Return both halves of an exchange; None where a text does not name two different ones."""
    gives: set[str] = set()
    wants: set[str] = set()
    for clause in _CLAUSE.split(text):
        does_give, does_want = bool(_GIVES.search(clause)), bool(_WANTS.search(clause))
        if _RETURN.search(clause) and not does_want:
            does_give = True
        if does_give != does_want:
            content = {stem(word) for word in content_words(clause)} - _EMPTY
            (gives if does_give else wants).update(content)
    if not gives - wants or not wants - gives:
        return None
    return Exchange(gives=frozenset(gives - wants), wants=frozenset(wants - gives))


def is_one_sided(own: str, other: str) -> bool:
    """Return whether two exchanges give the same and want the same, so that nobody has the other.

    What one gives must be what both give, or what one wants what both want, and nothing that one
    wants be what the other gives.
    """
    first, second = exchange_of(own), exchange_of(other)
    if first is None or second is None:
        return False
    alike = first.gives & second.gives or first.wants & second.wants
    fitting = first.gives & second.wants or first.wants & second.gives
    return bool(alike) and not fitting
