"""What a statement is for, by its words: what is liked in "I prefer A to B", used in "we use A"."""

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
_USED = re.compile(
    r"^(?:i|we|(?:my|our) (?:\w+ ){1,3}?)\s*(?:am |are |is |have |has )?"
    r"(?:also |now |still |just |always |mostly |usually |recently |finally )?"
    r"(?:us(?:e|es|ing)|host(?:s|ed|ing)? \w[\w' ]{0,30} (?:on|with|at)|host(?:s|ed|ing)? on"
    r"|runs?(?: \w[\w' ]{0,30})? on|running on|rel(?:y|ies|ying) on|built (?:on|with)"
    r"|switched to)\s(?P<what>.*)",
    re.S,
)
_NO_USE = re.compile(r"\b(?:used to|stopped|without)\b")
_AFTER = re.compile(r"\s(?:from|for|to|since|on|at|in|with|until)\b.*", re.S)
_PREFERRED_TO = re.compile(r"(?<=\s)(prefers?\s.*?)\sto\s.*", re.S)


def liked(text: str) -> str:
    """Return the words of a preference that name what is liked, in lower case; "" for a dislike."""
    low = expanded(text)
    if not _LIKED.search(low) or _DENIED.search(low):
        return ""
    return _PREFERRED_TO.sub(r"\1", _BESIDE.sub("", low))


def used(text: str) -> str:
    """Return the words of a fact that name what its speaker uses, in lower case; "" for none."""
    low = _BESIDE.sub("", expanded(text))
    match = None if _DENIED.search(low) or _NO_USE.search(low) else _USED.match(low)
    return _AFTER.sub("", match["what"]) if match else ""
