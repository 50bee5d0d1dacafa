"""The words a text is about, by plain counting. Not its entities, and no language model."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from cairn.graph.prose import COMMON_WORDS
from cairn.kernel.text.words import QUESTION_WORDS, STOP_WORDS, words

MAX_TEXT_CHARS = 100_000
"""A longer text is read this far."""

_SHORTEST, _LONGEST = 3, 40  # characters
_BREAK = re.compile(r"[^\w\s'\u2019-]+|\n+|\s-+\s")


def keywords(text: str, *, limit: int = 8) -> tuple[str, ...]:
    """Return the `limit` most telling words and two-word phrases, casefolded, the best first.

    A word counts its occurrences times 1 + ln(length / 3); a phrase, when it occurs at least twice,
    times its words' mean and 1.5. A word that occurs only within a kept phrase is left out. Equal
    ones keep the order of the text.
    """
    singles: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for run in _runs(text[:MAX_TEXT_CHARS]):
        singles.update(run)
        pairs.update(pairwise(run))
    scores: dict[str, float] = {}
    repeated = {pair: count for pair, count in pairs.items() if count > 1 and len({*pair}) > 1}
    for (one, other), count in repeated.items():
        scores[f"{one} {other}"] = 1.5 * count * (_weight(one) + _weight(other)) / 2
    within = {word: count for pair, count in repeated.items() for word in pair}
    for word, count in singles.items():
        if within.get(word) != count:
            scores[word] = count * _weight(word)
    return tuple(sorted(scores, key=lambda one: -scores[one])[:limit])


def _weight(word: str) -> float:
    return 1 + math.log(len(word) / _SHORTEST)


def _runs(text: str) -> Iterator[list[str]]:
    """Yield content words that follow each other with nothing but space between."""
    for part in _BREAK.split(text):
        run: list[str] = []
        for word in words(part):
            if _tells(word):
                run.append(word)
            elif run:
                yield run
                run = []
        yield run


def _tells(word: str) -> bool:
    if not _SHORTEST <= len(word) <= _LONGEST or word.isdigit():
        return False
    return word not in STOP_WORDS and word not in QUESTION_WORDS and word not in COMMON_WORDS
