"""The vault of an investigation: placeholders and the values they stand for. It only grows."""

from __future__ import annotations

import re
from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from cairn.safety.evening import evened
from cairn.safety.profiles import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

Vault: TypeAlias = "Mapping[str, str]"
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


class Known:
    """Values that are looked for as words of their own, by the first word of each."""

    def __init__(self) -> None:
        self._by_word: dict[str, dict[str, tuple[int, Kind, bool]]] = defaultdict(dict)

    def add(self, kind: Kind, value: str) -> None:
        """Look for `value` from now on, unless it is too short or says too little by itself."""
        value = evened(value)[0]
        if kind is Kind.NUMBER:
            kind = Kind.ID
            if len(value) < _DIGITS_KNOWN or not value.isdigit():
                return
        if kind in _NOT_LOOKED_FOR or len(value.strip()) < SHORTEST_KNOWN:
            return
        self._add(kind, value, any_case=kind is Kind.NAME and len(_WORDS.findall(value)) > 1)
        if kind is Kind.NAME:
            for part in _NAME_PART.findall(value):
                if part[0].isupper():
                    self._add(kind, part, any_case=False)

    def spans(self, text: str) -> list[tuple[int, int, Kind]]:
        """Return where known values stand in `text`. O(words) as long as few begin alike."""
        if not self._by_word:
            return []
        found: list[tuple[int, int, Kind]] = []
        for word in _WORDS.finditer(text):
            for value, (offset, kind, any_case) in self._by_word.get(
                word[0].casefold(), {}
            ).items():
                start = word.start() - offset
                end = start + len(value)
                there = text[max(start, 0) : end]
                same = there == value or (any_case and there.casefold() == value.casefold())
                if start >= 0 and same and _stands_alone(text, start, end):
                    found.append((start, end, kind))
        return found

    def _add(self, kind: Kind, value: str, *, any_case: bool) -> None:
        word = _WORDS.search(value)
        if word is not None:
            entries = self._by_word[word[0].casefold()]
            if value not in entries or any_case:
                entries[value] = (word.start(), kind, any_case)


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
