"""What a mail itself says: the words above the mail it answers and above its signature. Pure.

A judgement of short answers, never of what is kept: a message is stored as it came.
"""

from __future__ import annotations

import re

ENOUGH = 500
"""Characters after which nobody has to know where the words end."""

_SIGNED = re.compile(
    r"(?:(?:with )?(?:best|kind|warm)(?:est)? (?:regards|wishes)|regards|best|cheers|sincerely"
    r"|yours (?:sincerely|faithfully)|(?:viele|liebe|beste|mit freundlichen) gr(?:ü|ue)(?:ß|ss)en?"
    r"|mfg|(?:bien )?cordialement|bien à vous|(?:un )?saludos?(?: cordial(?:es)?)?|atentamente"
    r")\s?[,.!]?$",
    re.IGNORECASE,
)
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
