"""What a wish is tied to: place, time, language, terms, how it is done. Pure; rules of words.

A qualifier that the other side contradicts is a conflict; one that it says nothing about is a
question to it. Membership of a network is never taken for an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

_TIMES = (
    r"(?:(?:by|before|until|from|in|this|next|on)\s+)?(?:january|february|march|april|"
    r"may(?= \d|,|\.)|june|july|august|september|october|november|december|"
    r"spring|summer|autumn|winter|weekends?|weekdays|evenings?|mornings?|mondays?|tuesdays?|wednesdays?|thursdays?|"
    r"fridays?|saturdays?|sundays?)"
)
_LANGUAGES = (
    r"(?:english|german|french|spanish|italian|dutch|danish|norwegian|swedish|finnish|polish|czech|"
    r"portuguese|greek|turkish|arabic|persian|farsi|hebrew|russian|ukrainian|hindi|urdu|mandarin|"
    r"chinese|japanese|korean|welsh|irish|gaelic|catalan|basque|hungarian|romanian|bulgarian)"
)
_PAPERS = r"(?:licen[cs]ed?|certified|certificate|qualified|registered|insured|accredited)"
_KINDS: Sequence[tuple[str, re.Pattern[str]]] = tuple(
    (kind, re.compile(rf"\b{words}\b", re.IGNORECASE))
    for kind, words in (("time", _TIMES), ("language", _LANGUAGES), ("papers", _PAPERS))
)

_FREE = re.compile(
    r"\b(volunteer\w*|for free|free of charge|at no (?:cost|charge)|unpaid|pro bono|"
    r"giv(?:e|es|ing) (?:it |them )?away|donat\w+|as a gift|no (?:money|budget|pay|fee)|"
    r"(?:no longer|not) (?:needed|used|wanted|needs?|uses?|wants?|serves?))\b",
    re.IGNORECASE,
)
_PRICED = re.compile(
    r"\b((?:day|daily|hourly|list|fixed) (?:rate|price|fee)s?|price list|rates? (?:of|from)|"
    r"per (?:hour|day|week|month|session)|\d+ an? (?:hour|day|week|month|session)|paid|"
    r"invoices?)\b|[€$£]\s?\d",
    re.IGNORECASE,
)
_EQUITY = re.compile(r"\b(?:for|some|in) (?:shares|equity)\b|\bshares\b|\bequity\b", re.IGNORECASE)
_NO_EQUITY = re.compile(
    r"\b(?:no|not for|without) (?:shares|equity)\b|\b(?:cash|salary) only\b", re.IGNORECASE
)
_SWAP = re.compile(
    r"\b(swap\w*|barter\w*|trad(?:e|es|ing) (?:for|my|our|your)|in return|in exchange|exchange)\b",
    re.IGNORECASE,
)
_REMOTE = re.compile(
    r"\b(remote(?:ly)?|online|from anywhere|by video|video calls?|over the phone)\b", re.IGNORECASE
)
_ON_SITE = re.compile(
    r"\b(on[- ]site|in person|face to face|hands[- ]on|at our (?:office|workshop|place))\b",
    re.IGNORECASE,
)
_ROAMS = re.compile(
    r"\b(anywhere|everywhere|worldwide|between|along|travels?|willing to travel|across)\b",
    re.IGNORECASE,
)
_FULL = re.compile(r"\bfull[- ]time\b", re.IGNORECASE)
_PART = re.compile(
    r"\b(?:part[- ]time|(?:one|two|three|a few|some) (?:days?|hours?|evenings?) (?:a|per) week)\b",
    re.IGNORECASE,
)


def _says(pattern: re.Pattern[str], *, unless: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: bool(pattern.search(text)) and not unless.search(text)


_OPPOSITES: Sequence[tuple[str, Callable[[str], bool], Callable[[str], bool]]] = (
    ("free or paid", _says(_FREE, unless=_PRICED), _says(_PRICED, unless=_FREE)),
    ("shares", _says(_EQUITY, unless=_NO_EQUITY), lambda text: bool(_NO_EQUITY.search(text))),
    ("swap or pay", _says(_SWAP, unless=_PRICED), _says(_PRICED, unless=_SWAP)),
    ("remote or on site", _says(_REMOTE, unless=_ON_SITE), _says(_ON_SITE, unless=_REMOTE)),
    ("full or part time", _says(_FULL, unless=_PART), _says(_PART, unless=_FULL)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was checked: conflicts by what they are about, and what nothing was said of."""

    wrong_place: bool = False
    conflicts: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What one of the two says: the wish, what they are, and where they are."""

    wish: str
    about: str = ""
    location: str = ""


def check(asker: Words, other: Words, places: Collection[str]) -> Checked:
    """Hold each qualifier of the asker's wish against what the other says, and back.

    `places` are the names of places that somebody in question lives in.
    """
    conflicts = [
        about
        for about, one_way, other_way in _OPPOSITES
        if (one_way(asker.wish) and other_way(other.wish))
        or (one_way(other.wish) and other_way(asker.wish))
    ]
    return Checked(
        wrong_place=_wrong_place(asker, other, places),
        conflicts=tuple(conflicts),
        missing=_missing(asker, other, places),
    )


def places_in(text: str, places: Collection[str]) -> set[str]:
    """Return those of the places that a text names."""
    folded = text.casefold()
    return {
        place
        for place in places
        if place and re.search(rf"(?<!\w){re.escape(place.casefold())}(?!\w)", folded)
    }


def _wrong_place(asker: Words, other: Words, places: Collection[str]) -> bool:
    """Return whether a wish names a place where the other neither lives nor wants to be."""
    here, there = _bound_to(asker.wish, places), _bound_to(other.wish, places)
    if here & there:
        return False
    return bool(here and other.location and not _lives(other, here)) or bool(
        there and asker.location and not _lives(asker, there)
    )


def _bound_to(wish: str, places: Collection[str]) -> set[str]:
    """Return the places that a wish is bound to: who works from anywhere or travels has none."""
    if _REMOTE.search(wish) or _ROAMS.search(wish):
        return set()
    return places_in(wish, places)


def _lives(person: Words, places: Collection[str]) -> bool:
    return bool(places_in(person.location, places))


def _missing(asker: Words, other: Words, places: Collection[str]) -> tuple[str, ...]:
    says = f"{other.wish} {other.about}".casefold()
    missing = [
        phrase
        for _, pattern in _KINDS
        for phrase in dict.fromkeys(match[0].strip() for match in pattern.finditer(asker.wish))
        if phrase.casefold().split()[-1] not in says
    ]
    if not other.location:
        missing += sorted(places_in(asker.wish, places) - places_in(says, places))
    return tuple(missing)
