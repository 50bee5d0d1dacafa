"""Cutting a text into overlapping windows at word boundaries. Pure; knows no tokenizer.

A caller says where each word is and what it costs in tokens. Windows are balanced: a text one
token too long becomes two halves, not a whole and a scrap whose vector would mean nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

LOOK_BACK = 16  # words searched for a space before a cut between two words without one is accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """The characters [start, end) of a text, worth `cost` tokens."""

    start: int
    end: int
    cost: int


def cut(text: str, words: Sequence[Word], *, limit: int, overlap: int) -> list[str]:
    """Return pieces of `text` worth at most `limit` tokens, neighbours sharing about `overlap`.

    `words` are in order and disjoint; none may cost more than `limit - limit // 2`, which leaves
    each window room for at least one word its predecessor did not have. O(words).
    """
    sums = [0, *accumulate(word.cost for word in words)]
    if sums[-1] <= limit:
        return [text]
    spans: list[tuple[int, int]] = []
    begin = end = 0
    while end < len(words):
        end = _end(text, words, sums, begin, end, limit, overlap)
        spans.append((begin, end))
        begin = _next_begin(text, words, sums, begin, end, limit, overlap)
    return [piece for span in spans if (piece := _slice(text, words, span))]


def _end(
    text: str,
    words: Sequence[Word],
    sums: Sequence[int],
    begin: int,
    reached: int,
    limit: int,
    overlap: int,
) -> int:
    """Return where the window from `begin` ends (exclusive), past `reached`."""
    remaining = sums[-1] - sums[begin]
    if remaining <= limit:
        return len(words)
    count = -(-(remaining - overlap) // (limit - overlap))
    share = min(limit, -(-(remaining + (count - 1) * overlap) // count))
    end = reached + 1
    while end < len(words) and sums[end + 1] - sums[begin] <= share:
        end += 1
    for candidate in range(end, max(reached, end - LOOK_BACK), -1):
        if _after_space(text, words, candidate):
            return candidate
    return end


def _next_begin(
    text: str,
    words: Sequence[Word],
    sums: Sequence[int],
    begin: int,
    end: int,
    limit: int,
    overlap: int,
) -> int:
    """Return where the window after [begin, end) starts: about `overlap` tokens before `end`."""
    start = end
    while start > begin + 1 and sums[end] - sums[start] < overlap:
        start -= 1
    start = _within_half(sums, start, end, limit)
    for candidate in range(start, max(begin, start - LOOK_BACK), -1):
        if sums[end] - sums[candidate] > limit // 2:
            break
        if _after_space(text, words, candidate):
            return candidate
    return start


def _within_half(sums: Sequence[int], start: int, end: int, limit: int) -> int:
    """Move `start` forward until the overlap leaves half of the next window free."""
    while sums[end] - sums[start] > limit // 2:
        start += 1
    return start


def _after_space(text: str, words: Sequence[Word], index: int) -> bool:
    return index == len(words) or words[index].start == 0 or text[words[index].start - 1].isspace()


def _slice(text: str, words: Sequence[Word], span: tuple[int, int]) -> str:
    begin, end = span
    first = 0 if begin == 0 else words[begin].start
    last = len(text) if end == len(words) else words[end].start
    return text[first:last].strip()
