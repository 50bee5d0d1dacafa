"""What a speaker takes back: "no, Tuesday" corrects the last statement, "forget that" ends it."""

import re

from cairn.extraction.english import EMPTY

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)
_CLOCK = r"\d{1,2}(?::\d\d)?\s?(?:am|pm)|\d{1,2}:\d\d|noon|midnight"
_SORTS = tuple(
    re.compile(rf"\b(?:{sort})\b", flags)
    for sort, flags in (
        (_DAY, re.I),
        (rf"(?:\d{{1,2}}(?:st|nd|rd|th)? )?{_MONTH}(?: \d{{1,2}}(?:st|nd|rd|th)?)?", re.I),
        (_CLOCK, re.I),
        (r"today|tonight|tomorrow|yesterday|next week|next month|this week|next year", re.I),
        (r"\d+(?:[.,]\d+)*", re.I),
        (r"(?!I\b)[A-Z][\w-]+(?: [A-Z][\w-]+)*", 0),
    )
)
"""Sorts of values; one takes the place of another of its sort, the narrower sorts first."""

_VALUE = re.compile(r"(?:(?<= is )|(?<= are ))[\w-]+$")
"""What any other word may take the place of: the one at the end of "my ... is blue"."""

_OPEN = (
    r"(?:no|nope|sorry|actually|wait|correction|oops|scratch that|i meant?|i meant to say|make that"
    r"|make it|that's wrong|it's|it is|that is|that's|rather)"
)
_SEPARATED = r"[\s,:;.!\u2013\u2014-]+"
_NEW = r"(?:on |at |in )?(?P<new>[\w:.'-]*\w(?: [\w:.'-]*\w){0,3}?)"
_OLD = r"(?:on |at |in )?(?P<old>[\w:.'-]*\w(?: [\w:.'-]*\w){0,3}?)"
_END = r"(?: instead| then)?[.!]*$"
_FORMS = tuple(
    re.compile(form, re.I)
    for form in (
        rf"^(?:{_OPEN}{_SEPARATED})*not {_OLD},? (?:but )?(?:{_OPEN} )?{_NEW}{_END}",
        rf"^(?:{_OPEN}{_SEPARATED})*{_NEW},? not {_OLD}{_END}",
        rf"^(?:{_OPEN}{_SEPARATED})+{_NEW}{_END}",
    )
)
_POLITE = r"^(?:(?:please|ok(?:ay)?|actually|sorry|no|wait|hey|oh)[,.!]? )*"
_TAKE_BACK = (
    r"(?:forget|scratch|disregard|delete|erase|strike"
    r"|(?:don't|do not) (?:remember|save|store|keep))"
)
_SAID = r"what i (?:just )?(?:said|told you|wrote)"
_THAT = rf"(?:that|it|this|{_SAID}|(?:the|my) last (?:message|thing|one))"
_LAST = re.compile(
    rf"{_POLITE}{_TAKE_BACK}(?: about)? {_THAT}(?: again)?(?:,? (?:please|ok|okay))?[.!]*$", re.I
)
_ABOUT = re.compile(
    rf"{_POLITE}{_TAKE_BACK} (?:that|about|{_SAID} about) (?P<what>.+?)[.!]*$",
    re.I,
)
_WORD = re.compile(r"[\w'-]*\w")


def corrected(sentence: str, last: str) -> str | None:
    """Return the last statement as a sentence corrects it; None for a sentence that does not."""
    plain = sentence.strip()
    for form in _FORMS:
        match = form.match(plain)
        if match is None:
            continue
        return _in_place(match["new"], match.groupdict().get("old"), last)
    return None


def _in_place(new: str, old: str | None, last: str) -> str | None:
    """Return the statement with its one value of the same sort, or `old`, replaced; else None."""
    sort = next((sort for sort in _SORTS if sort.fullmatch(new)), _VALUE)
    matches = [each for each in sort.finditer(last) if each.start()]
    if old is not None:
        matches = [each for each in matches if each[0].casefold() == old.casefold()]
    if (
        len(matches) != 1
        or matches[0][0].casefold() == new.casefold()
        or (" " in new and sort is _VALUE)
    ):
        return None
    return f"{last[: matches[0].start()]}{new}{last[matches[0].end() :]}"


def taken_back(sentence: str) -> frozenset[str] | None:
    """Return what a sentence asks to forget: words of it, none for what was said last.

    None for a sentence that asks nothing of the kind.
    """
    plain = sentence.strip().replace("\u2019", "'")
    if _LAST.match(plain):
        return frozenset()
    about = _ABOUT.match(plain)
    words = _WORD.findall(about["what"].lower()) if about else []
    return frozenset(word for word in words if word not in EMPTY) or None
