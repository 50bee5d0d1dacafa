"""Whether two statements say the same in other words, or exclude each other. Pure, by rules.

Not a model of meaning: what these rules do not know they take for different. Every rule here
errs towards "different", for a wrong merge hides a memory and a missed one costs a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.consolidation.tokens import Piece, TokenKind, Tokens, difference, pieces, tokens
from cairn.consolidation.word_lists import (
    BE,
    BE_PAST,
    BE_PRESENT,
    DIRECTIONS,
    FUTURE,
    HAVE,
    LIGHT_WORDS,
    NEGATING_PREFIXES,
    OBLIGATION,
    OPPOSITE_PAIRS,
    PAST_FORMS,
    PERMISSION,
    PHRASES,
    SAME_GROUPS,
)
from cairn.kernel.text.stems import stem
from cairn.kernel.text.words import sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NO_NAMES: Mapping[str, str] = MappingProxyType({})
_LIKE: dict[str, str] = {}
for _group in SAME_GROUPS:
    _head = _LIKE.get(stem(_group[0]), stem(_group[0]))
    _LIKE.update((stem(_word), _head) for _word in _group)
_OPPOSITES = frozenset(
    frozenset(_LIKE.get(stem(word), stem(word)) for word in pair) for pair in OPPOSITE_PAIRS
)
_NOT = "not"
_FOCUS = frozenset({_NOT, "only", "except", "solely"})
_WAYS = frozenset({"from", "to", "de", "à"})
_SHORTEST_NEGATED = 4
_MIN_SHARED = 0.5

MAX_SENTENCES = 40
"""Texts of more sentences are compared as a whole only."""

MAX_MOVED = 40
"""Words of content in which a turned stretch is looked for; in a longer one any move counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence: its words in order as they compare, and the words of grammar it uses."""

    order: tuple[str, ...]  # content words, numbers and names; equal meanings are equal words
    words: tuple[str, ...]  # all words, light ones too, as written
    names: frozenset[str]
    numbers: frozenset[str]
    led: frozenset[tuple[str, str]]  # (direction, content word after it)
    negations: int
    past: Mapping[str, bool]  # whether a word has the form of a past tense
    doer: tuple[str, str] | None  # (verb, who does it), in the passive voice

    @property
    def content(self) -> frozenset[str]:
        """Return its content words, each once."""
        return frozenset(self.order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One text, read once."""

    sentences: tuple[Sentence, ...]
    tokens: Tokens
    plain: str

    @property
    def content(self) -> frozenset[str]:
        """Return the content words of all its sentences."""
        return frozenset(word for sentence in self.sentences for word in sentence.order)


def wording(text: str, names: Mapping[str, str] = _NO_NAMES) -> Wording:
    """Return what a text is compared by; `names` maps aliases to names as in `tokens`."""
    results = [_sentence(list(pieces(_reworded(part), names))) for part in sentences(text)]
    return Wording(
        sentences=tuple(item for item in results if item.order),
        tokens=tokens(text, names),
        plain=" ".join(piece.text for piece in pieces(text, names)),
    )


def _reworded(text: str) -> str:
    for phrase, word in PHRASES:
        text = text.replace(phrase, word)
    return text


def same_text(wording: Wording, other: Wording) -> bool:
    """Return whether two texts are the same but for case, space, quotes and punctuation."""
    return bool(wording.plain) and wording.plain == other.plain


def says_all(wording: Wording, other: Wording) -> bool:
    """Return whether every sentence of `wording` is said in `other`, with the same tokens."""
    if difference(wording.tokens, other.tokens) or not wording.sentences:
        return False
    if max(len(wording.sentences), len(other.sentences)) > MAX_SENTENCES:
        return False
    return all(
        any(same_statement(mine, its) for its in other.sentences) for mine in wording.sentences
    )


def same_statement(sentence: Sentence, other: Sentence) -> bool:
    """Return whether two sentences make one statement: the same content, turned the same way."""
    return (
        sentence.content == other.content
        and sentence.negations == other.negations
        and _same_grammar(sentence, other)
        and not _turned(sentence, other)
    )


