"""What new statements mean for the intents that are open: create, update, expire. Pure.

By rules: the words that a statement shares with an open intent decide which of them it speaks of.
Where it may be a change as well as something new it is made, and its owner is asked: nothing that
was said is lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cairn.discovery.intents.statements import Side
from cairn.kernel.text import words
from cairn.kernel.text.stems import stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from cairn.discovery.intents.verify import Verified


class Change(StrEnum):
    """What becomes of an intent."""

    CREATE = "create"
    UPDATE = "update"
    EXPIRE = "expire"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIntent:
    """An intent that is open, as its owner last put it."""

    id: UUID
    text: str
    side: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One change; a new intent has no id, an ended one no text.

    Where it is `unsure`, `near` is the open intent that it may be a change of.
    """

    change: Change
    verified: Verified
    id: UUID | None = None
    text: str | None = None
    side: Side | None = None
    score: float = 1.0
    unsure: bool = False
    near: UUID | None = None


SAME = 0.55
"""Share of a statement's words in an open intent, from which it says that intent again."""

UNSURE = 0.34
"""Below SAME and from here on, a statement may change an intent or be a new one."""

_CHANGES = re.compile(
    r"\b(?:make (?:it|the|that|my|our)|change (?:it|the|that|my|our)|instead of|not in|may also"
    r"|could also"
    r"|can also|should (?:have|be|know|speak|come)|would do as well|as well as the|rather than"
    r"|now (?:look|seek|need)|(?:must|has to|have to|needs to) (?:be|have|know)|prefer(?:ably)?"
    r"|ideally"
    r"|no longer (?:in|only|just)|also (?:in|for|on)|from now on|moved? to)\b",
    re.I,
)
_SUBSTITUTED = re.compile(
    r"\b(?P<new>[\w'-]+(?: [\w'-]+){0,4}?),? (?:instead of|rather than|not(?: in| on| at| for)?)"
    r" (?:in |on |at |for )?(?P<old>[\w'-]+)",
    re.I,
)
_PAUSES = re.compile(r"\b(?:pauses?|paused|on hold|for now|resumes?)\b", re.I)
_EVERYTHING = re.compile(
    r"\b(?:everything|all (?:of )?(?:my|our|the) (?:\w+ )?(?:intents|posts|requests|offers|searches"
    r"|listings|ads))\b",
    re.I,
)
_DEFINITE = re.compile(r"\b(?:the|my|our|that|it) ?\w*", re.I)
_LITTLE = frozenset(
    re.findall(
        r"\w+",
        """
        look looking seek seeking offer offering need want wanted find found somebody
        someone people person good new used month week day days make made please longer give
        giving gave up one two three four five six seven eight nine ten settled taken sold
        filled gone over done thanks thank now also any more anymore still have has got
        change""",
    )
)


def reconcile(statements: Iterable[Verified], intents: Sequence[OpenIntent]) -> tuple[Action, ...]:
    """Return what statements of their owner change in the open `intents`."""
    actions: dict[object, Action] = {}
    ended: set[UUID] = set()
    for statement in statements:
        for action in _of(statement, [each for each in intents if each.id not in ended]):
            actions[action.id if action.id is not None else action.text] = action
            if action.id is not None and action.change is Change.EXPIRE:
                ended.add(action.id)
    return tuple(actions.values())


def _of(statement: Verified, intents: Sequence[OpenIntent]) -> list[Action]:
    if statement.closes and _EVERYTHING.search(statement.text):
        return [
            Action(change=Change.EXPIRE, verified=statement, id=intent.id) for intent in intents
        ]
    near = _nearest(statement.text, intents)
    if statement.closes:
        return [_ended(statement, *near)] if near else []
    if near is not None and _is_change(statement, *near):
        return [_update(statement, *near)]
    if not statement.is_intent:
        return []
    if near is None or near[1] < UNSURE or _other_side(statement, near[0]):
        return [_create(statement)]
    if near[1] >= SAME:
        return [] if _says_no_more(statement.text, near[0].text) else [_update(statement, *near)]
    return [_create(statement, near)]


def _create(statement: Verified, near: tuple[OpenIntent, float] | None = None) -> Action:
    return Action(
        change=Change.CREATE,
        verified=statement,
        text=statement.text,
        side=statement.side,
        score=round(1 - near[1], 2) if near else 1.0,
        unsure=near is not None,
        near=near[0].id if near else None,
    )


def _ended(statement: Verified, intent: OpenIntent, score: float) -> Action:
    return Action(change=Change.EXPIRE, verified=statement, id=intent.id, score=round(score, 2))


def _is_change(statement: Verified, intent: OpenIntent, score: float) -> bool:
    if _PAUSES.search(statement.text) or _other_side(statement, intent):
        return False
    says_so = _CHANGES.search(statement.text) and _DEFINITE.search(statement.text)
    return bool(says_so) and score >= UNSURE / 2


def _update(statement: Verified, intent: OpenIntent, score: float) -> Action:
    return Action(
        change=Change.UPDATE,
        verified=statement,
        id=intent.id,
        text=changed_text(
            intent.text, statement.text, is_whole=statement.is_intent and score >= SAME
        ),
        side=intent.side,
        score=round(score, 2),
    )


def changed_text(before: str, new: str, *, is_whole: bool) -> str:
    """Return what an intent says after a change: one thing put for another, or what is added."""
    swap = _SUBSTITUTED.search(new)
    if swap is not None:
        old = re.compile(rf"\b{re.escape(swap['old'])}\b", re.I)
        new_words = swap["new"].split()
        if old.search(before):
            value = _value_of(new_words, before)
            if value:
                return old.sub(value, before)
    return new if is_whole else f"{before.rstrip('. ')}. {new}"


def _value_of(new_words: Sequence[str], before: str) -> str:
    """Return the words of a change that the intent did not say: what is put for the old ones."""
    there = {word.casefold() for word in words.content_words(before)} | set(
        re.findall(r"\w+", before.casefold())
    )
    fresh = [word for word in new_words if word.casefold() not in there | _CHANGE_WORDS]
    return " ".join(fresh)


_CHANGE_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        make it the that my our now please change to in on at for a an i we look""",
    )
)


def _other_side(statement: Verified, intent: OpenIntent) -> bool:
    sides = (statement.side, intent.side)
    return statement.side is not None and Side.BOTH not in sides and sides[0] is not sides[1]


def _says_no_more(text: str, before: str) -> bool:
    return not (_matter(text) - _matter(before)) - _LITTLE


def _nearest(text: str, intents: Sequence[OpenIntent]) -> tuple[OpenIntent, float] | None:
    """Return the intent that shares most with `text`, and which share of its words."""
    shares = [(intent, likeness(text, intent.text)) for intent in intents]
    best = max(shares, key=lambda pair: pair[1], default=None)
    return best if best is not None and best[1] > 0 else None


def likeness(text: str, other: str) -> float:
    """Return which share of a text's words another one has."""
    matter = _matter(text)
    return len(matter & _matter(other)) / len(matter) if matter else 0.0


def _matter(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.content_words(text) if word not in _LITTLE)
