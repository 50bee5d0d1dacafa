"""What a mail itself says: the words above the mail it answers and above its signature. Pure.

A judgement of short answers, never of what is kept: a message is stored as it came.
"""

from __future__ import annotations

import re

from cairn.safety.formats import SIGN_OFFS

ENOUGH = 500
"""Characters after which nobody has to know where the words end."""

_SIGNED = re.compile(rf"(?:{SIGN_OFFS}|best|mfg|bien à vous)\s?[,.!]?$", re.IGNORECASE)
_QUOTED = re.compile(
    r">|--$|_{10,}$"
    r"|-{2,}\s?(?:original message|ursprüngliche nachricht|message d'origine|mensaje original)"
    r"|(?:on|am|le|el)\b.{1,200}\b(?:wrote|schrieb.{0,80}|a écrit|escribió)\s?:$",
    re.IGNORECASE,
)


def own_words(text: str) -> str:
    """Return the lines before the first that begins a quoted mail or a signature.

    Stripped, without empty lines, and no more than the first `ENOUGH` characters or so. English,
    German, French and Spanish.
    """
    own: list[str] = []
    size = 0
    for line in filter(None, map(str.strip, text.splitlines())):
        if size > ENOUGH or _QUOTED.match(line) or (own and _SIGNED.match(line)):
            break
        own.append(line)
        size += len(line)
    return "\n".join(own)
