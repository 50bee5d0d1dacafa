"""Where the topic changes in a run of passages, by the words they share. Not sizes or headings.

After TextTiling (M. A. Hearst, "TextTiling: Segmenting Text into Multi-paragraph Subtopic
Passages", Computational Linguistics 23(1), 1997): cosine similarity of the word counts on both
sides of each gap, the depth of each valley between its neighbouring peaks, and as boundaries the
valleys deeper than mean - standard deviation / 2 of all depths.
"""

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from statistics import fmean, pstdev

from cairn.kernel.text.words import content_words

_SIDE_WORDS = 40
_SIDE_PASSAGES = 6


def depths(passages: Sequence[str]) -> list[float]:
    """Return for each gap between neighbours how deep the valley of similarity is there, 0..2.

    `len(passages) - 1` values; a side of a gap is up to six passages, until it has 40 content
    words. Time is linear in the words.
    """
    counts = [Counter(content_words(passage)) for passage in passages]
    sizes = [count.total() for count in counts]
    scores = [
        _cosine(_side(counts, sizes, gap, -1), _side(counts, sizes, gap + 1, 1))
        for gap in range(len(passages) - 1)
    ]
    left = _climbs(scores)
    right = _climbs(scores[::-1])[::-1]
    return [left[index] + right[index] - 2 * score for index, score in enumerate(scores)]


def cutoff(values: Sequence[float]) -> float:
    """Return the depth that a boundary must exceed: mean - standard deviation / 2 (Hearst's HC)."""
    return fmean(values) - pstdev(values) / 2 if values else 0.0


def _side(
    counts: Sequence[Counter[str]], sizes: Sequence[int], start: int, step: int
) -> dict[str, int]:
    """Return the summed word counts from `start` outwards."""
    total: dict[str, int] = {}
    seen = 0
    index = start
    for _ in range(_SIDE_PASSAGES):
        if not 0 <= index < len(counts) or seen >= _SIDE_WORDS:
            break
        for word, count in counts[index].items():
            total[word] = total.get(word, 0) + count
        seen += sizes[index]
        index += step
    return total


def _cosine(one: dict[str, int], other: dict[str, int]) -> float:
    if len(one) > len(other):
        one, other = other, one
    dot = sum(count * other[word] for word, count in one.items() if word in other)
    if not dot:
        return 0.0
    norms = sum(count * count for count in one.values()) * sum(
        count * count for count in other.values()
    )
    return dot / sqrt(norms)


def _climbs(scores: Sequence[float]) -> list[float]:
    """Return the height reached from each place by walking left as long as it does not go down."""
    peaks: list[float] = []
    for index, score in enumerate(scores):
        if index and scores[index - 1] >= score:
            peaks.append(peaks[-1])
        else:
            peaks.append(score)
    return peaks
