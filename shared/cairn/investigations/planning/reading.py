"""What a ticket says, as far as rules can tell: whom it names, and which playbook fits. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cairn.investigations.planning.covering import ANYONE, NO_WORDS, plain, unsigned, unwrapped
from cairn.investigations.planning.playbooks import BOOKS, GENERAL
from cairn.investigations.planning.playbooks.lexicon import ALARMS, COMMON, NEGATIONS, STRANGERS
from cairn.investigations.planning.playbooks.vocabulary import (
    CLAIMS,
    DOUBTS,
    HOW,
    HOW_TO,
    LOCKED,
    MYSELF,
    OTHERS,
    SIGN_IN,
    WHAT,
)
from cairn.kernel.text.words import content_words, sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cairn.investigations.planning.playbooks.playbook import Playbook
    from cairn.investigations.state import Brief

FEWEST_WORDS = 4
"""Content words below which a ticket says too little to look for anything."""

MOST_SENTENCES = 200
"""Of a ticket that are read one by one."""

APART = "|"
"""Between sentences: no beginning of several words spans two."""

_EMAIL = re.compile(
    r"<EMAIL(?:_ADDRESS)?_\d{1,6}>|"
    r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+"
)
_URL = re.compile(r"<URL_\d{1,6}>|https?://[^\s<>\"'\[\](){}]{1,500}")
_AFTER_URL = ".,;:!?"
_AFTER_QUESTION = " !.)\"'\u201d\u2019"
_BEFORE = re.compile(
    r".{1,200}?[,:;\u2013-]\s+(?:and |so |but )?(?=(?:(?:after|for|in|under|at|by|"
    r"within) )?(?:how|where|"
    r"what|which|when|is it possible|can i|can we|may i|wie|wo|was|wann|comment|"
    r"o\u00f9|quand|c\u00f3mo|"
    r"d\u00f3nde|cu\u00e1ndo)\b)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\b(?:can|could|would|will|may) (?:some|any)(?:one|body)\b|\bkonnte jemand\b"
)
_ELIDED = re.compile(r"(?<=\b\w)'|(?<=\b\w\w)'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A ticket read. `requester` is their address, "" when unknown; `others` are further ones.

    `question` are the sentences that ask for instructions. `for_another` is about a person who is
    only described.
    `doubted`: it was not the requester, or something was lost, stolen or strange.
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


def read(brief: Brief) -> Reading:
    """Return what a ticket says."""
    text = f"{brief.title}\n{brief.body}"
    parts = sentences(unwrapped(text))
    heard = [spoken(one) for one in parts]
    said = APART.join(heard)
    told = sentences(unwrapped(unsigned(brief.body, ANYONE)))[:MOST_SENTENCES]
    book = chosen(APART.join(spoken(one) for one in (brief.title, *told)))  # "Legal" signs, too
    named = list(dict.fromkeys(_folded(one) for one in _EMAIL.findall(text)))
    requester = address(brief.requester)
    question = _question(brief.title, told)
    few = len(_telling(text, brief.language)) < FEWEST_WORDS
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
        doubted=bool(_met(said, DOUBTS)) or any(_is_doubtful(one) for one in heard),
        signs_in=bool(_met(said, SIGN_IN)),
    )


def _telling(text: str, language: str) -> set[str]:
    """Return the words of a text that are neither grammar nor politeness."""
    common = COMMON.get(language, NO_WORDS)
    return {
        one
        for one in content_words(text)
        if not common.has(plain(one)) and not NEGATIONS.has(plain(one))
    }


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
    return tuple(asking)


def _asks(sentence: str) -> bool:
    said = spoken(asked_part(sentence))
    if not sentence.rstrip(_AFTER_QUESTION).endswith(("?", "\uff1f")):
        return _starts(said, HOW_TO)
    return bool(_met(said, HOW)) or not WHAT.isdisjoint(said.split()[:1])


def _is_doubtful(said: str) -> bool:
    """Return whether a sentence speaks of loss or attack, or of a stranger at an account."""
    if any(ALARMS.has(one) for one in said.split()):
        return True
    stranger = any(STRANGERS.has(one) for one in _REQUEST.sub(" ", said).split())
    return stranger and bool(_met(said, SIGN_IN))


def asked_part(sentence: str) -> str:
    """Return a question without what stands before it: "Hi, quick question: how do I ...?"."""
    found = _BEFORE.match(sentence)
    return sentence[found.end() :] if found else sentence


def _is_of_another(said: str) -> bool:
    """Return whether a sentence says that somebody else is locked out, and not also who writes."""
    return bool(_met(said, OTHERS) and _met(said, LOCKED)) and MYSELF.isdisjoint(said.split())


def address(text: str) -> str:
    """Return the address that is all of `text`, as it is compared; "" for anything else."""
    return _folded(text.strip()) if _EMAIL.fullmatch(text.strip()) else ""


def _folded(one: str) -> str:
    """Return an address as it is compared; placeholders as they are."""
    return one if one.startswith("<") else one.lower()
