"""Pieces to runs that become chunks: sizes and topic boundaries. Not the making of pieces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cairn.documents.cohesion import cutoff, depths
from cairn.documents.pieces import Piece


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


def chunk_runs(found: Sequence[Piece], sizes: ChunkSizes) -> Iterator[Sequence[Piece]]:
    """Yield consecutive runs of `found` that together are all of it, one run a chunk.

    A run ends at the deepest topic boundary between `least` and `soft` tokens; where there is none,
    at the last gap before `soft`. A rest shorter than `least` stays with the run before it while
    both fit `soft` + `least`. A piece that ends with a colon stays with the next.
    """
    start = 0
    totals = _totals(found)
    if totals[-1] <= sizes.soft:
        if found:
            yield found
        return
    gaps = _gaps(found)
    boundary = cutoff([gap for gap in gaps if gap >= 0])
    while start < len(found):
        end = _end(start, totals, gaps, boundary, sizes)
        yield found[start:end]
        start = end


def _totals(found: Sequence[Piece]) -> list[int]:
    """Return running sums: totals[n] is the tokens of the first n pieces, joints counted as one."""
    totals = [0]
    for piece in found:
        totals.append(totals[-1] + piece.tokens + 1)
    return totals


def _gaps(found: Sequence[Piece]) -> list[float]:
    """Return the depth of the gap after each piece but the last; -1 where a colon forbids a cut."""
    deep = depths([piece.text for piece in found])
    return [-1.0 if found[index].text.endswith(":") else depth for index, depth in enumerate(deep)]


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
