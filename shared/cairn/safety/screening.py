"""Screening of text that comes in, by patterns alone: prompt injection and its usual company.

Not a gate and not a guarantee. It labels; who asks decides. An administrator's message is never
blocked, a stored text stays what it is and is marked, only an interactive public message may be
refused. What has no pattern here passes: models downstream treat all stored text as data.
"""

import base64
import binascii
import re
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import islice

from cairn.safety.normalise import fold, folded_words, has_invisible, spaced
from cairn.safety.vocabulary import (
    ADDRESS,
    ADDRESSED,
    COMMENT,
    LABELS,
    NEGATIONS,
    NEGATIONS_AFTER,
    ORDERS,
    PHRASES,
    SLOTS,
    UNSPACED,
    WEIGHTS,
    Slots,
)

DISCARD_FROM = 3  # the sum of weights: one attempt to take over and anything beside it
SPLIT_WORDS = 3  # words parted by invisible characters before that counts as hiding
SHORTEST_ENCODED = 40
READABLE = 0.9

_COMMENT = re.compile(r"<!--(.{1,2000}?)(?:-->|\Z)", re.DOTALL)
_ANNOUNCED = re.compile(r"(?:^|[\[\n(>!.])([^:\n.!?\[\]]{3,60}):")
_UNSPACED_ORDER = re.compile(r"(?:指令|指示|命令|の指示)")
MOST_COMMENTS = 50
"""Of a text that are read one by one."""

_CLAUSE = re.compile(r"[.!?]\s|\u3002|\n\s*\n")
_MARKERS = re.compile(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|eot_id)\|>"
    r"|\[/?inst\]|<</?sys>>|^\s{0,3}#{2,4} ?(?:system|new) (?:prompt|instructions?)\b"
    r"|</?system_?prompt>|\bbegin system prompt\b"
    r"|</[\w-]{1,40}>\s{0,40}<(?:system|assistant|developer)(?:[ _-]?(?:message|prompt))?>",
    re.MULTILINE,
)
_ENCODED = re.compile(rf"[A-Za-z0-9+/_-]{{{SHORTEST_ENCODED},}}")
_HEX = re.compile(r"[0-9a-fA-F-]+")
_SPLIT_WORD = re.compile(r"[A-Za-z][\u200b-\u200d\u2060\ufeff]+(?=[A-Za-z])")
_UNSEEN = re.compile(r"[\U000e0020-\U000e007e]{12}|[\u202d\u202e]")


