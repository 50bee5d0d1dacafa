"""Which passage of a document answers a question that was asked, and which is only near it. Pure.

A passage answers when each word that matters in the question stands in it: the verb of a question
how to do something in its heading or after "to", and the number that is asked for in the sentence.
All else is near: it is shown to a person, and not sent. The order of the evidence changes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, cast

import snowballstemmer

from cairn.investigations import citations
from cairn.investigations.citations import Kind
from cairn.investigations.planning.playbooks.lexicon import NEGATIONS
from cairn.investigations.planning.playbooks.questions import (
    ALIKE,
    COUNTING,
    DRESSING,
    DURATION,
    NUMBERS,
    QUANTIFIERS,
    QUANTITY,
    STRICT,
    TIMES,
)
from cairn.kernel.text.language import language_of
from cairn.kernel.text.words import content_words, sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cairn.investigations.state import Evidence, WorkingMemory

FEWEST = 3
"""Words a text has to share with title and body to be near; of a short title all are enough."""

FEWEST_ASKED = 2
"""Words that matter in a question: fewer are met by accident."""

SHARE = 0.5
"""Of the title's words a text has to share."""

QUOTE_CHARS = 500
COUNTED_WITHIN = 4
"""Words from a number on, among which is what it counts: "five failed sign-ins"."""

ENGLISH = "en"
_ENDS = (".", "!", "\u3002", "\uff01")
_HEADING = re.compile(r"^#{1,6}\s+")
_BREAK = re.compile(r"\n\s*\n|\n(?=#{1,6}\s|[-*]\s|\d{1,3}[.)]\s)")
_DEED = re.compile(
    r"\b(?:how (?:do|does|can|could|would|should|may|might|must|to)|is it possible(?: for \w+)? to|"
    r"is there (?:a|any|some) (?:\w+ )?way(?: for \w+)? to|the (?:\w+ )?way to|"
    r"what (?:do|must|should|can) (?:i|we) (?:\w+ ){0,2}do (?:in order )?to|(?:can|could|"
    r"may) (?=i |we ))"
    r"(?: (?:i|we|you|one|people|users|it|be possible to))? (?P<rest>.*)"
)
_PURPOSE = re.compile(r"\b[Tt]o (?P<deed>[^,.;:]{1,120})")
_STEMMING = Lock()
_SNOWBALL = {"en": "english", "de": "german", "fr": "french", "es": "spanish"}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgePassage:
    """A passage: its citation, and its whole sentences from the one that fits best.

    `answers` when it answers all that is asked; else it is near.
    """

    citation: str
    sentences: tuple[str, ...]
    answers: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A paragraph of a document and the headings it stands below; `whole` are its sentences."""

    citation: str
    heading: str
    text: str
    whole: tuple[str, ...]


def best_known(memory: WorkingMemory, question: Sequence[str] = ()) -> KnowledgePassage | None:
    """Return the passage that answers `question`, else one that is near; None without either.

    `question` are the sentences of the ticket that ask for instructions. Only documents: what
    agents remember is not theirs to send to a requester.
    """
    results = (passage for evidence in memory.evidence for passage in _passages(evidence))
    passages = sorted(results, key=_order)
    language = memory.brief.language
    for passage in passages if question else ():
        if (answer := _answer(passage, question, language)) is not None:
            return KnowledgePassage(citation=passage.citation, sentences=answer, answers=True)
    return _near(memory, passages, question)


def matter(question: str, language: str) -> frozenset[str]:
    """Return the stems of the words of a question that a passage has to have."""
    dressing = DRESSING.get(language, frozenset[str]())
    tokens = words(question)
    if _asks_amount(tokens):
        dressing |= COUNTING
    strict = frozenset(item for item in tokens if item in STRICT)
    return strict | stems(" ".join(item for item in tokens if item not in dressing), language)


def stems(text: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the stems of a text's content words; words that mean the same have one."""
    name = _SNOWBALL.get(language, "english")
    strict = (word for word in words(text) if word in STRICT)
    return frozenset([*(_alike(_stem(word, name)) for word in content_words(text)), *strict])


def _answer(passage: Passage, question: Sequence[str], language: str) -> tuple[str, ...] | None:
    """Return the sentences that answer every sentence of the question; None when they do not."""
    if (language_of(f"{passage.heading}. {passage.text}") or ENGLISH) != language:
        return None
    places = [_fitting(name, passage, language) for name in question]
    fitting = [place for place in places if place is not None]
    if not fitting or len(fitting) < len(places):
        return None
    return _cut(passage.whole[min(fitting) :])


def _fitting(question: str, passage: Passage, language: str) -> int | None:
    """Return the place of the sentence that answers one sentence of a question; None without."""
    stems_asked, tokens = matter(question, language), words(question)
    heading = stems(passage.heading, language)
    if len(stems_asked) < FEWEST_ASKED or _denies(tokens):
        return None
    if not stems_asked <= heading | stems(passage.text, language):
        return None
    counted, deed = _counted(tokens, language), _deed(question, language)
    for place, sentence in enumerate(passage.whole):
        own = stems(sentence, language)
        if counted:
            fits = stems_asked <= own and _counts(sentence, counted, language)
        elif deed:
            said_so = _deeds(passage.heading, language) | _purposes(sentence, language)
            fits = deed in said_so and bool(stems_asked & own)
        else:
            fits = stems_asked <= heading | own
        if fits and not _denies(words(sentence)):
            return place
    return None


