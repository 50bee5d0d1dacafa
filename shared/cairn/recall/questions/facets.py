"""What a question asks that one memory rarely answers: its facets, and the set it wants. Pure.

A facet is a question of its own that a part of the answer answers. Rules, the first that applies:

- questions: several sentences that each end as a question
- clauses: "... and what/where/did ...": each clause
- items: "A and B", "A, B or C", "A versus B", "compare A with B": the question with each item alone
- sequence: "... before/after X": X, and the rest, which must lie before or after X; or both

What tells a facet from the others are its own words; what all have in common is their matter. A
question wants a set when it asks how often, which of several, when first or when last. The rules
know English. Published: least-to-most decomposition (Zhou et al., 2022), intent decomposition of
questions to a graph, and nugget recall (coverage of what an answer must have) as a measure.
Not the search for facets, and not a parser: what no rule knows is one question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from cairn.kernel.text.language import language_of
from cairn.kernel.text.words import QUESTION_WORDS, STOP_WORDS, content_words, words
from cairn.recall.questions.model_calls import Source
from cairn.recall.questions.understanding import MAX_TERMS, WEAK_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cairn.recall.questions.model_calls import ModelCalls

MAX_FACETS = 4
MAX_CHARS = 600
"""Longer texts are pasted, not asked."""
MAX_WORDS = 60
MAX_ITEM = 2
"""Words of an item that is no name."""


class Rule(StrEnum):
    """Which rule took the question apart."""

    QUESTIONS = "questions"
    CLAUSES = "clauses"
    ITEMS = "items"
    SEQUENCE = "sequence"
    MODEL = "model"


class Order(StrEnum):
    """Where a part of a sequence lies."""

    BEFORE = "before"
    AFTER = "after"


class SetRule(StrEnum):
    """What a question wants of the set of all that speaks of its matter."""

    COUNT = "count"  # how often, how many times
    WHICH = "which"  # which of, what all, list every
    FIRST = "first"  # when first, the first time
    LAST = "last"  # when last, the last time


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """A part of a question. `terms` tell it from the others, `matter` is what they share.

    With an `order` it lies before or after what the first facet is about.
    """

    question: str
    terms: tuple[str, ...]
    matter: tuple[str, ...] = ()
    order: Order | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A question, taken apart; no facets when it is one."""

    facets: tuple[Facet, ...] = ()
    rule: Rule | None = None
    source: Source = Source.RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedSet:
    """The set a question asks about: all of `matter`, of those named in `names`.

    `said` are the words of the question that decided.
    """

    rule: SetRule
    said: str
    matter: tuple[str, ...]
    names: tuple[str, ...]


WHOLE = Parts()
"""What has no facets."""


class Decomposer(Protocol):
    """Takes a question apart. Never fails: whoever asks a model falls back to the rules."""

    def __call__(self, question: str, ruled: Parts, *, calls: ModelCalls) -> Parts:
        """Return the parts; `ruled` are those the rules found."""
        ...


def as_ruled(question: str, ruled: Parts, *, calls: ModelCalls) -> Parts:
    """Return what the rules found; a `Decomposer` that asks nobody."""
    return ruled


_JOINED = re.compile(r"\b(?:and|or|vs|versus|with|before|after)\b|\?\s*\w", re.IGNORECASE)
_ASKING = r"who|whom|whose|what|when|where|why|which|how|did|does|do|is|are|was|were|has|have|had"
_CODE = re.compile(r"[{}<>=;|\\]|&&|\w\(")
_SENTENCE = re.compile(r"[?\uff1f]+(?=\s*\w)")
_CLAUSE = re.compile(rf"(?:,\s*|\s+)(?:and|but)(?:\s+also)?\s+(?=(?:{_ASKING})\b)", re.IGNORECASE)
_SEQUENCE = re.compile(
    r"^(?P<first>.*?\w.*?)\s+(?:right |just |shortly )?(?P<order>before and after|before|after)\s+"
    r"(?P<event>.+)$"
    r"|^(?P<order2>before and after|before|after)\s+(?P<event2>[^,]+),\s*(?P<first2>.+)$",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"^\W*compare\b|\b(?:difference|differences)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_][\w'\u2019-]*|[,;:.!?()]")
