"""What a preference is for, by its words: the part of "I prefer A to B" that is about A."""

import re

from cairn.extraction.statements import expanded

_LIKED = re.compile(
    r"\b(?:(?:like|love|enjoy|adore|prefer|crave|favou?r)(?:s|d|ed)?|favou?rite|fan of|into|rather"
    r"|keen on)\b"
)
_DENIED = re.compile(
    r"\b(?:not|never|no longer|used to|hates?|hated|dislikes?|disliked|detests?|loathes?"
    r"|despises?)\b"
)
_BESIDE = re.compile(
    r"\s(?:over|than|rather than|instead of|because|but|except|without|if|when|before)\b.*", re.S
)
_PREFERRED_TO = re.compile(r"(?<=\s)(prefers?\s.*?)\sto\s.*", re.S)


def liked(said: str) -> str:
    """Return the words of a preference that name what is liked, in lower case; "" for a dislike."""
    low = expanded(said)
    if not _LIKED.search(low) or _DENIED.search(low):
        return ""
    return _PREFERRED_TO.sub(r"\1", _BESIDE.sub("", low))
