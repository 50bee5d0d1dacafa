"""What a question asks for, by rules: its terms, names, times and class. No model, no lookups."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache

from cairn.kernel.text.language import common_words, language_of
from cairn.kernel.text.pairs import searchable
from cairn.kernel.text.words import QUESTION_WORDS, STOP_WORDS, content_words, words
from cairn.recall.questions.small_talk import small_talk

MARGIN = timedelta(days=14)
"""How far outside the named time a moment still counts a little; it falls linearly to nothing."""

MONTHS: tuple[str, ...] = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_WORDS_OF_TIME = """
    yesterday today tonight tomorrow recently since ago last weekend day days week weeks month
    months year years monday tuesday wednesday thursday friday saturday sunday spring summer autumn
    winter
"""
TIME_WORDS = frozenset(_WORDS_OF_TIME.split()).union(MONTHS, map(str, range(1900, 2100)))
"""Words of which one at least is in nearly every text that says when something was."""

_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}

_MONTH = "|".join(MONTHS)
_ISO = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
_DAY_FIRST = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<name>{_MONTH})\b"
    r"(?:,?\s+(?P<year>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<name>{_MONTH})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_MONTH_ALONE = re.compile(
    rf"\b(?P<name>{_MONTH})\b(?:,?\s+(?P<year>(?:19|20)\d\d))?", re.IGNORECASE
)
_VERB_OR_MONTH = re.compile(
    r"\b(?:in|on|of|since|during|by|until|early|late|mid|last|this|next)\s+(?:may|march)\b"
    r"|\b(?:may|march),?\s+(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?P<year>(?:19|20)\d\d)\b")
_AGO = re.compile(
    rf"\b(?P<number>\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(?:of\s+)?(?P<unit>day|week|month|year)s?\s+ago\b",
    re.IGNORECASE,
)
_RECENT = re.compile(
    r"\b(?:(?P<word>today|tonight|yesterday)"
    r"|(?P<which>this|last|past)\s+(?:(?P<number>\d{1,3})\s+)?(?P<unit>day|week|month|year)s?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeHint:
    """A time a question names: a span, or a calendar date of which parts may be missing.

    `start` and `end` are set together and exclude the calendar fields. Without a year the date
    means that of any year.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    start: datetime | None = None
    end: datetime | None = None

    def spans(self, around: datetime) -> list[tuple[datetime, datetime]]:
        """Return the [start, end) spans the hint can mean near `around`."""
        if self.start and self.end:
            return [(self.start, self.end)]
        return _spans(self.year, self.month, self.day, around.year)


def time_hint(question: str, asked_at: datetime) -> TimeHint | None:
    """Return the time `question` names, relative words read from `asked_at`; None for none."""
    return _date(question) or _relative(question, asked_at) or _month_or_year(question)


def nearness(hint: TimeHint, moment: datetime) -> float:
    """Return 1 inside the hinted time, falling to 0 at `MARGIN` outside it."""
    best = 0.0
    for start, end in hint.spans(moment):
        if start <= moment < end:
            return 1.0
        outside = start - moment if moment < start else moment - end
        best = max(best, 1.0 - outside / MARGIN)
    return best


def _date(question: str) -> TimeHint | None:
    if match := _ISO.search(question):
        day = match["day"]
        return _checked(int(match["year"]), int(match["month"]), int(day) if day else None)
    match = _DAY_FIRST.search(question) or _MONTH_FIRST.search(question)
    if not match:
        return None
    year = int(match["year"]) if match["year"] else None
    return _checked(year, _month(match["name"]), int(match["day"]))


def _month_or_year(question: str) -> TimeHint | None:
    for match in _MONTH_ALONE.finditer(question):
        name = match["name"].casefold()
        if name in ("may", "march") and not _VERB_OR_MONTH.search(question):
            continue
        return TimeHint(year=int(match["year"]) if match["year"] else None, month=_month(name))
    match = _YEAR.search(question)
    return TimeHint(year=int(match["year"])) if match else None


