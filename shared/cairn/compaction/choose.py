"""What is kept of a transcript within a number of tokens: the last turns, and what says most. Pure.

A piece is worth the weights of its words, each by how rare it is in the transcript and less when a
kept piece has said it, and its names, numbers, times, statements, decisions and open questions;
pieces are taken by worth a token, the best first (a greedy solution of the budgeted maximum
coverage problem: Khuller, Moss and Naor 1999).
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.compaction.pieces import candidates
from cairn.compaction.turns import written
from cairn.conversations.messages import MessageRole
from cairn.kernel.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cairn.compaction.pieces import Candidate
    from cairn.compaction.turns import CountTokens, Piece, Turn

RECENT = 0.15
"""The share of the target that the last turns get, as they were said."""

LAST = 0.5
"""The share that the very last turn may take, which is kept before anything else."""

SAID = 0.7
"""What a word still counts each time that a kept piece has said it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What is kept: `kept` turns in their own words, `pieces` of the others."""

    kept: tuple[Turn, ...]
    pieces: tuple[Piece, ...]
    summary: str
    tokens: int


def tokens_of(turns: Iterable[Turn], count: CountTokens) -> int:
    """Return how long turns are in a prompt."""
    return sum(count(turn.line) for turn in turns)


def choose(
    turns: Sequence[Turn],
    target: int,
    count: CountTokens,
    *,
    reword: Callable[[Sequence[Turn]], Sequence[Piece]] | None = None,
) -> Chosen:
    """Return what is kept of the turns in at most `target` tokens; all of them where they fit.

    `reword` says the turns that go in pieces of its own, which come before extracts.
    """
    if (whole := tokens_of(turns, count)) <= target:
        return Chosen(kept=tuple(turns), pieces=(), summary="", tokens=whole)
    last_turns = _last(turns, target, count)
    first = last_turns[0].place if last_turns else len(turns)
    earlier = [turn for turn in turns if turn.place < first]
    left = target - tokens_of(last_turns, count)
    reworded = list(reword(earlier)) if reword else []
    pieces = _fitting(reworded, left, count)
    frequencies = Counter(word for each in candidates(last_turns, count) for word in each.terms)
    for piece in pieces:  # what a model said is not quoted as well
        frequencies.update(set(content_words(piece.text)))
    ranked = _ranked(candidates(earlier, count), frequencies, left - count(written(pieces)))
    pieces = _fitting([*pieces, *ranked], left, count)
    summary = written(pieces)
    tokens = tokens_of(last_turns, count) + (count(summary) if summary else 0)
    return Chosen(kept=last_turns, pieces=tuple(pieces), summary=summary, tokens=tokens)


def _last(turns: Sequence[Turn], target: int, count: CountTokens) -> tuple[Turn, ...]:
    """Return the last turns that fit their share; never a tool's answer without its call."""
    last_turns: list[Turn] = []
    left = target * RECENT
    for turn in reversed(turns):
        cost = count(turn.line)
        if cost > (left if last_turns else target * LAST):
            break
        last_turns.insert(0, turn)
        left -= cost
    while last_turns and last_turns[0].role is MessageRole.TOOL:
        last_turns.pop(0)
    return tuple(last_turns)


def _ranked(pieces: Sequence[Candidate], frequencies: Counter[str], room: int) -> list[Piece]:
    """Return the pieces that are worth most for their tokens, the best first, as far as they fit.

    A piece's worth only falls as others are taken, so one that is still the best when it is looked
    at again is the best of all (lazy evaluation: Minoux 1978).
    """
    often = Counter(word for each in pieces for word in each.terms)
    weights = {word: math.log(1 + len(pieces) / times) for word, times in often.items()}

    def worth(each: Candidate) -> float:
        words = sum(weights[word] * SAID ** frequencies[word] for word in sorted(each.terms))
        return (words + each.bonus) * each.factor / each.tokens

    heap = [(-worth(each), at) for at, each in enumerate(pieces)]
    heapq.heapify(heap)
    taken: list[Piece] = []
    while heap:
        _, at = heapq.heappop(heap)
        now = -worth(pieces[at])
        if heap and now > heap[0][0] + 1e-9:
            heapq.heappush(heap, (now, at))
        elif pieces[at].tokens <= room:
            taken.append(pieces[at].piece)
            room -= pieces[at].tokens
            frequencies.update(pieces[at].terms)
    return taken


def _fitting(pieces: Sequence[Piece], room: int, count: CountTokens) -> list[Piece]:
    """Return as many of the pieces, the first ones, as fit when they are written."""
    low, high = 0, len(pieces)
    while low < high:
        middle = (low + high + 1) // 2
        if count(written(pieces[:middle])) <= room:
            low = middle
        else:
            high = middle - 1
    return list(pieces[:low])
