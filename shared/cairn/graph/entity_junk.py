"""Which candidate names are none: log lines, prose, dates, style sheets and code. Pure rules.

For candidates found by their quotes or capitals. Names that a list knows never come here.
"""

import re

from cairn.graph.prose import (
    ACTION_VERBS,
    COMMON_WORDS,
    GENERIC_TAILS,
    NOISE_STARTS,
    STYLE_WORDS,
    TIME_WORDS,
)

MAX_COMMON_SHARE = 0.4
"""A phrase with a larger share of common words is prose."""

MAX_NAME_WORDS = 7

_CODE = re.compile(r"[/\\<>{}\[\]()=;|$#*^~%@+_]|::|->|--|\.\.")
_CAMEL = re.compile(r"\b[a-z]+[A-Z]")
_FILE = re.compile(r"\.[a-z][a-z0-9]{0,4}$")
_WORD = re.compile(r"[^\W_](?>(?:[^\W_]|['\u2019-](?=[^\W_]))*)")
_SHOUTED_WORD = 6


def is_junk(name: str) -> bool:
    """Return whether a quoted or capitalised text is not worth to be an entity."""
    if _CODE.search(name) or _CAMEL.search(name) or _FILE.search(name):
        return True
    words = [word.replace("\u2019", "'") for word in _WORD.findall(name)]
    if not words or len(words) > MAX_NAME_WORDS or not any(one.isalpha() for one in name):
        return True
    if name[-1] in ".!?,:" or _is_shouted(words):
        return True
    return _says_no_name([word.casefold() for word in words])


def _says_no_name(words: list[str]) -> bool:
    if words[0] in ACTION_VERBS or words[0] in NOISE_STARTS:
        return True
    if any(word.removesuffix("'s") in TIME_WORDS for word in words):
        return True
    if words[-1] in GENERIC_TAILS or all(word in STYLE_WORDS for word in words):
        return True
    return is_prose(words)


def is_prose(words: list[str]) -> bool:
    """Return whether more than `MAX_COMMON_SHARE` of casefolded words are common ones.

    A contraction counts as its first part: "don't" as "don", "l'eau" as "l".
    """
    common = sum(word in COMMON_WORDS or word.split("'")[0] in COMMON_WORDS for word in words)
    return common > MAX_COMMON_SHARE * len(words)


def _is_shouted(words: list[str]) -> bool:
    """Return whether a phrase is set in capitals; short acronyms beside each other are not."""
    if not all(word.isupper() for word in words):
        return False
    return len(words) > 3 or (len(words) > 1 and any(len(word) >= _SHOUTED_WORD for word in words))