def _relative(question: str, asked_at: datetime) -> TimeHint | None:
    midnight = asked_at.replace(hour=0, minute=0, second=0, microsecond=0)
    tomorrow = midnight + timedelta(days=1)
    if match := _AGO.search(question):
        word = match["number"].casefold()
        days = (int(word) if word.isdigit() else _NUMBERS[word]) * _DAYS[match["unit"].casefold()]
        start = midnight - timedelta(days=days)
        return TimeHint(start=start, end=start + timedelta(days=1))
    if not (match := _RECENT.search(question)):
        return None
    if match["word"]:
        back = timedelta(days=1 if match["word"].casefold() == "yesterday" else 0)
        return TimeHint(start=midnight - back, end=tomorrow - back)
    length = timedelta(days=int(match["number"] or 1) * _DAYS[match["unit"].casefold()])
    back = length if match["which"].casefold() == "last" and not match["number"] else timedelta()
    return TimeHint(start=midnight - length - back, end=tomorrow)


def _month(name: str) -> int:
    return MONTHS.index(name.casefold()) + 1


def _checked(year: int | None, month: int, day: int | None) -> TimeHint | None:
    if _calendar(year or 2000, month, day) is None:
        return None
    return TimeHint(year=year, month=month, day=day)


@lru_cache(maxsize=1024)
def _spans(
    year: int | None, month: int | None, day: int | None, around: int
) -> list[tuple[datetime, datetime]]:
    years = [year] if year else range(around - 1, around + 2)
    return [span for each in years if (span := _calendar(each, month, day))]


def _calendar(year: int, month: int | None, day: int | None) -> tuple[datetime, datetime] | None:
    try:
        start = datetime(year, month or 1, day or 1, tzinfo=UTC)
    except ValueError:  # a day the month does not have, in this year at least
        return None
    if day:
        return start, start + timedelta(days=1)
    if month and month < 12:
        return start, datetime(year, month + 1, 1, tzinfo=UTC)
    return start, datetime(year + 1, 1, 1, tzinfo=UTC)


MAX_TERMS = 32

_WEAK = """
    also anything current currently ever get getting go goes going gone got kind like likely made
    make makes many may might mention mentioned much name named one said say says something sort
    tell thing things told type use used went
"""
WEAK_WORDS = frozenset(_WEAK.split())
"""Content words that questions are built with and that match almost anything."""


class RetrievalClass(StrEnum):
    """What kind of answer a question wants."""

    NONE = "none"  # small talk, or no word at all: nothing to look up
    TEMPORAL = "temporal"  # asks when, or names a time
    EVENT = "event"  # asks what happened
    ENTITY = "entity"  # asks who or what somebody or something is
    GENERAL = "general"


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """A question, taken apart.

    `terms` are the words of the keyword query, casefolded, distinct, in order. `names` are what
    capitals mark as names, casefolded, and "the user" or "the assistant"; `hint` is the time the
    question names; `asks_when` says that the answer is a time, `asks_when_it_was` one in the past.
    `language` is ISO 639-1, None when unknown. `of_asker` says that it is in the first person or
    about "the user", and `client_id` which client that is, where one is known.
    """

    terms: tuple[str, ...]
    names: frozenset[str]
    hint: TimeHint | None
    asks_when: bool
    retrieval_class: RetrievalClass
    language: str | None = None
    asks_when_it_was: bool = False
    of_asker: bool = False
    client_id: str | None = None

    @property
    def time_terms(self) -> frozenset[str]:
        """Return the terms that name its time: what happened then need not have these words."""
        if self.hint is None:
            return frozenset()
        return frozenset(term for term in self.terms if term in TIME_WORDS or term.isdigit())


_ASKS_WHEN = re.compile(
    r"^\W*(?:when|how long|since when"
    r"|(?:in |on |at )?(?:what|which) (?:date|day|month|year|time))\b",
    re.IGNORECASE,
)
_PAST = re.compile(r"\b(?:did|was|were|had|have|has|used to)\b", re.IGNORECASE)
_ASKS_EVENT = re.compile(r"\bwhat (?:happened|took place|went wrong|occurred)\b", re.IGNORECASE)
_ASKS_ENTITY = re.compile(r"^\W*(?:who|whom|whose|what is|what's|which)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_][\w'\u2019-]*")


def understand(question: str, asked_at: datetime) -> Understanding:
    """Take `question` apart; relative times are read from `asked_at`."""
    hint = time_hint(question, asked_at)
    asks_when = bool(_ASKS_WHEN.search(question))
    terms = _terms(question)
    language = language_of(question)
    return Understanding(
        terms=terms,
        names=_names(question, language),
        hint=hint,
        asks_when=asks_when,
        retrieval_class=_class_of(question, terms, temporal=asks_when or hint is not None),
        language=language,
        asks_when_it_was=asks_when and bool(_PAST.search(question)),
        of_asker=about_asker(question) or "user" in _parts_named(question),
    )