def _near(
    memory: WorkingMemory, passages: Sequence[Passage], question: Sequence[str]
) -> KnowledgePassage | None:
    """Return the passage that shares the most words with the ticket, if enough."""
    brief = memory.brief
    title = stems(brief.title)
    question_stems = stems(" ".join(question)) if question else title | stems(brief.body[:1000])
    best: Passage | None = None
    most = 0
    for passage in passages:
        text = stems(f"{passage.heading} {passage.text}")
        both = len(question_stems & text)
        if question:
            enough = both >= SHARE * len(question_stems)
        else:
            shares = len(title & text)
            enough = both > FEWEST or (
                shares >= max(1, SHARE * len(title)) and (both >= FEWEST or both == shares >= 2)
            )
        if enough and both > most:
            best, most = passage, both
    if best is None:
        return None
    return KnowledgePassage(citation=best.citation, sentences=_cut(best.whole), answers=False)


def _passages(evidence: Evidence) -> Iterator[Passage]:
    """Yield the paragraphs of a part of a document, none of anything else."""
    cited = citations.parse(evidence.citation)
    if cited is None or cited.kind is not Kind.DOC:
        return
    heading = " ".join(cited.headings)
    for block in _BREAK.split(evidence.text):
        lines = [line.strip() for line in block.strip().splitlines() if line.strip()]
        while lines and _HEADING.match(lines[0]):
            heading = f"{' '.join(cited.headings[:1])} {_HEADING.sub('', lines.pop(0))}"
        text = " ".join(lines)
        whole = tuple(sentence for sentence in sentences(text) if _is_whole(sentence))
        if whole:
            yield Passage(citation=evidence.citation, heading=heading, text=text, whole=whole)


def _order(passage: Passage) -> tuple[bool, int, str, str]:
    """Return what passages are sorted by: a place in a document before a summary of all of it."""
    cited = citations.parse(passage.citation)
    exact = cited is not None and (cited.lines or cited.pages) is not None
    return not exact, len(passage.text), passage.text, passage.citation


def _is_whole(sentence: str) -> bool:
    first = sentence.lstrip("\"'\u201c\u201e\u00ab(*-> ")[:1]
    return (
        bool(first) and not first.islower() and sentence.rstrip("\"'\u201d\u00bb)").endswith(_ENDS)
    )


def _cut(whole: Sequence[str]) -> tuple[str, ...]:
    names: list[str] = []
    for name in whole:
        if names and sum(map(len, names)) + len(name) > QUOTE_CHARS:
            break
        names.append(name)
    return tuple(names)


def _deed(question: str, language: str) -> str | None:
    match = _DEED.search(" ".join(words(question))) if language == ENGLISH else None
    if match is None:
        return None
    stems_asked = matter(question, language)
    inside = (stems(part, language) & stems_asked for part in match["rest"].split())
    return next((min(item) for item in inside if item), "")


def _purposes(sentence: str, language: str) -> frozenset[str]:
    """Return the verbs that a sentence says what it is for with: "To invite a colleague, open"."""
    if language != ENGLISH or not sentence.startswith("To "):
        return frozenset()
    match = _PURPOSE.match(sentence)
    return stems(match["deed"].split()[0], language) if match else frozenset()


def _deeds(heading: str, language: str) -> frozenset[str]:
    """Return the stems of a heading's words that may be deeds: "Suspended accounts" has none."""
    return stems(" ".join(word for word in words(heading) if not word.endswith("ed")), language)


def _asks_amount(tokens: Sequence[str]) -> bool:
    return not {*pairwise(tokens), *((name,) for name in tokens)}.isdisjoint(QUANTITY)


def _counted(tokens: Sequence[str], language: str) -> frozenset[str]:
    """Return the stems of what a question wants the number of; none when it wants no number."""
    if not _asks_amount(tokens):
        return frozenset()
    if not set(pairwise(tokens)).isdisjoint(DURATION):
        return TIMES
    asks = next(
        place
        for place, pair in enumerate(zip(tokens, [*tokens[1:], ""], strict=True))
        if pair in QUANTITY or pair[:1] in QUANTITY
    )
    after = (_stemmed(name, language) for name in tokens[asks + 1 :] if name not in QUANTIFIERS)
    return frozenset([next(after, "")])


def _counts(sentence: str, counted: frozenset[str], language: str) -> bool:
    tokens = words(sentence)
    return any(
        (text in NUMBERS or text[:1].isdigit())
        and any(
            _stemmed(each, language) in counted for each in tokens[place : place + COUNTED_WITHIN]
        )
        for place, text in enumerate(tokens)
    )


def _stemmed(word: str, language: str) -> str:
    return _alike(_stem(word, _SNOWBALL.get(language, "english")))


def _denies(tokens: Sequence[str]) -> bool:
    return any(NEGATIONS.has(name.replace("'", "")) for name in tokens)


@cache
def _alike(stem: str) -> str:
    groups = (frozenset(_stem(item, "english") for item in group) for group in ALIKE)
    return next((min(group) for group in groups if stem in group), stem)


class _Stemmer(Protocol):
    """The part of a snowball stemmer that is used; it serves one thread at a time."""

    def stemWord(self, word: str) -> str: ...


@lru_cache(maxsize=10_000)
def _stem(word: str, name: str) -> str:
    with _STEMMING:
        return _stemmer(name).stemWord(word)


@cache
def _stemmer(name: str) -> _Stemmer:
    return cast("_Stemmer", cast("Any", snowballstemmer).stemmer(name))
