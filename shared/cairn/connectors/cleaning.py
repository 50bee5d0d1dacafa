"""Text from connectors made plain: no control characters, no escapes, no direction overrides.

Not redaction and not screening: what is left may still be personal, or a lie.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_DESCRIPTION = 2_000
MAX_WORD = 4_096
"""Characters without a break that still count as one word: tokens are long, pictures longer."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])")
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)

_BREAK = re.compile(r"[\s\"'`,;|<>(){}\[\]]")


def plain(text: str) -> str:
    """Return `text` without terminal escapes, control and direction characters, lone surrogates.

    Line breaks and tabs stay; CRLF becomes LF. O(characters).
    """
    text = text.replace("\r\n", "\n")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return _UNSEEN.sub("", text)


def described(text: object, most: int = MAX_DESCRIPTION) -> str:
    """Return a description as data: plain, at most `most` characters; empty for what is no text."""
    if not isinstance(text, str):
        return ""
    cleaned = plain(text[: most * 4]).strip()
    return cleaned if len(cleaned) <= most else cleaned[: most - 1] + "…"


def whole_words(text: str) -> str:
    """Return a text that was cut, without the word at the cut.

    Half an address or half a token is recognised by no rule, and is somebody's all the same. A word
    of more than `MAX_WORD` characters stays.
    """
    tail = text[-MAX_WORD:]
    breaks = [one.end() for one in _BREAK.finditer(tail)]
    return text[: len(text) - len(tail) + breaks[-1]] if breaks else text


def without(text: str, secrets: Iterable[str]) -> str:
    """Return a text in which none of the secrets stands."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "[secret]")
    return text
