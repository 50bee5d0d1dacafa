"""Who is who to a speaker: "my sister Anna", "Rohan, my boyfriend", "her name is Biscuit"."""

import re
from collections.abc import Iterator

from cairn.extraction.english import RELATIONS

_TITLED = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?"
_SURNAMES = "(?: (?:de |van |von |Le )?[A-Z][a-z\u00e0-\u017f-]+){0,3}"
_NAME = rf"(?P<name>{_TITLED}[A-Z][\w-]{{0,40}}\w{_SURNAMES})"
_RELATION = rf"(?P<relation>{'|'.join(sorted(RELATIONS, key=len, reverse=True))})"
_OWN = r"\b(?:[Mm]y|[Oo]ur)"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_OWN}(?: \w+)? {_RELATION}(?:,| is called| is named|'s name is)? {_NAME}",
        rf"{_NAME}, my(?: \w+)? {_RELATION}\b",
        rf"{_NAME} is my(?: \w+)? {_RELATION}\b",
        rf"\bnamed my(?: new)? {_RELATION} {_NAME}",
    )
)
_CALLED = re.compile(rf"\b(?:[Hh]er|[Hh]is|[Ii]ts) name is {_NAME}")
SPOKEN_OF = re.compile(rf"\b(?:my|our|an?) (?:\w+ )?(?:{_RELATION}|kids)\b", re.I)
"""Somebody of the speaker's is spoken of: who "he" or "she" may be afterwards."""

_NO_NAMES = frozenset({"I", "We", "The", "He", "She", "They", "It"})


def relations(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the names in a sentence and what each is to the speaker; "" where it does not say."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(sentence):
            first = match["name"].split()[0]
            if first not in _NO_NAMES and not first.endswith("ly"):
                yield match["name"], match["relation"]
    if called := _CALLED.search(sentence):
        yield called["name"], ""
