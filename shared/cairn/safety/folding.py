"""Making text that looks alike be alike, so that patterns cannot be dodged by spelling.

Not for storage or display: accents are gone, and so is everything invisible.
"""

import re
import unicodedata

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
