"""Pieces to runs that become chunks: sizes and topic boundaries. Not the making of pieces."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, pstdev

from cairn.documents.pieces import Piece
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


def _cosine(item: dict[str, int], other: dict[str, int]) -> float:
    if len(item) > len(other):
        item, other = other, item
    dot = sum(count * other[word] for word, count in item.items() if word in other)
    if not dot:
        return 0.0
    norms = sum(count * count for count in item.values()) * sum(
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSizes:
    """Sizes in tokens of the counter in use.

    Text up to `soft` stays together. Longer text is cut at topic boundaries into chunks of at least
    `least`, and of at most `soft` where it can be. Only code in one piece exceeds `cap`, up to
    `whole_cap`.
    """

    least: int = 100
    soft: int = 320
    cap: int = 800
    whole_cap: int = 20_000


def chunk_runs(pieces: Sequence[Piece], sizes: ChunkSizes) -> Iterator[Sequence[Piece]]:
    """Yield consecutive runs of `pieces` that together are all of it, one run a chunk.

    A run ends at the deepest topic boundary between `least` and `soft` tokens; where there is none,
    at the last gap before `soft`. A rest shorter than `least` stays with the run before it while
    both fit `soft` + `least`. A piece that ends with a colon stays with the next.
    """
    start = 0
    totals = _totals(pieces)
    if totals[-1] <= sizes.soft:
        if pieces:
            yield pieces
        return
    gaps = _gaps(pieces)
    boundary = cutoff([gap for gap in gaps if gap >= 0])
    while start < len(pieces):
        end = _end(start, totals, gaps, boundary, sizes)
        yield pieces[start:end]
        start = end


def _totals(pieces: Sequence[Piece]) -> list[int]:
    """Return running sums: totals[n] is the tokens of the first n pieces, joints counted as one."""
    totals = [0]
    for piece in pieces:
        totals.append(totals[-1] + piece.tokens + 1)
    return totals


def _gaps(pieces: Sequence[Piece]) -> list[float]:
    """Return the depth of the gap after each piece but the last; -1 where a colon forbids a cut."""
    deep = depths([piece.text for piece in pieces])
    return [-1.0 if pieces[index].text.endswith(":") else depth for index, depth in enumerate(deep)]


def _end(
    start: int, totals: Sequence[int], gaps: Sequence[float], boundary: float, sizes: ChunkSizes
) -> int:
    """Return the index after the last piece of the chunk that begins at `start`."""
    count = len(totals) - 1
    if totals[count] - totals[start] <= sizes.soft:
        return count
    best = _deepest(start, totals, gaps, boundary, sizes)
    rest = totals[count] - totals[best]
    together = totals[count] - totals[start]
    if rest < sizes.least and together <= sizes.soft + sizes.least:
        return count
    return best


def _deepest(
    start: int, totals: Sequence[int], gaps: Sequence[float], boundary: float, sizes: ChunkSizes
) -> int:
    """Return the end of the deepest boundary between `least` and `soft`, else the last that fits.

    The first piece always fits, whatever its size.
    """
    last = start + 1
    best, best_depth = 0, max(boundary, 0.0)
    for end in range(start + 1, len(totals) - 1):
        size = totals[end] - totals[start]
        if size > sizes.soft and end > start + 1:
            break
        if gaps[end - 1] >= 0:
            last = end
        if size >= sizes.least and gaps[end - 1] > best_depth:
            best, best_depth = end, gaps[end - 1]
    return best or last