class Verdict(StrEnum):
    """How much of an attack a text looks like."""

    CLEAN = "CLEAN"  # nothing matched
    SUSPICIOUS = "SUSPICIOUS"  # something matched: kept, marked
    DISCARD = "DISCARD"  # several things did: an interactive public message may be refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """The verdict, and the names of the patterns behind it, sorted; never the text itself.

    `injection` is set when a pattern tries to direct a model, not when text is merely hidden.
    """

    verdict: Verdict
    injection: bool
    patterns: tuple[str, ...]


def screen(text: str) -> Screening:
    """Label `text`. Pure; linear in its length.

    Spelling does not matter (NFKD, accents, invisible and look-alike characters); Base64 that
    hides readable text is read too, once.
    """
    matches = _matches(text)
    if has_invisible(text):
        matches |= _matches(spaced(text))
    if _hides(text):
        matches.add("hidden-characters")
    for hidden in _decoded(text):
        matches |= {"encoded-text", *_matches(hidden)}
    return _judge(matches)


def _hides(text: str) -> bool:
    """Return whether invisible characters part Latin words, spell text, or reverse it."""
    split = islice(_SPLIT_WORD.finditer(text), SPLIT_WORDS)
    return _UNSEEN.search(text) is not None or sum(1 for _ in split) == SPLIT_WORDS


def _judge(results: set[str]) -> Screening:
    weight = sum(WEIGHTS[name] for name in results)
    if weight >= DISCARD_FROM:
        verdict = Verdict.DISCARD
    else:
        verdict = Verdict.SUSPICIOUS if results else Verdict.CLEAN
    return Screening(
        verdict=verdict,
        injection=bool(results - {"hidden-characters", "encoded-text"}),
        patterns=tuple(sorted(results)),
    )


def _matches(text: str) -> set[str]:
    folded = fold(text)
    results = {name for name, expression in _unspaced() if expression.search(folded)}
    if _MARKERS.search(folded):
        results.add("chat-markers")
    results |= _announced(folded) | _commented(folded)
    for clause in _CLAUSE.split(folded):
        words = folded_words(clause)
        results |= _slots_met(words) | _phrases_met(words)
    return results


def _announced(folded: str) -> set[str]:
    """Return whether words before a colon announce an order to a machine: "Note to the AI: ..."."""
    labels, addressed = _words_of(LABELS), _words_of(ADDRESSED)
    for match in _ANNOUNCED.finditer(folded):
        tokens = folded_words(match[1])
        first = next((at for at, text in enumerate(tokens) if text in labels), None)
        whole = len(tokens) == 1 and not _words_of("systemanweisung").isdisjoint(tokens)
        if whole or (first is not None and not addressed.isdisjoint(tokens)):
            return {ADDRESS}
    return set()


def _commented(folded: str) -> set[str]:
    """Return whether a comment, which a reader never sees, gives orders."""
    for match in islice(_COMMENT.finditer(folded), MOST_COMMENTS):
        if not _words_of(ORDERS).isdisjoint(folded_words(match[1])) or _UNSPACED_ORDER.search(
            match[1]
        ):
            return {COMMENT}
    return set()


@cache
def _words_of(text: str) -> frozenset[str]:
    return frozenset(fold(part) for part in text.split())


def _slots_met(words: list[str]) -> set[str]:
    """Return the names of the slot rules these words meet: one pass, the last place of each."""
    index = _slot_index()
    results: set[str] = set()
    places: dict[Slots, list[int | None]] = {}
    for place, word in enumerate(words):
        for rule, slot in index.get(word, ()):
            if slot == 0 and _negated(words, place):
                continue
            if rule not in places:
                places[rule] = [None] * len(rule.slots)
            places[rule][slot] = place
            if rule.name not in results and _met(rule, places[rule], place):
                results.add(rule.name)
    return results


def _met(rule: Slots, places: list[int | None], now: int) -> bool:
    met = [place for place in places if place is not None]
    if len(met) < len(rule.slots) or now - min(met) >= rule.within:
        return False
    return not rule.leads or places[0] == min(met)


def _negated(words: list[str], place: int) -> bool:
    """Return whether the verb at `place` is forbidden rather than commanded."""
    after = words[place + 1 : place + 2]
    return (place > 0 and words[place - 1] in NEGATIONS) or after in NEGATIONS_AFTER


def _phrases_met(words: list[str]) -> set[str]:
    index = _phrase_index()
    return {
        name
        for place, word in enumerate(words)
        for name, phrase in index.get(word, ())
        if tuple(words[place : place + len(phrase)]) == phrase
    }


def _decoded(text: str) -> list[str]:
    """Return the readable texts that Base64 runs in `text` hide; hashes and ids are passed by."""
    hidden: list[str] = []
    for run in _ENCODED.findall(text):
        if _HEX.fullmatch(run):
            continue
        plain = _decode(run.translate(str.maketrans("-_", "+/")))
        if plain is not None:
            hidden.append(plain)
    return hidden


def _decode(run: str) -> str | None:
    whole = run[: len(run) - len(run) % 4] if len(run) % 4 == 1 else run + "=" * (-len(run) % 4)
    try:
        plain = base64.b64decode(whole, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    letters = sum(char.isalpha() or char.isspace() for char in plain)
    return plain if letters >= READABLE * len(plain) else None


@cache
def _slot_index() -> dict[str, list[tuple[Slots, int]]]:
    index: dict[str, list[tuple[Slots, int]]] = defaultdict(list)
    for rule in SLOTS:
        for slot, words in enumerate(rule.slots):
            for word in words:
                index[fold(word)].append((rule, slot))
    return dict(index)


@cache
def _phrase_index() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    index: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
    for name, phrases in PHRASES.items():
        for phrase in phrases:
            words = tuple(folded_words(fold(phrase)))
            index[words[0]].append((name, words))
    return dict(index)


@cache
def _unspaced() -> list[tuple[str, re.Pattern[str]]]:
    return [
        (name, re.compile(fold(expression)))
        for name, expressions in UNSPACED.items()
        for expression in expressions
    ]