def _terms(question: str) -> tuple[str, ...]:
    """Return the content words, the weak ones only when there is nothing else.

    A word of a script without spaces is looked for by pairs of its characters.
    """
    content = content_words(question)
    who = _parts_named(question)
    strong = [word for word in content if word not in WEAK_WORDS and word not in who]
    chosen = strong or content or words(question)
    terms = dict.fromkeys(part for word in chosen for part in searchable(word))
    return tuple(terms)[:MAX_TERMS]


_SPEAKER = re.compile(r"\bthe (user|assistant)\b", re.IGNORECASE)
"""Whom nobody named is called by their part in a conversation, also where they are quoted."""


def _parts_named(question: str) -> frozenset[str]:
    """Return "user" and "assistant" where the question is about them."""
    return frozenset(part.casefold() for part in _SPEAKER.findall(question))


def _names(question: str, language: str | None) -> frozenset[str]:
    """Return what capitals mark as names; German marks every noun by one, so none of its words."""
    if language == "de":
        return frozenset()
    small = STOP_WORDS | QUESTION_WORDS
    if language != "en":
        small |= common_words(language)
    capitalised = (token for token in _TOKEN.findall(question) if token[0].isupper())
    names = {word for token in capitalised for word in words(token)}
    names.update(_parts_named(question))
    return frozenset(names - small)


def _class_of(question: str, terms: tuple[str, ...], *, temporal: bool) -> RetrievalClass:
    if not terms or small_talk(question):
        return RetrievalClass.NONE
    if _ASKS_EVENT.search(question):
        return RetrievalClass.EVENT
    if temporal:
        return RetrievalClass.TEMPORAL
    if _ASKS_ENTITY.search(question):
        return RetrievalClass.ENTITY
    return RetrievalClass.GENERAL


_OF_SELF = """
    i me my mine myself we our ours ourselves ich mich mir mein meine meinem meinen meiner meines
    wir unser unsere je moi mon ma mes nous notre nos yo mi mis nosotros nuestro nuestra
"""
_FIRST_PERSON = re.compile(rf"\b(?:{'|'.join(_OF_SELF.split())})\b", re.IGNORECASE)
"""In English, German, French and Spanish; not "us", which is a country in capitals."""


def of_oneself(text: str) -> bool:
    """Return whether a text is in the first person."""
    return _FIRST_PERSON.search(text) is not None


_REQUEST = re.compile(
    r"\b(?:ask|find|give|help|let|read|remind|send|show|teach|tell) (?:me|us)\b"
    r"|\b(?:i|we)(?:'d| would)? (?:like|need|want) to (?:ask|know|see)\b"
    r"|\bi(?:'m| am)? wonder(?:ing)?\b",
    re.IGNORECASE,
)
"""Words in the first person that only ask."""


def about_asker(question: str) -> bool:
    """Return whether a question is about who asks it: "show me the invoices" is not."""
    return of_oneself(_REQUEST.sub(" ", question))


_USERS = re.compile(r"\bthe user(['\u2019]s)?\b", re.IGNORECASE)


def as_asked(question: str) -> str:
    """Return a question about "the user" as the user would ask it, as that is how they speak."""
    return _USERS.sub(lambda match: "my" if match[1] else "I", question)


def asker(question: str, *names: str | None) -> str | None:
    """Return the first of `names`, who it may be that asks, of a question about itself."""
    return next((each for each in names if each), None) if about_asker(question) else None


MAX_NAMES = 64
RUNS = (2, 1, 3, 4)
"""Words in a row that may be a name; a pair is rarely one by accident, so pairs are first."""
_READ = 80  # words of a question
_AROUND = "\"'`.,;:!?()[]{}<>\u00ab\u00bb\u201c\u201d\u2018\u2019\u2026-"
_SMALL = STOP_WORDS | QUESTION_WORDS


def question_names(question: str) -> tuple[str, ...]:
    """Return at most 64 distinct names in lower case, the likeliest first."""
    from cairn.graph.entities import extract_entities  # its lists are not for a cold start

    entities = extract_entities(question, client_id=None, source_agent=None)
    names = dict.fromkeys(entity.name.lower() for entity in entities)
    words = [word.strip(_AROUND).lower() for word in question.split()[:_READ]]
    for length in RUNS:
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            if all(run) and run[0] not in _SMALL and run[-1] not in _SMALL:
                names.setdefault(" ".join(run))
    return tuple(names)[:MAX_NAMES]
