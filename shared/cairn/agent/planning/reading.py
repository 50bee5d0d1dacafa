"""What a ticket says, as far as rules can tell: whom it names, and which playbook fits. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cairn.agent.planning.playbooks import BOOKS, GENERAL
from cairn.agent.planning.playbooks.vocabulary import (
    ALSO,
    CLAIMS,
    DOUBTS,
    FAILING,
    HOW,
    HOW_TO,
    LOCKED,
    MYSELF,
    OTHERS,
    SIGN_IN,
    WHAT,
)
from cairn.text.words import content_words, sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cairn.agent.planning.playbooks.playbook import Playbook
    from cairn.agent.state import Brief

FEWEST_WORDS = 4
"""Content words below which a ticket says too little to look for anything."""

MOST_SENTENCES = 200
"""Of a ticket that are read one by one."""

APART = "|"
"""Between sentences: no beginning of several words spans two."""

_EMAIL = re.compile(
    r"<EMAIL(?:_ADDRESS)?_\d{1,6}>|[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+"
)
_URL = re.compile(r"<URL_\d{1,6}>|https?://[^\s<>\"'\[\](){}]{1,500}")
_AFTER_URL = ".,;:!?"
_AFTER_QUESTION = " !.)\"'\u201d\u2019"
_ELIDED = re.compile(r"(?<=\b\w)'|(?<=\b\w\w)'")
_NUMBERED = re.compile(r"(?m)^[^\S\n]*[2-9][.)](?=\s)")
"""The number of a point of a list after the first: it adds something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A ticket read. `requester` is their address, "" when unknown; `others` are further ones.

    `question` are the sentences that ask for instructions, none where something is broken that the
    title does not ask about. `for_another` is about a person who is only described.
    `doubted`: it was not the requester, or the account is to stay locked. `more`: it brings up
    something that `book` is not about.
    """

    book: Playbook
    requester: str
    others: tuple[str, ...]
    urls: tuple[str, ...]
    question: tuple[str, ...]
    vague: bool
    claims: bool
    for_another: bool
    doubted: bool
    signs_in: bool
    more: bool


def read(brief: Brief) -> Reading:
    """Return what a ticket says."""
    text = f"{brief.title}\n{brief.body}"
    parts = sentences(_NUMBERED.sub(" also ", text))
    heard = [spoken(one) for one in parts]
    said = APART.join(heard)
    book = chosen(said)
    named = list(dict.fromkeys(_folded(one) for one in _EMAIL.findall(text)))
    requester = address(brief.requester)
    first = parts[:MOST_SENTENCES]
    question = _question(brief.title, first)
    few = len(set(content_words(text))) < FEWEST_WORDS
    urls = tuple(dict.fromkeys(one.rstrip(_AFTER_URL) for one in _URL.findall(text)))
    return Reading(
        book=book,
        requester=requester,
        others=tuple(one for one in named if one != requester),
        urls=urls,
        question=question,
        vague=few and not urls and not question,
        claims=bool(_met(said, CLAIMS)),
        for_another=any(_is_of_another(one) for one in heard[:MOST_SENTENCES]),
        doubted=bool(_met(said, DOUBTS)),
        signs_in=bool(_met(said, SIGN_IN)),
        more=any(_brings_up_more(one, book, brief.title) for one in first),
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
    """Return the words of a text between spaces, without accents and apostrophes.

    It is what beginnings match: "can't" is "cant" as many write it, "n'arrive" is "n arrive".
    """
    apart = unicodedata.normalize("NFKD", text)
    bare = "".join(char for char in apart if not unicodedata.combining(char))
    plain = _ELIDED.sub(" ", " ".join(words(bare))).replace("'", "")
    return f" {plain} "


def _met(said: str, group: Iterable[str]) -> set[str]:
    """Return the beginnings that a word of the ticket has; punctuation counts as a space."""
    return {one for one in group if _beginning(one) in said}


def _starts(said: str, group: Iterable[str]) -> bool:
    return any(said.startswith(_beginning(one)) for one in group)


@cache
def _beginning(phrase: str) -> str:
    return spoken(phrase).rstrip()


def _question(title: str, parts: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences that ask for instructions.

    A question beside something that is broken is none, unless it is the title's.
    """
    asking = [one for one in parts if _asks(one)]
    if _asks(title) or _starts(spoken(title), HOW):
        return tuple(dict.fromkeys([title.strip(), *asking]))
    broken = any(_met(spoken(one), FAILING) for one in parts if one not in asking)
    return () if broken else tuple(asking)


def _asks(sentence: str) -> bool:
    said = spoken(sentence)
    if not sentence.rstrip(_AFTER_QUESTION).endswith(("?", "\uff1f")):
        return _starts(said, HOW_TO)
    return bool(_met(said, HOW)) or not WHAT.isdisjoint(said.split()[:1])


def _is_of_another(said: str) -> bool:
    """Return whether a sentence says that somebody else is locked out, and not also who writes."""
    return bool(_met(said, OTHERS) and _met(said, LOCKED)) and MYSELF.isdisjoint(said.split())


def _brings_up_more(sentence: str, book: Playbook, title: str) -> bool:
    """Return whether a sentence is about something else: another playbook's, or added to it."""
    said = spoken(sentence)
    if any(_is_of(said, one) for one in BOOKS if one.looks != book.looks):
        return True
    if not _starts(said, ALSO) or any(_met(said, group) for group in book.topic):
        return False
    own = set(content_words(sentence))
    return len(own) >= FEWEST_WORDS and (bool(book.topic) or own.isdisjoint(content_words(title)))


def _is_of(said: str, book: Playbook) -> bool:
    return all(_met(said, group) for group in (*book.topic, *book.alone))


def address(text: str) -> str:
    """Return the address that is all of `text`, as it is compared; "" for anything else."""
    return _folded(text.strip()) if _EMAIL.fullmatch(text.strip()) else ""


def _folded(one: str) -> str:
    """Return an address as it is compared; placeholders as they are."""
    return one if one.startswith("<") else one.lower()
