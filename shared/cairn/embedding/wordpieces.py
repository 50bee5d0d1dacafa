"""The tokenizer of a local model: counting and cutting. Not embedding.

Splitting documents needs the tokenizer alone, so it loads without the model or its runtime.
"""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from cairn.embedding.cutting import Word, cut
from cairn.embedding.port import PASSAGE_TOKENS
from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tokenizers import Encoding, Tokenizer

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

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids the model reads of each text: its beginning, between special tokens."""
        before, after = self._around
        room = self._max_tokens - len(before) - len(after)
        asked = [self._prefix + text for text in texts]
        encodings = self._loaded.encode_batch_fast(asked, add_special_tokens=False)
        return [[*before, *encoding.ids[:room], *after] for encoding in encodings]

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
