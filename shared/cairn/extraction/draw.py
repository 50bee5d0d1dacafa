"""Draw statements from what a person says: facts, preferences, decisions, plans, relations.

The words stay the speaker's own, after the speaker's name: nothing is put another way, so nothing
can be turned around. A correction repeats the statement it corrects, with what is new in it.
English only; another language states nothing here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cairn.extraction import statements as rules
from cairn.extraction.corrections import corrected, taken_back
from cairn.extraction.english import RELATIONS
from cairn.extraction.keys import keys_of
from cairn.extraction.sentences import clauses, is_supposed, sentences
from cairn.extraction.statements import StatementKind

if TYPE_CHECKING:
    from collections.abc import Iterator

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


MAX_STATEMENTS = 50
"""Of one message; what comes after is left to search, as the message is found by its words."""

SELF, OWN, OTHER, THING = 0.9, 0.85, 0.7, 0.7
"""How sure a statement is, by what it is about."""

_OTHERS_NAME = re.compile(r"((?i:he|she|they))(?=[\s'])|([A-Z][\w-]+)(?=[\s'])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something a speaker stated; `confidence` between 0 and 1.

    `said` is the clause without who speaks, `keys` what it may be known by, best first. `corrects`
    is the text of the statement in whose place it stands.
    """

    kind: StatementKind
    text: str
    confidence: float
    said: str
    keys: tuple[str, ...] = ()
    corrects: str | None = None


@dataclass(slots=True)
class Speaker:
    """Who speaks, and whose names were given so far; `spoken_of`: somebody of theirs was.

    `last` is what was stated last, which may be corrected or taken back.
    """

    name: str
    known: set[str] = field(default_factory=set[str])
    spoken_of: bool = False
    last: Statement | None = None


def draw(text: str, speaker: Speaker) -> list[Statement]:
    """Return what a message states, in its order, and note in `speaker` whom it speaks of."""
    drawn: dict[str, Statement] = {}
    for sentence in sentences(text):
        for statement in _stated(sentence, speaker):
            drawn.setdefault(statement.text.casefold(), statement)
            speaker.last = statement
        if taken_back(sentence) is not None:
            speaker.last = None
    speaker.spoken_of = speaker.spoken_of or bool(SPOKEN_OF.search(text))
    return list(drawn.values())[:MAX_STATEMENTS]


def _stated(sentence: str, speaker: Speaker) -> list[Statement]:
    last = speaker.last
    correction = corrected(sentence, last.said) if last else None
    if last is None or correction is None:
        return _of_sentence(sentence, speaker)
    meant = _statement(last.kind, correction, last.confidence, speaker)
    return [replace(meant, keys=last.keys, corrects=last.text)] if meant else []


def _of_sentence(sentence: str, speaker: Speaker) -> list[Statement]:
    drawn: list[Statement] = []
    if not is_supposed(sentence):
        for name, relation in relations(sentence):
            speaker.known.add(name.split()[0])
            is_who = f"{speaker.name}'s {relation}" if relation else f"who {speaker.name} speaks of"
            kind, text = StatementKind.RELATION, f"{name} is {is_who}"
            drawn.append(
                Statement(
                    kind=kind,
                    text=f"{text}.",
                    confidence=SELF,
                    said=text,
                    keys=keys_of(kind, text),
                )
            )
    for clause in clauses(sentence):
        if statement := _of_clause(clause, speaker):
            drawn.append(_with_reason(statement, clause, sentence))
    return drawn


def _with_reason(statement: Statement, clause: str, sentence: str) -> Statement:
    """Return a statement with the reason that was given for it."""
    match = re.search(rf"{re.escape(clause)},?(\s+because\s[^,;!?]+)", sentence)
    reason = match[1].rstrip(" .") if match else ""
    if reason.casefold() in statement.text.casefold():
        return statement
    return replace(statement, text=f"{statement.text.removesuffix('.')}{reason}.")


def _of_clause(clause: str, speaker: Speaker) -> Statement | None:
    if subject := rules.agreed(clause):
        return _statement(StatementKind.DECISION, f"{subject} it is", SELF, speaker)
    if kind := rules.requested(clause):
        return _statement(kind, clause, OWN, speaker)
    low = clause.lower()
    if low.startswith(("my ", "our ")):
        return _statement(rules.stated_of_own(clause), clause, OWN, speaker)
    if low.startswith(("the ", "this ", "that ")):
        return _statement(rules.stated_of_thing(clause), clause, THING, speaker)
    if kind := rules.stated_of_self(clause):
        return _statement(kind, clause, SELF, speaker)
    if re.match(r"it's (?:on|in|at|about) (?:the|my|our) ", low):
        return _statement(StatementKind.FACT, clause, OTHER, speaker)
    return _statement(_of_other(clause, speaker), clause, OTHER, speaker)


def _of_other(clause: str, speaker: Speaker) -> StatementKind | None:
    subject = _OTHERS_NAME.match(clause)
    if subject is None:
        return None
    is_known = subject[2] in speaker.known
    meant = subject[1] and (speaker.known or speaker.spoken_of)
    return rules.stated_of_others(clause, subject[0]) if is_known or meant else None


def _statement(
    kind: StatementKind | None, clause: str, confidence: float, speaker: Speaker
) -> Statement | None:
    if kind is None:
        return None
    meant = re.sub(r",\s+not\s+(?:(?:on|in|at)\s+)?[\w.:-]+$", "", clause)
    return Statement(
        kind=kind,
        text=f"{speaker.name}: {meant}.",
        confidence=confidence,
        said=meant,
        keys=keys_of(kind, meant),
    )