_JOINERS = frozenset({"and", "or", "versus", "vs"})
_BEFORE_ITEMS = frozenset({"both", "between", "either"})
_PRONOUNS = frozenset({"he", "she", "they", "it", "him", "her", "them", "his", "their", "its"})
_ARTICLES = frozenset({"a", "an", "the", "my", "our", "your", "his", "her", "their", "its"})
_GRAMMAR = STOP_WORDS | QUESTION_WORDS | {"vs", "versus", "compare", "compared"}
_NAMES_OF_TIMES = """
    january february march april may june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday noon midnight today yesterday tomorrow
    morning evening night lunch breakfast dinner christmas easter spring summer autumn winter year
    month week day
"""
_DATES = frozenset(_NAMES_OF_TIMES.split())
_SETS: tuple[tuple[SetRule, re.Pattern[str]], ...] = tuple(
    (rule, re.compile(regex, re.IGNORECASE))
    for rule, regex in (
        (SetRule.COUNT, r"\bhow (?:often|frequently)\b|\b(?:how many|number of) times\b"),
        (
            SetRule.LAST,
            r"\b(?:the |my |our |his |her |their |\w+'s )?(?:last|latest|most recent) time\b"
            r"|\bwhen last\b|^\W*when\b.*\b(?:last|most recently)\b(?!\s+(?:week|month|year"
            r"|night|spring|summer|autumn|fall|winter|monday|tuesday|wednesday|thursday|friday"
            r"|saturday|sunday|january|february|march|april|may|june|july|august|september"
            r"|october|november|december)\b)",
        ),
        (
            SetRule.FIRST,
            r"\b(?:the |my |our |his |her |their |\w+'s )?(?:first|earliest) time\b"
            r"|\bwhen first\b|^\W*when\b.*\bfirst\b(?=\W*\w)",
        ),
        (
            SetRule.WHICH,
            r"\bwhich of\b|\bwhat all\b|\b(?:list|name|enumerate|show)(?: me)? (?:all|every|each)\b"
            r"|\b(?:what|which) are all\b|\bevery time\b|\ball (?:the )?times\b",
        ),
    )
)
_WORDS_OF_SETS = """
    often frequently many times time number last latest recent recently first earliest list name
    enumerate every each all
"""
_SET_WORDS = frozenset(_WORDS_OF_SETS.split())


def decompose(question: str) -> Parts:
    """Return the facets of a question by the first rule that finds two; WHOLE when none does."""
    if not _JOINED.search(question[:MAX_CHARS]) or not _may_be_asked(question):
        return WHOLE
    text = " ".join(question.split())
    rules = ((Rule.QUESTIONS, _sentences), (Rule.CLAUSES, _clauses), (Rule.ITEMS, _items))
    for rule, split in rules:
        if facets := facets_of(split(text)):
            return Parts(facets=facets, rule=rule)
    return _sequence(text)


def facets_of(questions: Sequence[str]) -> tuple[Facet, ...]:
    """Return a facet of each question that has words of its own; at most `MAX_FACETS`.

    None when it comes to one question: only one of them is about anything.
    """
    distinct = list(dict.fromkeys(questions))[:MAX_FACETS]
    contents = {text: content for text in distinct if (content := _matter(text))}
    if len(contents) < 2:
        return ()
    shared = frozenset[str].intersection(*(frozenset(each) for each in contents.values()))
    return tuple(
        Facet(
            question=text,
            terms=tuple(word for word in content if word not in shared),
            matter=tuple(word for word in content if word in shared),
        )
        for text, content in contents.items()
        if not shared.issuperset(content)
    )


def wanted_set(question: str) -> WantedSet | None:
    """Return the set a question asks about; None when it asks for none, or not in English."""
    matched = next(
        ((rule, hit) for rule, regex in _SETS if (hit := regex.search(question[:MAX_CHARS]))), None
    )
    if matched is None or not _may_be_asked(question):
        return None
    rule, hit = matched
    names = _folded_names(question)
    matter = [word for word in _matter(question) if word not in _DATES and not word.isdigit()]
    if not matter:
        return None
    return WantedSet(
        rule=rule,
        said=_decided(hit.group().strip()),
        matter=tuple(word for word in matter if word not in names),
        names=tuple(word for word in matter if word in names),
    )


def _decided(text: str) -> str:
    """Return the words that decided, without what stands between "when" and "last"."""
    short = text if len(text.split()) <= 3 else f"{text.split()[0]} ... {text.split()[-1]}"
    return short.casefold()


def _may_be_asked(question: str) -> bool:
    """Return whether a text is short enough to be a question, and in the rules' language."""
    question_words = words(question[: MAX_CHARS + 1])
    if (
        len(question) > MAX_CHARS
        or len(question_words) > MAX_WORDS
        or len(set(question_words)) > MAX_TERMS
    ):
        return False
    if _CODE.search(question):
        return False
    return language_of(question) in (None, "en")


def _matter(text: str) -> tuple[str, ...]:
    """Return the distinct words that say what is asked about."""
    content = dict.fromkeys(content_words(text))
    small = (WEAK_WORDS, _GRAMMAR, _SET_WORDS)
    return tuple(word for word in content if not any(word in each for each in small))


def _capitals(text: str) -> list[str]:
    """Return the words with a capital that are no grammar: names, most likely."""
    tokens = dict.fromkeys(hit.group() for hit in _TOKEN.finditer(text))
    return [token for token in tokens if token[0].isupper() and _matter(token)]


def _folded_names(text: str) -> frozenset[str]:
    return frozenset(word for token in _capitals(text) for word in words(token))


def _sentences(text: str) -> list[str]:
    parts = [part.strip() for part in _SENTENCE.split(text)]
    return [part for part in parts if _matter(part)] if len(parts) > 1 else []


