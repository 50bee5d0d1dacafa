"""Summaries made of the text's own sentences: by rules, deterministic, no model.

Not an abstract: nothing is reworded, so nothing can be made up.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cairn.kernel.text.words import content_words, sentences

POSITION_WEIGHT = 0.5
SAID = 0.5
FEWEST_WORDS = 3  # content words a sentence needs to stand alone; headings and scraps have fewer


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    text: str
    terms: frozenset[str]


def extract(text: str, *, max_words: int) -> str:
    """Return the sentences of `text` that say most, in their order, `max_words` words at most.

    A sentence weighs the mean frequency of its terms, times 1 + 0.5 / its place (SumBasic: Nenkova
    and Vanderwende 2005; Edmundson 1969: first sentences carry the topic). Terms already said
    count half; SumBasic squares them, which in a short text leaves only side remarks. When not
    even one sentence fits, the heaviest is cut at a word, with an ellipsis.
    O(words x sentences chosen); a blank text gives "".
    """
    candidates: list[_Sentence] = _candidates(text)
    chosen: list[_Sentence] = []
    weights = _frequencies(candidates)
    left = max_words
    while candidates:
        best = max(candidates, key=lambda one: (_weight(one, weights), -one.place))
        if chosen and _length(best) > left:
            break
        chosen.append(best)
        left -= _length(best)
        candidates = [one for one in candidates if one.text != best.text and _length(one) <= left]
        weights.update({term: weights[term] * SAID for term in best.terms})
    ordered = sorted(chosen, key=lambda one: one.place)
    return _cut(" ".join(one.text for one in ordered), max_words)


def _candidates(text: str) -> list[_Sentence]:
    """Return the sentences worth choosing from; all of them when none is long enough."""
    found = [
        _Sentence(place, " ".join(sentence.split()), frozenset(content_words(sentence)))
        for place, sentence in enumerate(sentences(text), start=1)
    ]
    return [one for one in found if len(one.terms) >= FEWEST_WORDS] or found


def _frequencies(candidates: Sequence[_Sentence]) -> dict[str, float]:
    counts = Counter(term for one in candidates for term in one.terms)
    total = counts.total()
    return {term: count / total for term, count in counts.items()}


def _weight(one: _Sentence, weights: dict[str, float]) -> float:
    if not one.terms:
        return 0.0
    # sorted: float addition depends on the order, and a set's order on the process
    mean = sum(sorted(weights[term] for term in one.terms)) / len(one.terms)
    return mean * (1 + POSITION_WEIGHT / one.place)


def _length(one: _Sentence) -> int:
    return len(one.text.split())


def _cut(text: str, max_words: int) -> str:
    words = text.split()
    return text if len(words) <= max_words else " ".join(words[:max_words]) + " …"
