"""The vault of an investigation: placeholders and the values they stand for. It only grows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from cairn.safety.formats import NO_NAMES
from cairn.safety.normalise import normalise
from cairn.safety.profiles import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        self.known = Known()
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
        known = self._placeholders.get((_drawer(kind), value))
        if known is not None:
            return known
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
class _Known:
    """What a value is; `guessed` ones are names that an address gives away."""

    kind: Kind
    guessed: bool


class Known:
    """Values that are looked for as words of their own, word by word."""

    def __init__(self) -> None:
        self._begin = _Node()
        self._exact: dict[str, _Known] = {}
        self._any_case: dict[str, _Known] = {}  # casefolded

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
        found: list[tuple[int, int, Kind]] = []
        for word in _WORDS.finditer(text):
            for start, end in self._places(text, word):
                known = self._known(text[start:end], guess=guess)
                if known is not None and _stands_alone(text, start, end):
                    found.append((start, end, known.kind))
        return found

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

    def _known(self, text: str, *, guess: bool) -> _Known | None:
        for known in (self._exact.get(text), self._any_case.get(text.casefold())):
            if known is not None and (guess or not known.guessed):
                return known
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
            values[key] = _Known(kind, guessed)


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
