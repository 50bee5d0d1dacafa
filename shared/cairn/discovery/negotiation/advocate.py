"""What the advocate of a side says, by rules: it explores, checks claims, and decides. Pure.

It speaks of what both sides may know. What its side alone knows weighs in its decision and is in no
word that it says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.discovery.negotiation.rows import Move
from cairn.discovery.negotiation.rules import Utterance
from cairn.kernel.text.stems import stem
from cairn.kernel.text.words import content_words, words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.discovery.negotiation.facts import Private, Public

GOOD, FAIR, POOR = 65, 55, 40
"""Fits: from GOOD a yes, below POOR a no; between them a question, then FAIR decides."""

UNFOUNDED = 0.5
"""The share of an opening's words that stand nowhere: from there it is asked what shows them."""

MOST_QUOTED = 600
_GENERIC = frozenset(
    stem(word)
    for word in words(
        "look want seek need offer find help work make use good new year meet people someone"
        " side two said nothing shall"
    )
)
_SMALL_TALK = frozenset(
    stem(word)
    for word in words(
        "agree ask answer before both call can certain clear come could day done enough first fit"
        " give glad good great happen happy hear hope how idea interest just keep know last let"
        " like long many matter maybe mean more much next open part people plan please possible"
        " ready really right say see show side soon still suit sure take talk tell thank thing"
        " think time today together two useful want way week well will work would write year"
    )
)
"""Words that anybody says in a talk: that they are in a memory gives nothing of it away."""

_MARK = re.compile(r"\d+(?:[.,:]\d+)*|(?<!^)(?<![.!?:\"“] )(?<![\"“])\b(?!I\b)[A-Z][\w-]*")
"""Numbers, and words that are written like names where no sentence begins."""

_NO = frozenset(words("no not never cannot can't won't already sold booked full taken without"))
_YES_WORDS = frozenset(words("yes ok okay fine agreed agree gladly sure"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A turn as the advocate hears it; `message` is None where it was forgotten."""

    speaker: str
    move: Move
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What lies before a side's advocate. `own` says which of the turns are its side's."""

    side: str
    own: Public
    other: Public
    private: Private
    turns: Sequence[Heard]
    roles: tuple[str, str]
    score: int
    decides: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What the advocate says, how it came to it, and which private inputs weighed."""

    utterance: Utterance
    by: str = "rules"
    used: tuple[tuple[UUID, str], ...] = ()


def speak(table: Table) -> Spoken:
    """Return the turn of a side's advocate."""
    used = relevant(table)
    fit = judged(table, used)
    move = _move(table, fit)
    return Spoken(
        utterance=Utterance(move=move, message=_message(table, move), roles=table.roles, fit=fit),
        used=used,
    )


def relevant(table: Table) -> tuple[tuple[UUID, str], ...]:
    """Return the private inputs that are about the matter: they weigh, and are committed to."""
    topic = word_stems(table.other.intent) | word_stems(table.own.intent)
    return tuple(each for each in table.private.inputs if word_stems(each[1]) & topic)


def judged(table: Table, used: Sequence[tuple[UUID, str]]) -> int:
    """Return how well the two fit, 0 to 100, as this side may judge it."""
    own, other = table.own, table.other
    shared = word_stems(own.intent) & word_stems(other.intent)
    wide = word_stems(own.text) & word_stems(other.text)
    by_words = round(60 * min(1.0, len(shared) / 2) + 40 * min(1.0, len(wide) / 4))
    fit = max(by_words, table.score) if wide else table.score - 20
    if own.kind == other.kind and own.kind in ("seeking", "offering"):
        fit = min(fit, 29)
    topic = word_stems(other.intent)
    if any(_denies(text) and len(word_stems(text) & topic) > 1 for _, text in used):
        fit -= 40
    for answer in table.private.answers:
        fit = 100 if _says_yes(answer) else min(fit, POOR - 1) if _denies(answer) else fit
    return max(0, min(100, fit))


def unfounded(table: Table) -> float:
    """Return which share of the opening's words neither side's facts have."""
    opening = next((turn.message for turn in table.turns if turn.move is Move.PROPOSE), None)
    claims = word_stems(opening or "")
    facts = word_stems(table.own.text) | word_stems(table.other.text) | word_stems(table.own.name)
    facts |= word_stems(table.other.name)
    return len(claims - facts) / len(claims) if claims else 0.0


def _move(table: Table, fit: int) -> Move:
    if not table.turns:
        return Move.PROPOSE
    if table.decides:
        return Move.ACCEPT if fit >= FAIR else Move.REJECT
    if fit < POOR:
        return Move.REJECT
    if table.turns[-1].move is Move.QUESTION:
        return Move.COUNTER
    questioned = any(
        turn.speaker == table.side and turn.move is Move.QUESTION for turn in table.turns
    )
    if not questioned and (fit < GOOD or unfounded(table) > UNFOUNDED):
        return Move.QUESTION
    return Move.ACCEPT if fit >= FAIR else Move.REJECT


def _message(table: Table, move: Move) -> str:
    own = _quoted(table.own.intent or table.own.profile)
    other = _quoted(table.other.intent or table.other.profile)
    if move is Move.PROPOSE:
        return f"Our side: {own} Yours: {other} Shall the two meet?"
    if move is Move.COUNTER:
        return f"What can be said of our side: {_quoted(table.own.text)}"
    if move is Move.QUESTION:
        return f"Before we say yes: what shows that this meets what we have in mind? {own}"
    if move is Move.ACCEPT:
        return f"That fits what we have in mind: {own}"
    return "This does not fit what we have in mind now."


def _quoted(text: str) -> str:
    short = " ".join(text.split())[:MOST_QUOTED]
    return f'"{short}"' if short else "(nothing said)"


def public_text(table: Table) -> str:
    """Return all that both sides show or have said."""
    said_so_far = [turn.message or "" for turn in table.turns]
    own, other = table.own, table.other
    return " ".join([own.name, own.text, other.name, other.text, *said_so_far])


def has_private_words(table: Table, message: str) -> bool:
    """Return whether a message has a word, number or name that only its side's own facts have.

    Those are its memories and what its person answered; words that anybody says count for none.
    """
    public = public_text(table)
    secret = " ".join((*(text for _, text in table.private.inputs), *table.private.answers))
    stems = word_stems(secret) - word_stems(public) - _SMALL_TALK
    marks = marks_in(secret) - marks_in(public)
    return bool(stems & word_stems(message) or marks & marks_in(message))


def marks_in(text: str) -> frozenset[str]:
    """Return the numbers of a text and the words in it that are written like names, casefolded."""
    return frozenset(mark.casefold() for mark in _MARK.findall(text))


def names(text: str, mark: str) -> bool:
    """Return whether a text has a number or a name, however it is written."""
    return re.search(rf"(?<!\w){re.escape(mark)}(?!\w)", text, re.IGNORECASE) is not None


def word_stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words, without those that say nothing of a matter."""
    return frozenset(stem(word) for word in content_words(text) if len(word) > 2) - _GENERIC


def _denies(text: str) -> bool:
    return bool(_NO & set(words(text)))


def _says_yes(text: str) -> bool:
    return bool(_YES_WORDS & set(words(text))) and not _denies(text)