def opposed(wording: Wording, other: Wording) -> tuple[str, str] | None:
    """Return a word of each text that exclude each other, where the texts are about one thing."""
    mine, its = wording.content, other.content
    if not mine or not its or len(mine & its) < _MIN_SHARED * min(len(mine), len(its)):
        return None
    all_mine, all_its = wording.tokens.words, other.tokens.words
    for a, b in product(sorted(all_mine - all_its), sorted(all_its - all_mine)):
        if opposite(a, b):
            return a, b
    return None


@lru_cache(maxsize=65_536)
def opposite(word: str, other: str) -> bool:
    """Return whether two stems exclude each other: by the list, or by a negating prefix."""
    if frozenset((_LIKE.get(word, word), _LIKE.get(other, other))) in _OPPOSITES:
        return True
    short, long = sorted((word, other), key=len)
    return len(short) >= _SHORTEST_NEGATED and any(
        long == prefix + short for prefix in NEGATING_PREFIXES
    )


def canonical(word: str) -> str:
    """Return the stem of a word, or of the word that stands for its like."""
    value = stem(word)
    return _LIKE.get(value, value)


def _sentence(results: Sequence[Piece]) -> Sentence:
    order: list[str] = []
    led: list[tuple[str, int]] = []
    past: dict[str, bool] = {}
    direction = ""
    for piece in results:
        if piece.kind is TokenKind.NEGATION:
            direction = _NOT
            continue
        protected = piece.kind in (TokenKind.NUMBER, TokenKind.DATE)
        if not protected and piece.text in LIGHT_WORDS:
            if piece.text in DIRECTIONS and direction not in _FOCUS:
                direction = piece.text
            continue
        word = piece.text if protected else canonical(piece.text)
        order.append(word)
        led.append((direction, len(order) - 1))
        past[word] = _is_past(piece.text)
        direction = piece.text if piece.text in _FOCUS else ""
    return Sentence(
        order=tuple(order),
        words=tuple(piece.text for piece in results),
        names=frozenset(canonical(piece.text) for piece in results if piece.kind is TokenKind.NAME),
        numbers=frozenset(piece.text for piece in results if piece.kind is TokenKind.NUMBER),
        led=frozenset((lead, _at(order, place, lead)) for lead, place in led),
        past=MappingProxyType(past),
        negations=sum(piece.kind is TokenKind.NEGATION for piece in results),
        doer=_doer(results, order),
    )


def _at(order: Sequence[str], place: int, lead: str) -> str:
    """Return the word at a place; of one that is there twice and denied, the next word too."""
    word = order[place]
    if lead not in _FOCUS or order.count(word) == 1:
        return word
    return " ".join(order[place : place + 2])


def _same_grammar(sentence: Sentence, other: Sentence) -> bool:
    """Return whether tense and mood agree: was is not is, led is not leads, may is not must."""
    mine, its = frozenset(sentence.words), frozenset(other.words)
    for a, b in ((mine, its), (its, mine)):
        past = bool(a & BE_PAST) and bool(b & BE_PRESENT) and not ((b & BE_PAST) | (a & BE_PRESENT))
        ahead = bool(a & FUTURE) and bool(b & (BE - {"be"})) and not (b & FUTURE)
        allowed = bool(a & PERMISSION) and bool(b & OBLIGATION) and not (b & PERMISSION)
        if past or ahead or allowed:
            return False
    if (mine | its) & (BE | HAVE | FUTURE):
        return True
    return all(past == other.past.get(word, past) for word, past in sentence.past.items())


def _turned(sentence: Sentence, other: Sentence) -> bool:
    """Return whether the same words may be turned around: from A to B, A picks B up."""
    if _directions_differ(sentence, other) or _counts_turned(sentence, other):
        return True
    if sentence.doer != other.doer and not (sentence.doer and other.doer):
        return not (_does(sentence.doer, other) if sentence.doer else _does(other.doer, sentence))
    return (
        sentence.doer != other.doer or _exchanged(sentence, other) or _names_turned(sentence, other)
    )


