"""Overlapping windows of a text at word boundaries, and the tokens of its words. Pure.

A caller says where each word is and what it costs in tokens. Windows are balanced: a text one
token too long becomes two halves, not a whole and a scrap whose vector would mean nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING

from cairn.embedding.port import PASSAGE_TOKENS
from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tokenizers import Encoding, Tokenizer


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


OVERLAP = PASSAGE_TOKENS // 4
LONGEST_WORD = PASSAGE_TOKENS // 4  # pieces; what is longer is nobody's word and may be cut


class WordPieces:
    """Reads `tokenizer.json` in `model_dir` on first use; safe to share between threads."""

    def __init__(self, model_dir: Path, *, max_tokens: int, prefix: str = "") -> None:
        self._file = model_dir / "tokenizer.json"
        self._max_tokens = max_tokens
        self._prefix = prefix
        self._lock = Lock()

    def count_tokens(self, text: str) -> int:
        """Return the number of word pieces of `text`, special tokens left out."""
        return len(self._loaded.encode(text, add_special_tokens=False).ids)

    def windows(self, text: str, *, whole_up_to: int | None = None) -> list[str]:
        """Return `text` if the model reads it whole, else its passages of 64, 16 of them shared.

        Cuts fall between words, but for words of more than 16 pieces.
        """
        encoding = self._loaded.encode(text, add_special_tokens=False)
        if len(encoding.ids) <= min(self._limit, whole_up_to or self._limit):
            return [text]
        limit = min(PASSAGE_TOKENS, self._limit)
        return cut(text, _words(encoding), limit=limit, overlap=min(OVERLAP, limit // 4))

    def encode(self, texts: Sequence[str], prefix: str | None = None) -> list[list[int]]:
        """Return the ids the model reads of each text: its beginning, between special tokens.

        With the prefix of texts before it, unless another is given.
        """
        before, after = self._around
        room = self._max_tokens - len(before) - len(after)
        first = self._prefix if prefix is None else prefix
        prefixed = [first + text for text in texts]
        encodings = self._loaded.encode_batch_fast(prefixed, add_special_tokens=False)
        return [[*before, *encoding.ids[:room], *after] for encoding in encodings]

    @cached_property
    def vocabulary(self) -> list[str]:
        """Return the word pieces by id."""
        size = self._loaded.get_vocab_size()
        return [self._loaded.id_to_token(id_) or "" for id_ in range(size)]

    def load(self) -> None:
        """Read the file now rather than on first use; Unavailable when it is not there."""
        assert self._loaded

    @cached_property
    def _limit(self) -> int:
        """Return what is left for a text beside special tokens and prefix."""
        before, after = self._around
        taken = len(before) + len(after) + (self.count_tokens(self._prefix) if self._prefix else 0)
        return max(1, self._max_tokens - taken)

    @cached_property
    def _around(self) -> tuple[list[int], list[int]]:
        """Return the special tokens before and after every text, as the file has them."""
        encoding = self._loaded.encode("a")
        special = [*encoding.special_tokens_mask, 0]
        first = special.index(0)
        last = next(
            (at for at in range(len(encoding.ids), first, -1) if not special[at - 1]), first
        )
        return encoding.ids[:first], encoding.ids[last:]

    @property
    def _loaded(self) -> Tokenizer:
        with self._lock:
            return self._tokenizer

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        if not self._file.is_file():
            raise Unavailable(
                "The embedding model's tokenizer is not installed.",
                reason="model-missing",
                path=str(self._file),
            )
        tokenizer = Tokenizer.from_file(str(self._file))
        tokenizer.no_truncation()  # the file cuts at 128 and pads to it
        tokenizer.no_padding()
        return tokenizer


def _words(encoding: Encoding) -> list[Word]:
    """Join the pieces of each word up to LONGEST_WORD of them."""
    words: list[Word] = []
    previous: int | None = None
    for index, (start, end) in zip(encoding.word_ids, encoding.offsets, strict=True):
        last = words[-1] if words and index == previous else None
        if last is not None and last.cost < LONGEST_WORD:
            words[-1] = Word(start=last.start, end=end, cost=last.cost + 1)
        else:
            words.append(Word(start=start, end=end, cost=1))
        previous = index
    return words
