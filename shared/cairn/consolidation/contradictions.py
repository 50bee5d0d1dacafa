"""Whether two memories about the same thing cannot both hold: one place of one sentence differs.

Pure, by rules. Two sentences are aligned word by word; what differs must be one place, after the
verb, or a word that excludes its counterpart. A difference before the verb is another subject.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from cairn.consolidation.plan import Clash
from cairn.consolidation.tokens import Piece, TokenKind, pieces
from cairn.consolidation.word_lists import BE, DETERMINERS, VERBS
from cairn.consolidation.wording import canonical, opposite
from cairn.kernel.text.stems import stem
from cairn.kernel.text.words import sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_SENTENCES = 12
"""Sentences of one memory that are compared; a longer one is a document."""

MAX_WORDS = 80
"""A longer sentence is not compared: it is a list or a table."""

MIN_SHARED = 2
"""Words of content two sentences must share to be about the same thing; all but one if short."""

MAX_PLACE = 4
"""Words of content a differing place may hold on either side."""

Found = tuple[Clash, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One sentence as it is laid beside another: its words, what weighs among them, its denials."""

    words: tuple[Piece, ...]
    content: frozenset[str]
    negations: int


def clauses(text: str, names: Mapping[str, str]) -> tuple[Clause, ...]:
    """Return the sentences of a text that are compared; `names` maps aliases as in `tokens`."""
    read = [_clause(part, names) for part in sentences(text)[:MAX_SENTENCES]]
    return tuple(item for item in read if len(item.words) <= MAX_WORDS)


def contradiction(text: str, other: str, names: Mapping[str, str]) -> Found | None:
    """Return in what two texts contradict each other and why, None when these rules see nothing."""
    return clash(clauses(text, names), clauses(other, names))


def clash(own: Sequence[Clause], other: Sequence[Clause]) -> Found | None:
    """Return the same for texts whose sentences are read already."""
    for a in own:
        for b in other:
            result = _between(a, b)
            if result:
                return result
    return None


def _clause(text: str, names: Mapping[str, str]) -> Clause:
    results = list(pieces(text, names))
    words = tuple(item for item in results if not _is_not(item))
    return Clause(words=words, content=_content(words), negations=len(results) - len(words))


def _between(clause: Clause, other: Clause) -> Found | None:
    needed = max(1, min(MIN_SHARED, len(clause.content) - 1, len(other.content) - 1))
    apart = max(len(clause.content), len(other.content)) - len(clause.content & other.content)
    if len(clause.content & other.content) < needed or apart > MAX_PLACE:
        return None
    places = _places(clause.words, other.words)
    if clause.negations != other.negations:
        return _denial(places)
    if len(places) != 1:
        return None
    start, left, right = places[0]
    return _differing(clause.words, start, left, right)


def _denial(places: Sequence[_Place]) -> Found | None:
    """Return a negation when the sentences say the same but for it."""
    rest = [word for _, mine, its in places for word in (*mine, *its) if _weighs(word)]
    if len(rest) <= 1 and not any(word.kind for word in rest):
        return Clash.NEGATION, "One says not what the other says."
    return None


def _differing(
    a: Sequence[Piece], start: int, mine: Sequence[Piece], its: Sequence[Piece]
) -> Found | None:
    left = [piece for piece in mine if _weighs(piece)]
    right = [piece for piece in its if _weighs(piece)]
    words = f"{_joined_text(left)} or {_joined_text(right)}"
    for item in left or mine:
        for two in right or its:
            if opposite(stem(item.text), stem(two.text)) and _after_subject(a, start):
                return Clash.OPPOSITE, f"{item.text} or {two.text}?"
    if not left or not right or max(len(left), len(right)) > MAX_PLACE:
        return None
    if not _after_verb(a, start):
        return _another_holder(a, start, left, right)
    kinds = {item.kind for item in (*left, *right)}
    if kinds & {TokenKind.DATE} and kinds <= {TokenKind.DATE, TokenKind.NUMBER}:
        return Clash.DATE, f"{words}?"
    if kinds == {TokenKind.NUMBER}:
        return Clash.NUMBER, f"{words}?"
    if len(left) <= 2 and len(right) <= 2 and _has_one_value(a, start):
        return Clash.VALUE, f"{words}?"
    return None


_Place = tuple[int, "Sequence[Piece]", "Sequence[Piece]"]


def _places(a: Sequence[Piece], b: Sequence[Piece]) -> list[_Place]:
    """Return the places in which two sentences differ: where in the first, and both wordings."""
    matcher = SequenceMatcher(
        None, [_key(piece) for piece in a], [_key(piece) for piece in b], autojunk=False
    )
    results = [(i, a[i:j], b[k:m]) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]
    return [item for item in results if any(_weighs(word) for word in (*item[1], *item[2]))]


def _key(piece: Piece) -> str:
    return piece.text if piece.kind in _EXACT else canonical(piece.text)


_EXACT = frozenset({TokenKind.NUMBER, TokenKind.DATE})


def _is_not(piece: Piece) -> bool:
    return piece.kind is TokenKind.NEGATION


def _weighs(piece: Piece) -> bool:
    return bool(piece.kind) or (piece.text not in DETERMINERS and piece.text not in BE)


def _content(results: Sequence[Piece]) -> frozenset[str]:
    return frozenset(_key(piece) for piece in results if _weighs(piece))


def _joined_text(results: Sequence[Piece]) -> str:
    return " ".join(piece.text for piece in results)


def _verb_at(results: Sequence[Piece]) -> int | None:
    """Return where the first verb stands: a known one, or a word in -s or -ed after the first."""
    for at, piece in enumerate(results):
        if piece.text in VERBS or (
            piece.kind is None and stem(piece.text) in _VERB_STEMS and at > 0
        ):
            return at
    return None


_VERB_STEMS = frozenset(stem(word) for word in VERBS)


def _after_verb(results: Sequence[Piece], start: int) -> bool:
    at = _verb_at(results)
    return at is not None and start > at


def _after_subject(results: Sequence[Piece], start: int) -> bool:
    """Return whether a place is not within the subject: at the verb itself or after it."""
    at = _verb_at(results)
    return start > 1 if at is None else start >= at


def _has_one_value(results: Sequence[Piece], start: int) -> bool:
    """Return whether the statement gives the one value something has: the X of Y is, lives in."""
    at = _verb_at(results)
    if at is None or start - at > MAX_PLACE:
        return False
    verb = results[at].text
    definite = results[0].text in DETERMINERS or any(piece.kind for piece in results[:at])
    return stem(verb) in _SINGLE or (verb in BE and definite and at > 1) or verb == "must"


_SINGLE = frozenset(
    stem(word)
    for word in (
        "live",
        "reside",
        "prefer",
        "weigh",
        "cost",
        "measure",
        "run",
        "belong",
        "want",
        "own",
        "lead",
        "store",
    )
)


def _another_holder(
    results: Sequence[Piece], start: int, left: Sequence[Piece], right: Sequence[Piece]
) -> Found | None:
    """Return a clash when two names are given for one office: Ann is the owner, Bo is the owner."""
    at = _verb_at(results)
    if start != 0 or at is None or results[at].text not in BE:
        return None
    after = [piece.text for piece in results[at + 1 : at + 3]]
    are_names = all(piece.kind is TokenKind.NAME for piece in (*left, *right))
    if are_names and after and (after[0] == "the" or after[:2] == ["in", "charge"]):
        return Clash.VALUE, f"{_joined_text(left)} or {_joined_text(right)}?"
    return None
