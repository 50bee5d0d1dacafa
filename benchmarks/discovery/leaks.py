"""Whether what a side was answered holds what it may never read. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE = re.compile(r"\s+")


def leaked(private: Sequence[str], answers: Sequence[Any]) -> list[str]:
    """Return which private strings stand in any text of the answers, as words of their own.

    Case and white space are ignored, so that `900` is no leak of `1900` or of an id.
    """
    texts = [_plain(text) for answer in answers for text in _texts(answer)]
    return [
        each for each in private if any(_pattern(each).search(text) is not None for text in texts)
    ]


def _pattern(private: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(_plain(private))}(?!\w)")


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).casefold().strip()


def _texts(answer: Any) -> Iterator[str]:
    """Yield every text of an answer."""
    if isinstance(answer, str):
        yield answer
    elif isinstance(answer, Mapping):
        for value in cast("Mapping[str, Any]", answer).values():
            yield from _texts(value)
    elif isinstance(answer, Sequence):
        for value in cast("Sequence[Any]", answer):
            yield from _texts(value)
