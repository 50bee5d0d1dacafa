"""What of a text no merge may lose: numbers with units, dates, names, negations. Pure.

Not the meaning: two texts may hold the same tokens and say different things (`wording`). What is
written in two ways counts as one: 5,000 and 5000, 20mg and 20 mg, two and 2, 12 May and 2026-05-12
(as far as it goes), doesn't and not, an entity's alias and its name.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.consolidation.word_lists import (
    AMBIGUOUS_MONTHS,
    CURRENCIES,
    DAYS,
    MONTHS,
    NEGATIONS,
    NOT_A_NUMBER_AFTER,
    NUMBER_WORDS,
    UNITS,
)
from cairn.graph.entity_names import name_key
from cairn.graph.prose import ACTION_VERBS, COMMON_WORDS, NOISE_STARTS
from cairn.kernel.text.stems import stem
from cairn.kernel.text.words import STOP_WORDS, sentences

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

MAX_TEXT_CHARS = 100_000
"""A longer text is read this far."""

_UNIT = "|".join(sorted((re.escape(unit) for unit in UNITS), key=len, reverse=True))
_NUMBER = r"\d{1,3}(?:[,'\u2019]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:[.,]\d+)?"
_SIGNED = rf"(?:(?<!\S)[-\u2212])?(?:{_NUMBER})"
# Each run is possessive, so that no text takes more than a few looks at a character.
_PIECE = re.compile(
    rf"""
    (?P<iso>\d{{4}}-\d\d-\d\d)(?!\d)
  | (?P<clock>\d{{1,2}}:\d\d(?::\d\d)?(?:\s?[ap]\.?m\b)?|\d{{1,2}}\s?[ap]\.?m\b|\d{{1,2}}h\d\d\b)
  | (?P<ordinal>\d{{1,9}})(?:st|nd|rd|th|e|er)\b
  | (?P<amount>{_SIGNED})\s?(?P<unit>(?i:{_UNIT}))(?![^\W_])
  | (?P<number>{_SIGNED})(?![^\W]|[-.:/]\w)
  | (?P<word>[^\W\d_]++(?>(?:['\u2019][^\W\d_]++)*))(?![\d_]|\+\+|\#|[-./:]\w*\d)
  | (?P<code>\#?\w++(?>(?:[-./:]\w++)*)(?:\+\+|\#)?)
  | (?P<symbol>[<>=+^?\u2264\u2265\u2260]+)
  | (?P<sign>[$\u20ac\u00a3%\u00b0])
    """,
    re.VERBOSE,
)
_THIN_SPACE = re.compile(r"(?<=\d)[\u00a0\u202f](?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"\d+,\d{1,2}|\d+,\d{4,}")
ORDINARY_WORDS = COMMON_WORDS | STOP_WORDS | NOISE_STARTS | ACTION_VERBS
"""Words that are no name by themselves, even where a sentence begins with them."""

_NO_NAMES: Mapping[str, str] = MappingProxyType({})
_MAIL = re.compile(r"\b([Ee])-mail")
_YEAR = re.compile(r"(?:19|20)\d\d")


class TokenKind(StrEnum):
    """What sort of thing a token is."""

    NUMBER = "number"  # with its unit when it has one
    DATE = "date"
    NAME = "name"
    NEGATION = "negation"


NOT = (TokenKind.NEGATION, "not")
"""All negations count as one token, as often as they occur."""

Token = tuple[TokenKind, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One word or number of a text: as it compares, and what it is protected as."""

    text: str
    kind: TokenKind | None = None
    in_words: bool = False  # a number that was written in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The protected tokens of one text, and all its words by stem, to find names among them."""

    counted: Mapping[Token, int]
    names: frozenset[str]
    words: frozenset[str]


def tokens(text: str, names: Mapping[str, str] = _NO_NAMES) -> Tokens:
    """Return the tokens of a text; `names` maps the `name_key` of each alias to its entity's name.

    A capitalised word is a name, unless it begins a sentence and is an ordinary word, a verb of
    reports, or a date. O(characters) for any input.
    """
    results = list(pieces(text, names))
    counted = Counter((item.kind, item.text) for item in results if item.kind)
    counts = {token: count for token, count in counted.items() if token[0] is not TokenKind.NAME}
    return Tokens(
        counted=MappingProxyType(counts),
        names=frozenset(stem(item.text) for item in results if item.kind is TokenKind.NAME),
        words=frozenset(stem(item.text) for item in results),
    )


def lost(source: Tokens, merged: Tokens) -> tuple[str, ...]:
    """Return what a merged text drops of one source, in words: empty when it keeps everything."""
    dropped = [
        f"{kind.value} {value}"
        for (kind, value), count in source.counted.items()
        if merged.counted.get((kind, value), 0) < count
    ]
    dropped += [f"name {name}" for name in source.names - merged.words]
    return tuple(sorted(dropped))


def invented(sources: Collection[Tokens], merged: Tokens) -> tuple[str, ...]:
    """Return what a merged text says that none of its sources does: also a surplus negation."""
    total: Counter[Token] = Counter()
    for source in sources:
        total.update(source.counted)
    source_words = frozenset[str]().union(*(source.words for source in sources))
    added = [
        f"{kind.value} {value}"
        for (kind, value), count in merged.counted.items()
        if total[kind, value] < (count if (kind, value) == NOT else 1)
    ]
    added += [f"name {name}" for name in merged.names - source_words]
    return tuple(sorted(added))


def difference(first: Tokens, other: Tokens) -> TokenKind | None:
    """Return in which kind of token two texts differ, None when one only adds to the other.

    Numbers, dates and names differ when each text has one the other lacks; negations when one has
    more of them.
    """
    if first.counted.get(NOT, 0) != other.counted.get(NOT, 0):
        return TokenKind.NEGATION
    for kind in (TokenKind.DATE, TokenKind.NUMBER):
        if _more(first, other, kind) and _more(other, first, kind):
            return kind
    apart = _more_than(first, other) and _more_than(other, first)
    if apart:
        return TokenKind.NUMBER
    if first.names - other.words and other.names - first.words:
        return TokenKind.NAME
    return None


def agree(text: str, other: str) -> bool:
    """Return whether two texts hold the same tokens: every number, date, name and negation."""
    mine, its = tokens(text), tokens(other)
    return not (lost(mine, its) or lost(its, mine))


def pieces(text: str, names: Mapping[str, str] = _NO_NAMES) -> Iterator[Piece]:
    """Yield the words and numbers of a text in order, as they compare with another's."""
    plain = _THIN_SPACE.sub(",", text[:MAX_TEXT_CHARS])
    plain = unicodedata.normalize("NFKC", plain).replace("\u2019", "'")
    plain = _MAIL.sub("\\1mail", plain)
    replaced = _replace_aliases(plain, names)
    name_words = frozenset(word for name in names.values() for word in name_key(name).split())
    for sentence in sentences(replaced):
        yield from _sentence(sentence, name_words)


def _more(first: Tokens, other: Tokens, kind: TokenKind) -> bool:
    return any(
        count > other.counted.get(token, 0)
        for token, count in first.counted.items()
        if token[0] is kind
    )


def _more_than(first: Tokens, other: Tokens) -> bool:
    return _more(first, other, TokenKind.DATE) or _more(first, other, TokenKind.NUMBER)


def _replace_aliases(text: str, names: Mapping[str, str]) -> str:
    """Return the text with every alias replaced by the name it stands for."""
    aliases = {alias: name for alias, name in names.items() if alias and alias != name_key(name)}
    if not aliases:
        return text
    longest_first = sorted(aliases, key=lambda alias: (-len(alias), alias))
    pattern = re.compile(
        rf"(?<!\w)(?:{'|'.join(re.escape(item) for item in longest_first)})(?!\w)", re.IGNORECASE
    )
    return pattern.sub(lambda match: aliases.get(name_key(match.group()), match.group()), text)


def _sentence(sentence: str, name_words: frozenset[str]) -> list[Piece]:
    matches = list(_PIECE.finditer(sentence))
    results: list[Piece] = []
    for at, match in enumerate(matches):
        before = matches[at - 1].group() if at else ""
        following = matches[at + 1].group() if at + 1 < len(matches) else ""
        if not _is_unit_of(results, match.group()):
            results += _read(match, before, following, at == 0, name_words)
    return [_dated(results, at) for at in range(len(results))]


def _is_unit_of(results: list[Piece], word: str) -> bool:
    """Return whether the last piece is a number in words that has taken this word as its unit."""
    unit = UNITS.get(word.casefold())
    return bool(unit and results and results[-1].in_words and results[-1].text.endswith(f" {unit}"))


def _dated(results: list[Piece], at: int) -> Piece:
    """Return a number beside a month as part of its date."""
    piece, around = results[at], (*results[max(0, at - 1) : at], *results[at + 1 : at + 2])
    beside = any(item.text.startswith("month ") for item in around)
    if beside and piece.kind is TokenKind.NUMBER and piece.text.isdigit():
        return replace(piece, kind=TokenKind.DATE)
    return piece


def _read(
    match: re.Match[str], before: str, following: str, initial: bool, name_words: frozenset[str]
) -> Iterator[Piece]:
    kind, text = match.lastgroup or "word", match.group().casefold()
    match kind:
        case "iso":
            year, month, day = text.split("-")
            yield Piece(text=year, kind=TokenKind.DATE)
            yield Piece(text=f"month {int(month)}", kind=TokenKind.DATE)
            yield Piece(text=str(int(day)), kind=TokenKind.DATE)
        case "clock":
            yield Piece(text=_clock(text), kind=TokenKind.DATE)
        case "ordinal":
            yield Piece(text=str(int(match["ordinal"])), kind=TokenKind.NUMBER)
        case "unit":
            yield _amount(match["amount"], UNITS[match["unit"].casefold()])
        case "code":
            yield Piece(text=text.lstrip("#"), kind=TokenKind.NUMBER)
        case "number":
            yield _amount(match["number"], UNITS[before] if before in CURRENCIES else "")
        case "symbol":
            yield Piece(text=text, kind=None if text.startswith("?") else TokenKind.NUMBER)
        case "sign":
            pass
        case _:
            yield _word(match.group(), before, following, initial, name_words)


def _amount(digits: str, unit: str) -> Piece:
    minus = "-" if digits[0] in "-\u2212" else ""
    digits = digits.lstrip("-\u2212")
    plain = digits.replace(",", ".") if _DECIMAL.fullmatch(digits) else digits
    plain = re.sub(r"[,'\u2019]", "", plain)
    whole, _, part = plain.partition(".")
    part = part.rstrip("0")
    value = minus + (whole.lstrip("0") or "0") + (f".{part}" if part else "")
    if not unit and not minus and _YEAR.fullmatch(digits):
        return Piece(text=value, kind=TokenKind.DATE)
    return Piece(text=f"{value} {unit}".strip(), kind=TokenKind.NUMBER)


def _clock(text: str) -> str:
    digits = [int(item) for item in re.findall(r"\d+", text)]
    hour, minute = digits[0], digits[1] if len(digits) > 1 else 0
    if "p" in text and hour < 12:
        hour += 12
    return f"{hour:02}:{minute:02}"


def _word(
    word: str, before: str, following: str, initial: bool, name_words: frozenset[str]
) -> Piece:
    low = word.casefold()
    bare = low.removesuffix("'s").removeprefix("l'").removeprefix("d'")
    if bare in MONTHS and (
        bare not in AMBIGUOUS_MONTHS
        or (word[0].isupper() and (not initial or low.endswith("'s")))
        or before[:1].isdigit()
        or following[:1].isdigit()
    ):
        return Piece(text=MONTHS[bare], kind=TokenKind.DATE)
    if bare in DAYS:
        return Piece(text=DAYS[bare], kind=TokenKind.DATE)
    if low in NEGATIONS or low.endswith("n't"):
        return Piece(text="not", kind=TokenKind.NEGATION)
    if bare in NUMBER_WORDS and _counts(bare, before.casefold()):
        unit = UNITS.get(following.casefold(), "")
        number = f"{NUMBER_WORDS[bare]} {unit}".strip()
        return Piece(text=number, kind=TokenKind.NUMBER, in_words=True)
    name = word[0].isupper() and not (initial and bare in ORDINARY_WORDS) and len(bare) > 1
    kind = TokenKind.NAME if name or bare in name_words else None
    return Piece(text=bare, kind=kind)


def _counts(word: str, before: str) -> bool:
    """Return whether a word that may be a number is one here."""
    if word == "second" and before[:1].isdigit():
        return False
    return word != "one" or before not in NOT_A_NUMBER_AFTER
