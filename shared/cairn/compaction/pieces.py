"""What a transcript's turns are cut into, what each piece says, and which part it belongs to. Pure.

Cues are English; of other languages names, numbers, rare words and recency count all the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.compaction.turns import Part, Piece, day_of
from cairn.conversations.messages import MessageRole
from cairn.extraction.draw import Speaker, draw
from cairn.extraction.statements import StatementKind
from cairn.kernel.text.words import content_words, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cairn.compaction.turns import CountTokens, Turn

WHOLE_TOKENS = 80
"""A turn up to so long is kept or dropped whole; a longer one sentence by sentence."""

MAX_SENTENCE_CHARS = 2_000
MOST_SENTENCES = 500
"""Of a turn that are looked at one by one; those of a turn with more are taken together."""

READ_CHARS, READ_IN_ALL = 4_000, 200_000
"""Characters that are read for what is stated: of a turn its first, of a transcript its last."""

NAME, NUMBER, TIME, STATED, PLANNED, DECIDED, OPEN = 1.0, 1.0, 4.0, 1.5, 3.0, 6.0, 6.0
QUESTION = 0.6
"""What a question is worth to an answer; one that nobody answered counts `OPEN` more."""

_NAME = re.compile(r"(?<![.!?\u2026]\s)(?<!^)\b[A-Z][\w'-]+")
_NUMBER = re.compile(
    r"\d+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twice|first|second|third)\b", re.I
)
_TIME = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|weeks?|months?|years?|weekend|recently"
    r"|since|until|deadline|(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|winter"
    r"|january|february|march|april|june|july|august|september|october|november|december)\b",
    re.I,
)
_REQUEST = re.compile(
    r"^(?:please|can you|could you|would you|will you|i need you to|i(?:'d| would) like you to"
    r"|i want you to|help me|remind me|(?:show|tell|give|make|write|find|add|fix|create|check|send"
    r"|update|remove|delete|explain|compare|list|look|run|set|change|book|draft|plan) )",
    re.I,
)
_DECIDED = re.compile(
    r"\b(?:decided|agreed|settled on|we chose|i chose|go(?:ing)? with|we(?:'ll| will) use"
    r"|let's go with|final(?:ly)? (?:choice|decision)|approved|signed off)\b",
    re.I,
)
_GOING_ON = re.compile(
    r"\b(?:in progress|working on|still (?:need|have|waiting|to)|not (?:yet|done)|remaining|todo"
    r"|to do|next step|next,|waiting (?:for|on)|blocked|pending|i(?:'ll| will)|we(?:'ll| will)"
    r"|about to|going to|plan(?:ning)? to|started)\b",
    re.I,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A piece that may be kept: what it costs, the words it brings, and what else speaks for it."""

    piece: Piece
    tokens: int
    terms: frozenset[str]
    bonus: float
    factor: float


def candidates(turns: Sequence[Turn], count: CountTokens) -> list[Candidate]:
    """Return every piece of the turns, in their order."""
    speakers: dict[str, Speaker] = {}
    results: list[Candidate] = []
    read = _read(turns)
    for at, turn in enumerate(turns):
        speaker = speakers.setdefault(turn.name, Speaker(name=turn.name))
        answered = any(later.name != turn.name for later in turns[at + 1 : at + 3])
        left = read.get(turn.place, 0)
        for text in _cut(turn, count):
            stated = _stated(text[:left], speaker)
            left = max(0, left - len(text))
            results.append(_candidate(turn, text, stated, count, answered=answered))
    return results


def _read(turns: Sequence[Turn]) -> dict[int, int]:
    """Return how many characters of each person's turn are read, those of the last turns first."""
    left, read = READ_IN_ALL, dict[int, int]()
    for turn in reversed(turns):
        if turn.role is MessageRole.USER:
            read[turn.place] = min(left, READ_CHARS, len(turn.text))
            left -= read[turn.place]
    return read


def _cut(turn: Turn, count: CountTokens) -> Iterator[str]:
    if len(turn.text) <= MAX_SENTENCE_CHARS and count(turn.text) <= WHOLE_TOKENS:
        yield turn.text
        return
    parts = sentences(turn.text)
    together = -(-len(parts) // MOST_SENTENCES)
    end = 0
    for first in range(0, len(parts), together or 1):
        start = turn.text.index(parts[first], end)
        end = start
        for sentence in parts[first : first + together]:
            end = turn.text.index(sentence, end) + len(sentence)
        for at in range(start, end, MAX_SENTENCE_CHARS):
            yield turn.text[at : min(end, at + MAX_SENTENCE_CHARS)]


def _candidate(
    turn: Turn, text: str, stated: Sequence[StatementKind], count: CountTokens, *, answered: bool
) -> Candidate:
    asks = text.rstrip().endswith(("?", "\uff1f"))
    part = part_of(turn, text, stated, answered=answered)
    piece = Piece(part=part, text=text, places=(turn.place,), name=turn.name, day=day_of(turn))
    bonus = (
        NAME * len(_NAME.findall(text))
        + NUMBER * len(_NUMBER.findall(text))
        + TIME * len(_TIME.findall(text))
        + STATED * len(stated)
        + PLANNED * (StatementKind.PLAN in stated or part is Part.IN_PROGRESS)
        + DECIDED * (part is Part.DECIDED)
        + OPEN * (asks and not answered)
    )
    return Candidate(
        piece=piece,
        tokens=max(1, count(f"- {turn.name}: {text}")) + 1,
        terms=frozenset(content_words(text)),
        bonus=bonus,
        factor=QUESTION if asks and answered else 1.0,
    )


def _stated(text: str, speaker: Speaker) -> list[StatementKind]:
    return [statement.kind for statement in draw(text, speaker)] if text else []


def part_of(
    turn: Turn, text: str, stated: Sequence[StatementKind], *, answered: bool = True
) -> Part:
    """Return the part that a piece of a turn belongs to."""
    asks = text.rstrip().endswith(("?", "\uff1f"))
    if StatementKind.DECISION in stated or (_DECIDED.search(text) and not asks):
        return Part.DECIDED
    if turn.role in (MessageRole.USER, MessageRole.SYSTEM):
        if asks or _REQUEST.match(text.strip()):
            return Part.ASKED
        return Part.IN_PROGRESS if StatementKind.PLAN in stated else Part.SHARED
    goes_on = _GOING_ON.search(text) or (asks and not answered)
    return Part.IN_PROGRESS if goes_on and turn.role is MessageRole.ASSISTANT else Part.DONE
