"""Text as recognisers read it: no invisible characters, one spelling of digits, dashes and blanks.

Every character keeps a place in the original, so what is found can be cut out of it. Not folding
(`folding`), which is for words and keeps no places.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


_TAG_SHIFT = 0xE0000  # Unicode tag characters repeat ASCII, invisibly, this much higher
_TAGS = range(0xE0020, 0xE007F)
_CYRILLIC_LOOKALIKES = str.maketrans("авеикмнорстухіѕјԁ", "abeukmhopctyxisjd")
_LATIN = re.compile(r"[a-z]")
_CYRILLIC = re.compile(r"[\u0430-\u0511]")
_INVISIBLE = re.compile(
    r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]"
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


class _Folding(dict[int, str | None]):
    """Answers `str.translate`: what one character becomes; grows by the characters met."""

    def __missing__(self, code: int) -> str | None:
        if code in _TAGS:
            folded: str | None = chr(code - _TAG_SHIFT)
        elif unicodedata.category(chr(code)) in {"Mn", "Cf"}:
            folded = None
        else:
            folded = chr(code)
        self[code] = folded
        return folded


_FOLDING = _Folding({ord("\u2019"): "'", ord("\u2018"): "'", ord("`"): "'"})


def fold(text: str) -> str:
    """Return `text` as patterns see it: NFKD, no marks or invisible characters, casefolded.

    NFKD rather than NFKC so that accents can be dropped: people leave them out, and attackers do.
    Characters of the invisible tag block become the ASCII they stand for. O(characters).
    """
    if text.isascii():
        return text.casefold().replace("`", "'")
    return unicodedata.normalize("NFKD", text).translate(_FOLDING).casefold()


def has_invisible(text: str) -> bool:
    """Return whether `text` holds characters that take no room."""
    return not text.isascii() and _INVISIBLE.search(text) is not None


def spaced(text: str) -> str:
    """Return `text` with a space for each invisible character, for where they part words."""
    return _INVISIBLE.sub(" ", text)


def folded_words(folded: str) -> list[str]:
    """Return the words of a folded text; a Latin word with Cyrillic letters is made Latin."""
    return [_one_script(word) for word in _WORD.findall(folded)]


def _one_script(word: str) -> str:
    if word.isascii() or not (_LATIN.search(word) and _CYRILLIC.search(word)):
        return word
    return word.translate(_CYRILLIC_LOOKALIKES)


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