def _clauses(text: str) -> list[str]:
    """Return the clauses; one with a pronoun and no name speaks of whom the first named."""
    parts = [part.strip(" ?") for part in _CLAUSE.split(text)]
    if len(parts) < 2:
        return []
    first, *others = (part for part in parts if part)
    names = " ".join(_capitals(first))
    return [
        first,
        *(f"{each} ({names})" if names and _points_back(each) else each for each in others),
    ]


def _points_back(clause: str) -> bool:
    """Return whether a clause speaks of somebody whom it does not name."""
    return not _capitals(clause) and not _PRONOUNS.isdisjoint(words(clause))


def _items(text: str) -> list[str]:
    """Return the question with each item of its first enumeration alone."""
    tokens = [(hit.group(), hit.start(), hit.end()) for hit in _TOKEN.finditer(text)]
    folded = [token.casefold() for token, _, _ in tokens]
    compared = bool(_COMPARED.search(text))
    for at, word in enumerate(folded):
        if word in _JOINERS or (compared and word in ("with", "to")):
            spans = _spans_around(tokens, folded, at)
            if len(spans) > 1:
                return list(_alone(text, spans))
    return []


def _spans_around(
    tokens: Sequence[tuple[str, int, int]], folded: Sequence[str], at: int
) -> list[tuple[int, int]]:
    """Return where the items that a joiner joins begin and end, in tokens; the joined ones last."""
    right = _item_right(tokens, folded, at + 1)
    left = _item_left(tokens, folded, at)
    if right is None or left is None:
        return []
    spans = [left, right]
    is_named = _is_capitalised(tokens, left[1] - 1)
    while len(spans) < MAX_FACETS and spans[0][0] > 0 and folded[spans[0][0] - 1] == ",":
        before = _item_left(tokens, folded, spans[0][0] - 1)
        if before is None or _is_capitalised(tokens, before[1] - 1) is not is_named:
            break
        spans.insert(0, before)
    start = spans[0][0]
    while start and folded[start - 1] in _BEFORE_ITEMS:
        start -= 1
    return [
        (tokens[begin][1] if number else tokens[start][1], tokens[end - 1][2])
        for number, (begin, end) in enumerate(spans)
    ]


def _item_left(
    tokens: Sequence[tuple[str, int, int]], folded: Sequence[str], end: int
) -> tuple[int, int] | None:
    """Return the item that ends before a token: a name, or up to two words, and its article."""
    if end and folded[end - 1] == ",":
        end -= 1
    begin = end
    while begin and _goes_on(tokens, folded, begin - 1, is_named=_is_capitalised(tokens, end - 1)):
        if not _is_capitalised(tokens, end - 1) and end - begin == MAX_ITEM:
            break
        begin -= 1
    if begin == end:
        return None
    while begin and folded[begin - 1] in _ARTICLES:
        begin -= 1
    return begin, end


def _item_right(
    tokens: Sequence[tuple[str, int, int]], folded: Sequence[str], begin: int
) -> tuple[int, int] | None:
    first = begin
    while first < len(tokens) and folded[first] in _ARTICLES:
        first += 1
    end = first
    while end < len(tokens) and _goes_on(
        tokens, folded, end, is_named=_is_capitalised(tokens, first)
    ):
        if not _is_capitalised(tokens, first) and end - first == MAX_ITEM:
            break
        end += 1
    return (begin, end) if end > first else None


def _is_capitalised(tokens: Sequence[tuple[str, int, int]], at: int) -> bool:
    return 0 <= at < len(tokens) and tokens[at][0][0].isupper()


def _goes_on(
    tokens: Sequence[tuple[str, int, int]], folded: Sequence[str], at: int, *, is_named: bool
) -> bool:
    """Return whether a token belongs to an item: of a name only what has a capital, too."""
    word = folded[at]
    if not word[0].isalnum() or word in _GRAMMAR or word in _JOINERS:
        return False
    return tokens[at][0][0].isupper() or not is_named


def _alone(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    whole_start, whole_end = spans[0][0], spans[-1][1]
    for start, end in spans:
        item = text[start:end]
        for word in _BEFORE_ITEMS:
            item = re.sub(rf"^{word}\s+", "", item, flags=re.IGNORECASE)
        yield f"{text[:whole_start]}{item}{text[whole_end:]}"


def _sequence(text: str) -> Parts:
    """Return what happened and what lies before or after it; WHOLE for a date or nothing named."""
    match = _SEQUENCE.match(text.rstrip(" ?"))
    if not match:
        return WHOLE
    words_of_order = (match["order"] or match["order2"]).casefold()
    event, first = match["event"] or match["event2"], match["first"] or match["first2"]
    event_words = [word for word in _matter(event) if word not in _DATES and not word.isdigit()]
    names = _folded_names(first)
    terms = tuple(word for word in event_words if word not in names)
    rest = tuple(word for word in _matter(first) if word not in event_words)
    if not terms or not rest:
        return WHOLE
    matter = tuple(word for word in _matter(first) if word not in rest)
    lying = (
        Facet(question=first, terms=rest, matter=matter, order=order)
        for order in Order
        if order.value in words_of_order
    )
    return Parts(facets=(Facet(question=event, terms=terms), *lying), rule=Rule.SEQUENCE)
