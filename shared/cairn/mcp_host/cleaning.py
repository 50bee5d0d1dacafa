"""Text from connectors made plain: no control characters, no escapes, no direction overrides.

Not redaction and not screening: what is left may still be personal, or a lie.
"""

import re

MAX_DESCRIPTION = 2_000

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])")
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)


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
