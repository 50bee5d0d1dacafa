"""Putting placeholders where personal values stood, and the values back. Not who may do so.

    redact("Mail ada@example.org.")  ->  "Mail <EMAIL_1>.", vault {"<EMAIL_1>": "ada@example.org"}

The vault belongs to one investigation and only grows: a value keeps its placeholder, a placeholder
its value. Text from outside that already looks like a placeholder is put into the vault itself, so
that nobody reads another's value by writing `<EMAIL_1>` into a ticket. Credentials are taken out
for good (`text.scrub`): no vault has them.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, cast

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.scrub import scrub, scrub_value
from cairn.safety.normalise import normalise
from cairn.safety.profiles import Kind, kinds_of
from cairn.safety.recognisers import NO_NAMES, key_kind, number_kind, spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cairn.kernel.text.json_value import JsonValue


Vault: TypeAlias = Mapping[str, str]
"""`<EMAIL_1>` -> what stood there. Sealed wherever it is kept."""

EMPTY: Vault = MappingProxyType({})

PLACEHOLDER = re.compile(rf"<(?:{'|'.join(Kind)})_[1-9][0-9]{{0,8}}>")
"""What a placeholder looks like, ours or not."""

SHORTEST_KNOWN = 3
"""Characters a value has at least to be looked for where no rule sees it."""
_NOT_LOOKED_FOR = {Kind.LITERAL, Kind.AGE, Kind.ZIP}
_DIGITS_KNOWN = 6
_WORDS = re.compile(r"[^\W_]+")
_NAME_PART = re.compile(r"[^\W\d_]{3,}")


class Book:
    """A vault being written. Not safe between threads; `vault` is a value of its own."""

    def __init__(self, vault: Vault) -> None:
        self._values = dict(vault)
        self._placeholders: dict[tuple[str, str], str] = {}
        self._numbers: dict[str, int] = defaultdict(int)
        self.known = KnownValues()
        for placeholder, value in vault.items():
            self._enter(placeholder, value)

    @property
    def vault(self) -> Vault:
        """Return what is written by now."""
        return MappingProxyType(dict(self._values))

    def __len__(self) -> int:
        """Return how many placeholders there are."""
        return len(self._values)

    def __contains__(self, placeholder: object) -> bool:
        """Return whether a placeholder stands for something."""
        return placeholder in self._values

    def placeholder(self, kind: Kind, value: str) -> str:
        """Return what stands for `value`: as before, or the next of its kind."""
        placeholder = self._placeholders.get((_drawer(kind), value))
        if placeholder is not None:
            return placeholder
        new = f"<{kind}_{self._numbers[kind] + 1}>"
        self._values[new] = value
        self._enter(new, value)
        return new

    def number(self, text: str) -> bool:
        """Return whether a number of these digits is in the vault, or a text of them is."""
        return any((drawer, text) in self._placeholders for drawer in ("text", Kind.NUMBER))

    def _enter(self, placeholder: str, value: str) -> None:
        name, _, number = placeholder[1:-1].rpartition("_")
        kind = Kind(name)
        self._numbers[kind] = max(self._numbers[kind], int(number))
        self._placeholders.setdefault((_drawer(kind), value), placeholder)
        self.known.add(kind, value)


@dataclass(slots=True)
class _Node:
    """Where the words of values lead: to longer ones, and to what ends with this word.

    `edges` are how many characters such values have before their first word and after their last.
    """

    further: dict[str, _Node] = field(default_factory=dict[str, "_Node"])
    edges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _KnownValue:
    """What a value is; `guessed` ones are names that an address gives away."""

    kind: Kind
    guessed: bool


class KnownValues:
    """Values that are looked for as words of their own, word by word."""

    def __init__(self) -> None:
        self._begin = _Node()
        self._exact: dict[str, _KnownValue] = {}
        self._any_case: dict[str, _KnownValue] = {}  # casefolded

    def add(self, kind: Kind, value: str) -> None:
        """Look for `value` from now on, unless it is too short or says too little by itself."""
        value = normalise(value)[0]
        if kind is Kind.NUMBER:
            kind = Kind.ID
            if len(value) < _DIGITS_KNOWN or not value.isdigit():
                return
        if kind in _NOT_LOOKED_FOR or len(value.strip()) < SHORTEST_KNOWN:
            return
        if kind is Kind.NAME:
            self._add_name(value, guessed=False)
        else:
            self._add(kind, value)
        if kind is Kind.EMAIL:
            name = _name_in(value)
            if name:
                self._add_name(name, guessed=True)

    def spans(self, text: str, *, guess: bool) -> list[tuple[int, int, Kind]]:
        """Return where known values stand in `text`, guessed ones when `guess`.

        O(words of the text times words of the longest value), however many are known.
        """
        if not self._begin.further:
            return []
        results: list[tuple[int, int, Kind]] = []
        for word in _WORDS.finditer(text):
            for start, end in self._places(text, word):
                match = self._find_value(text[start:end], guess=guess)
                if match is not None and _stands_alone(text, start, end):
                    results.append((start, end, match.kind))
        return results

    def _places(self, text: str, first: re.Match[str]) -> Iterator[tuple[int, int]]:
        """Yield where a value may stand whose first word is `first`."""
        word, node = first, self._begin.further.get(first[0].casefold())
        while node is not None:
            for before, after in node.edges:
                start, end = first.start() - before, word.end() + after
                if start >= 0 and end <= len(text):
                    yield start, end
            following = _WORDS.search(text, word.end()) if node.further else None
            if following is None:
                return
            word, node = following, node.further.get(following[0].casefold())

    def _find_value(self, text: str, *, guess: bool) -> _KnownValue | None:
        for entry in (self._exact.get(text), self._any_case.get(text.casefold())):
            if entry is not None and (guess or not entry.guessed):
                return entry
        return None

    def _add_name(self, name: str, *, guessed: bool) -> None:
        whole = len(_WORDS.findall(name)) > 1
        self._add(Kind.NAME, name, any_case=whole, guessed=guessed)
        for part in _NAME_PART.findall(name):
            if part[0].isupper():
                self._add(Kind.NAME, part, guessed=guessed)

    def _add(
        self, kind: Kind, value: str, *, any_case: bool = False, guessed: bool = False
    ) -> None:
        words = list(_WORDS.finditer(value))
        if not words:
            return
        node = self._begin
        for word in words:
            node = node.further.setdefault(word[0].casefold(), _Node())
        edge = (words[0].start(), len(value) - words[-1].end())
        if edge not in node.edges:
            node.edges += (edge,)
        values, key = (self._any_case, value.casefold()) if any_case else (self._exact, value)
        if key not in values or values[key].guessed:
            values[key] = _KnownValue(kind, guessed)


def _name_in(address: str) -> str:
    """Return `Ada Lovelace` for `ada.lovelace@...`, "" for addresses that give no name away."""
    parts = address.partition("@")[0].split(".")
    if len(parts) != 2 or not all(_NAME_PART.fullmatch(part) for part in parts):
        return ""
    if any(part.casefold() in NO_NAMES for part in parts):
        return ""
    return " ".join(part.title() for part in parts)


def _drawer(kind: Kind) -> str:
    """Return where a value's placeholder is looked up: one value has one, numbers theirs."""
    return kind.value if kind in (Kind.NUMBER, Kind.LITERAL) else "text"


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (
        (_is_word(before) and _is_word(text[start]))
        or (_is_word(after) and _is_word(text[end - 1]))
    )


