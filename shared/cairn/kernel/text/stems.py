"""What the forms of an English word have in common. Not a dictionary."""

from __future__ import annotations

from functools import cache, lru_cache
from threading import Lock
from typing import Any, Protocol, cast

_STEMMING = Lock()


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return what the forms of a word have in common (Snowball's English rules)."""
    if not word.isalpha():
        return word
    with _STEMMING:  # a stemmer keeps its word in itself
        return _stemmer().stemWord(word)


@cache
def _stemmer() -> _Stemmer:
    import snowballstemmer  # its tables are not for a cold start

    return cast("_Stemmer", cast("Any", snowballstemmer).stemmer("english"))