def _does(doer: tuple[str, str] | None, active: Sentence) -> bool:
    """Return whether who does it in the passive voice stands before the verb in the active."""
    if doer is None or not {*doer} <= active.content:
        return False
    verb, who = doer
    return active.order.index(who) < active.order.index(verb)


def _directions_differ(sentence: Sentence, other: Sentence) -> bool:
    """Return whether a word is led elsewhere: from or to Kraków, not this but that, only that."""
    if _led(sentence, _FOCUS) != _led(other, _FOCUS):
        return True
    mine, its = ({word: lead for lead, word in _led(each, _WAYS)} for each in (sentence, other))
    return any(its.get(word, lead) != lead for word, lead in mine.items())


def _led(sentence: Sentence, leads: frozenset[str]) -> frozenset[tuple[str, str]]:
    return frozenset((lead, word) for lead, word in sentence.led if lead in leads)


def _counts_turned(sentence: Sentence, other: Sentence) -> bool:
    """Return whether two numbers may count each other's things: 5 cats and 3 dogs."""
    if len(sentence.numbers) < 2:
        return False
    if len(sentence.order) != len(other.order):
        return True
    return any(
        not (_beside(sentence, number) & _beside(other, number)) for number in sentence.numbers
    )


def _beside(sentence: Sentence, word: str) -> frozenset[str]:
    at = sentence.order.index(word)
    return frozenset(sentence.order[max(0, at - 1) : at] + sentence.order[at + 1 : at + 2])


def _exchanged(sentence: Sentence, other: Sentence) -> bool:
    """Return whether two stretches have changed places around what stands between them.

    Moving one stretch past another is rewording (on Mondays it is closed); X v Y against Y v X is
    not.
    """
    a, b = list(sentence.order), list(other.order)
    if len(a) != len(b) or a == b:
        return False
    while a and a[0] == b[0]:
        a, b = a[1:], b[1:]
    while a and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    size = len(a)
    if size > MAX_MOVED:
        return True
    for head in range(1, size - 1):
        for tail in range(1, size - head):
            if b == [*a[size - tail :], *a[head : size - tail], *a[:head]]:
                return True
    return False


def _names_turned(sentence: Sentence, other: Sentence) -> bool:
    """Return whether two names stand in another order, unless is or was joins them."""
    shared = sentence.names & other.names
    mine = [word for word in sentence.order if word in shared]
    its = [word for word in other.order if word in shared]
    if sorted(mine) != sorted(its) or mine == its:
        return False
    return not (_leads(sentence, shared) == _leads(other, shared) and {*sentence.words} & BE)


def _leads(sentence: Sentence, names: frozenset[str]) -> frozenset[tuple[str, str]]:
    return frozenset((lead, word) for lead, word in sentence.led if word in names)


def _doer(results: Sequence[Piece], order: Sequence[str]) -> tuple[str, str] | None:
    """Return (verb, doer) of a sentence in the passive voice that names who does it."""
    words = [piece.text for piece in results]
    if "by" not in words:
        return None
    at = words.index("by")
    before = [piece for piece in results[:at] if _has_content(piece)]
    after = [piece for piece in results[at + 1 :] if _has_content(piece)]
    if not before or not after or not any(word in BE for word in words[:at]):
        return None
    if after[0].kind in (TokenKind.NUMBER, TokenKind.DATE) or not _is_past(before[-1].text):
        return None
    verb, doer = canonical(before[-1].text), canonical(after[0].text)
    return (verb, doer) if verb in order and doer in order else None


def _is_past(word: str) -> bool:
    return word.endswith("ed") or word in PAST_FORMS


def _has_content(piece: Piece) -> bool:
    return piece.kind is not TokenKind.NEGATION and piece.text not in LIGHT_WORDS
