"""What a ticket says, as far as rules can tell: whom it names, and which playbook fits. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.agent.planning.playbooks import BOOKS, GENERAL
from cairn.agent.planning.playbooks.vocabulary import CLAIMS, HOW
from cairn.text.words import content_words, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cairn.agent.planning.playbooks.playbook import Playbook
    from cairn.agent.state import Brief

FEWEST_WORDS = 4
"""Content words below which a ticket says too little to look for anything."""

_EMAIL = re.compile(
    r"<EMAIL(?:_ADDRESS)?_\d{1,6}>|[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+"
)
_URL = re.compile(r"<URL_\d{1,6}>|https?://[^\s<>\"'\[\](){}]{1,500}")
_AFTER_URL = ".,;:!?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A ticket read. `requester` is their address, "" when unknown; `others` are further ones."""

    book: Playbook
    requester: str
    others: tuple[str, ...]
    urls: tuple[str, ...]
    vague: bool
    asks_how: bool
    claims: bool


def read(brief: Brief) -> Reading:
    """Return what a ticket says."""
    text = f"{brief.title}\n{brief.body}"
    said = spoken(text)
    named = list(dict.fromkeys(_folded(one) for one in _EMAIL.findall(text)))
    requester = _folded(brief.requester) if _EMAIL.fullmatch(brief.requester.strip()) else ""
    asks_how = _asks_how(brief)
    few = len(set(content_words(text))) < FEWEST_WORDS
    urls = tuple(dict.fromkeys(one.rstrip(_AFTER_URL) for one in _URL.findall(text)))
    return Reading(
        book=chosen(said),
        requester=requester,
        others=tuple(one for one in named if one != requester),
        urls=urls,
        vague=few and not urls and not asks_how,
        asks_how=asks_how,
        claims=bool(_met(said, CLAIMS)),
    )


def chosen(said: str) -> Playbook:
    """Return the playbook whose every group is met, by the most words; GENERAL when none is."""
    best, most = GENERAL, 0
    for book in BOOKS:
        met = [_met(said, group) for group in book.topic]
        score = sum(len(one) for one in met) + book.weight if all(met) else 0
        if score > most:
            best, most = book, score
    return best


def spoken(text: str) -> str:
    """Return the words of a text between spaces, without accents: what beginnings match."""
    apart = unicodedata.normalize("NFKD", text)
    bare = "".join(char for char in apart if not unicodedata.combining(char))
    return f" {' '.join(words(bare))} "


def _met(said: str, group: Iterable[str]) -> set[str]:
    """Return the beginnings that a word of the ticket has; punctuation counts as a space."""
    return {one for one in group if f" {' '.join(words(one))}" in said}


def _asks_how(brief: Brief) -> bool:
    """Return whether a sentence of the ticket is a question for instructions."""
    title, body = spoken(brief.title), spoken(brief.body)
    if any(title.startswith(f" {one}") for one in HOW):
        return True
    return "?" in f"{brief.title}{brief.body}" and bool(_met(title + body, HOW))


def _folded(address: str) -> str:
    """Return an address as it is compared; placeholders as they are."""
    bare = address.strip()
    return bare if bare.startswith("<") else bare.lower()
