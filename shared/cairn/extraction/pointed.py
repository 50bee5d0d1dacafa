"""Statements that somebody else found in a message, such as a model: cut from the message itself.

What is found is believed to be worth remembering, and nothing more. The words, the speaker and the
key are the message's: a quote only says which of its clauses is meant, so that nothing invented,
shortened or turned around can become a memory. Clauses may be of any language.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cairn.extraction.corrections import taken_back
from cairn.extraction.draw import Statement
from cairn.extraction.english import REPORTING
from cairn.extraction.keys import keys_of
from cairn.extraction.sentences import clauses, sentences
from cairn.extraction.statements import StatementKind, says_enough

if TYPE_CHECKING:
    from collections.abc import Iterable

POINTED_AT = 0.6
"""How sure a statement is that no rule knows."""

_WORD = re.compile(r"[\w'-]*\w")
_UNNAMED = re.compile(r"(?:he|she|they|it|that|this|these|those|there)(?:'\w+)?\b", re.I)


def states(text: str) -> list[str]:
    """Return the clauses of a message that may be statements: no questions, quotes, jokes, "if".

    None that says what others claim, is about somebody who is not named in it, or takes back.
    """
    clauses_read = (clause for sentence in sentences(text) for clause in clauses(sentence))
    return [clause for clause in clauses_read if _may_state(clause)]


def _may_state(clause: str) -> bool:
    if _UNNAMED.match(clause) or not says_enough(clause) or taken_back(clause) is not None:
        return False
    return REPORTING.isdisjoint(words(clause))


def pointed_at(
    candidates: Iterable[str], kind: StatementKind, quote: str, speaker: str
) -> list[Statement]:
    """Return the statements among a message's clauses that a quote is of; none when it is of none.

    A quote is a clause, or half of one and more, or has several.
    """
    quoted = _run(quote)
    clauses_meant = [clause for clause in candidates if _is_meant(quoted, _run(clause))]
    return [
        Statement(
            kind=kind,
            text=f"{speaker}: {clause}.",
            confidence=POINTED_AT,
            said=clause,
            keys=() if kind is StatementKind.RELATION else keys_of(kind, clause),
        )
        for clause in clauses_meant
    ]


def _is_meant(quote: list[str], clause: list[str]) -> bool:
    if 2 * len(quote) < len(clause):
        return False
    return _within(quote, clause) or _within(clause, quote)


def _within(part: list[str], whole: list[str]) -> bool:
    places = range(len(whole) - len(part) + 1)
    return bool(part) and any(whole[at : at + len(part)] == part for at in places)


def words(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    return set(_run(text))


def _run(text: str) -> list[str]:
    return _WORD.findall(text.casefold().replace("\u2019", "'"))
