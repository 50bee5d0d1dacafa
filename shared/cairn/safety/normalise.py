"""Text as recognisers read it: no invisible characters, one spelling of digits, dashes and blanks.

Every character keeps a place in the original, so what is found can be cut out of it. Not folding
(`folding`), which is for words and keeps no places.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_KEPT = "\t\n\r"


def normalise(text: str) -> tuple[str, Sequence[int] | None]:
    """Return the text to look at, and the place of each of its characters in `text`.

    None in the place of places means that nothing was changed. O(characters).
    """
    if not any(_even(char) != char for char in set(text)):
        return text, None
    chars: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        even = _even(char)
        if even:
            chars.append(even)
            places.append(place)
    return "".join(chars), places


@cache
def _even(char: str) -> str:
    """Return one character's plain form, "" for what takes no room."""
    category = unicodedata.category(char)
    if category in {"Cc", "Cf"}:
        return char if char in _KEPT else ""
    if category == "Nd":
        return str(unicodedata.digit(char))
    if category == "Pd":
        return "-"
    if category == "Zs":
        return " "
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 else char