def _is_word(char: str) -> bool:
    return char != "" and (char.isalnum() or char == "_")


MAX_DEPTH = 100
MAX_LABELLED = 200
"""Characters of a text that a key announces; longer ones are read as any other text."""
_MAX_PASSES = 6
_HOLE = "\ue000"  # stands for a placeholder while its surroundings are looked at

__all__ = [
    "EMPTY",
    "Redacted",
    "ReversibleRedactor",
    "Vault",
    "holds_secret",
    "moved",
    "redact",
    "redact_written",
    "restore",
    "rewritten",
    "scrubbed",
    "unknown_placeholder",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A value with placeholders, and the vault with what is new in it."""

    value: JsonValue
    vault: Vault


def redact(value: JsonValue, vault: Vault, kinds: frozenset[Kind]) -> Redacted:
    """Redact what comes from outside: tickets, results of tools, memories. Linear in its length.

    Every text that looks like a placeholder is taken for what it is: text. Keys of objects are
    redacted, too. Raises ValidationFailed when nested deeper than 100 levels.
    """
    return _redact(value, vault, kinds, ours=False)


def redact_written(value: JsonValue, vault: Vault, kinds: frozenset[Kind]) -> Redacted:
    """Redact what was written over redacted text, by a model or a person: placeholders stay.

    Redacting what was redacted changes nothing. A placeholder that is not in the vault becomes
    text.
    """

    def number(text: str) -> JsonValue:
        return _numbered(text, vault, text)

    # as a number it is hidden again; as a text below a key that names a secret it would be scrubbed
    numbers = _walk(value, number, str, MAX_DEPTH)
    return _redact(numbers, vault, kinds, ours=True)


def moved(value: JsonValue, theirs: Vault, vault: Vault, kinds: frozenset[Kind]) -> Redacted:
    """Redact for `vault` what was redacted into `theirs`: what was hidden there is hidden here.

    Raises ValidationFailed for a placeholder that `theirs` does not know.
    """
    book = Book(vault)

    def put(match: re.Match[str]) -> str:
        placeholder = match[0]
        if placeholder not in theirs:
            raise ValidationFailed("Nobody knows what a placeholder stood for.", reason="unknown")
        kind = Kind(placeholder[1:-1].rpartition("_")[0])
        return book.placeholder(kind, theirs[placeholder])

    def change(text: str) -> str:
        return PLACEHOLDER.sub(put, text)

    put_anew = _walk(value, change, change, MAX_DEPTH)
    return redact_written(put_anew, book.vault, kinds)


def restore(value: JsonValue, vault: Vault) -> JsonValue:
    """Return `value` with the values of `vault` in the place of its placeholders, once.

    What is put in is not looked at again. A text that is a placeholder of a number and nothing
    else becomes that number.
    """
    return _walk(
        value, lambda text: _restored(text, vault), lambda text: _text(text, vault), MAX_DEPTH
    )


def rewritten(arguments: dict[str, JsonValue], shown: str, vault: Vault) -> dict[str, JsonValue]:
    """Return arguments that a person wrote over `shown`, where values stood, not placeholders.

    What looks like a placeholder there was text, and stays text: nobody gets another's value sent
    by writing `<EMAIL_1>` into a ticket.
    """
    texts = {vault[item]: item for item in vault if item.startswith(f"<{Kind.LITERAL}_")}
    vault_shown = {item: texts[item] for item in PLACEHOLDER.findall(shown) if item in texts}
    return cast("dict[str, JsonValue]", restore(arguments, vault_shown))


def holds_secret(value: JsonValue) -> bool:
    """Return whether credentials stand in `value`, at any depth."""
    return scrub_value(value)[1] != ()


def scrubbed(value: JsonValue) -> JsonValue:
    """Return `value` without credentials; a key that was scrubbed may announce one anew."""
    for _ in range(_MAX_PASSES):
        before, value = (
            value,
            scrub(value).text if isinstance(value, str) else scrub_value(value)[0],
        )
        if value == before:
            break
    return value


def unknown_placeholder(value: JsonValue, vault: Vault) -> bool:
    """Return whether `value` has a placeholder that `vault` does not know."""
    results: list[str] = []

    def look(text: str) -> str:
        results.extend(PLACEHOLDER.findall(text))
        return text

    _walk(value, look, look, MAX_DEPTH)
    return any(name not in vault for name in results)


class ReversibleRedactor:
    """Redaction by a profile's name, for who has texts and no kinds."""

    def redact(
        self, text: str, vault: Mapping[str, str], *, profile: str
    ) -> tuple[str, Mapping[str, str]]:
        """Return the text with placeholders, and the vault with what is new.

        A value that the vault knows gets its old placeholder.
        """
        clean = redact(text, vault, kinds_of(profile))
        return str(clean.value), clean.vault

    def moved(
        self,
        value: JsonValue,
        theirs: Mapping[str, str],
        vault: Mapping[str, str],
        *,
        profile: str,
    ) -> tuple[JsonValue, Mapping[str, str]]:
        """Return a JSON value whose placeholders are of the vault `theirs` with those of `vault`.

        Raises ValidationFailed for a placeholder that `theirs` does not know.
        """
        clean = moved(value, theirs, vault, kinds_of(profile))
        return clean.value, clean.vault

    def restore(self, value: JsonValue, vault: Mapping[str, str]) -> JsonValue:
        """Return a JSON value with the placeholders in its strings replaced by their values."""
        return restore(value, vault)


def _redact(value: JsonValue, vault: Vault, kinds: frozenset[Kind], *, ours: bool) -> Redacted:
    book = Book(vault)
    clean = _value(_Redaction(book, kinds, ours), scrubbed(value), None, MAX_DEPTH)
    size = len(vault)
    for _ in range(0 if isinstance(clean, str) else _MAX_PASSES):
        if len(book) == size:
            break
        size = len(book)  # what was found late may stand in what was read before
        clean = _value(_Redaction(book, kinds, True), clean, None, MAX_DEPTH)
    return Redacted(value=clean, vault=book.vault)


@dataclass(frozen=True, slots=True)
class _Redaction:
    """One redaction under way. `ours` says that placeholders of the vault are to stay."""

    book: Book
    kinds: frozenset[Kind]
    ours: bool

    def text(self, text: str) -> str:
        """Return `text` redacted; another round would change nothing."""
        ours = self.ours
        for _ in range(_MAX_PASSES):
            clean = self._once(text, ours=ours)
            if clean == text and ours:
                break
            text, ours = clean, True
        return text

    def labelled(self, text: str, kind: Kind) -> str:
        """Return what a key has announced as `kind`: all of it, unless it was redacted before."""
        if kind not in self.kinds or PLACEHOLDER.search(text) or len(text) > MAX_LABELLED:
            return self.text(text)
        if kind is Kind.AGE or not any(map(str.isalnum, text)):
            return self.text(text)
        return self.book.placeholder(kind, text)

    def number(self, number: int | float, kind: Kind | None) -> JsonValue:
        """Return a placeholder for a number that is personal, else the number."""
        written = json.dumps(number)
        number_kind_ = number_kind(number, kind)
        if (number_kind_ in self.kinds and number_kind_ is not None) or self.book.number(written):
            return self.book.placeholder(Kind.NUMBER, written)
        return number

    def _once(self, text: str, *, ours: bool) -> str:
        literals: list[tuple[int, int, Kind]] = []
        pieces: list[str] = []
        end = 0
        for match in PLACEHOLDER.finditer(text):
            if not ours or match[0] not in self.book:
                literals.append((*match.span(), Kind.LITERAL))
            pieces += [text[end : match.start()], _HOLE * len(match[0])]
            end = match.end()
        seen = "".join([*pieces, text[end:]])
        return self._replaced(text, literals + self._find_spans(seen))

    def _find_spans(self, seen: str) -> list[tuple[int, int, Kind]]:
        plain, places = normalise(seen)
        known_spans = self.book.known.spans(plain, guess=Kind.NAME in self.kinds)
        results = known_spans + spans(plain, self.kinds)
        if places is None:
            return results
        return [(places[start], places[end - 1] + 1, kind) for start, end, kind in results]

    def _replaced(self, text: str, results: list[tuple[int, int, Kind]]) -> str:
        pieces: list[str] = []
        last = 0
        for start, end, kind in _merged(results):
            pieces += [text[last:start], self.book.placeholder(kind, text[start:end])]
            last = end
        return "".join([*pieces, text[last:]])


def _merged(results: list[tuple[int, int, Kind]]) -> list[tuple[int, int, Kind]]:
    """Return spans that do not overlap: those that did are one, called as the longest of them."""
    merged: list[tuple[int, int, Kind]] = []
    longest = 0
    for start, end, kind in sorted(results, key=lambda item: (item[0], -item[1])):
        if merged and start < merged[-1][1]:
            before = merged[-1]
            if end - start > longest:
                longest, before = end - start, (before[0], before[1], kind)
            merged[-1] = (before[0], max(before[1], end), before[2])
        else:
            merged.append((start, end, kind))
            longest = end - start
    return merged


def _value(work: _Redaction, value: JsonValue, kind: Kind | None, depth: int) -> JsonValue:
    if depth < 0:
        raise ValidationFailed("This value is nested too deeply.", reason="too-deep")
    if isinstance(value, str):
        return work.labelled(value, kind) if kind is not None else work.text(value)
    if isinstance(value, list):
        return [_value(work, item, kind, depth - 1) for item in value]
    if isinstance(value, dict):
        return {
            work.text(key): _value(work, item, key_kind(key), depth - 1)
            for key, item in value.items()
        }
    if isinstance(value, int | float) and not isinstance(value, bool):
        return work.number(value, kind)
    return value


def _walk(
    value: JsonValue, change: Callable[[str], JsonValue], key: Callable[[str], str], depth: int
) -> JsonValue:
    if depth < 0:
        raise ValidationFailed("This value is nested too deeply.", reason="too-deep")
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_walk(item, change, key, depth - 1) for item in value]
    if isinstance(value, dict):
        return {key(name): _walk(item, change, key, depth - 1) for name, item in value.items()}
    return value


def _restored(text: str, vault: Vault) -> JsonValue:
    return _numbered(text, vault, _text(text, vault))


def _numbered(text: str, vault: Vault, otherwise: str) -> JsonValue:
    if text in vault and text.startswith(f"<{Kind.NUMBER}_"):
        return cast("JsonValue", json.loads(vault[text]))
    return otherwise


def _text(text: str, vault: Vault) -> str:
    return PLACEHOLDER.sub(lambda match: vault.get(match[0], match[0]), text)
