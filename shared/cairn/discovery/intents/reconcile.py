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

from cairn.discovery.intents.statements import Act, Side
from cairn.discovery.intents.statements import statement as read_by_rules
from cairn.kernel.text import words
from cairn.kernel.text.stems import stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from cairn.discovery.intents.statements import Statement
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
    r"|no longer (?:in|only|just)|also (?:in|for|on)|from now on|move[ds]? to|instead"
    r"|(?:only|just) (?:[\w'-]+ ){1,3}(?:is |are )?left|as well|at (?:most|least))\b",
    re.I,
)
_HOLDS_NOW = re.compile(
    r"\b(?:is|are|has|have|must|may|might|can|could|would|will|needs?|ought|now|only|too|also|please)\b",
    re.I,
)
_HAS_BEEN = re.compile(r"\b(?:was|were|had|has been|have been|yesterday|ago|last)\b", re.I)
_MENTION = re.compile(
    r"\b(?:the|my|our|this|that) (?P<phrase>(?:[\w'-]+ ){0,3}?[\w'-]+)"
    r"(?=$|[.,;:!?]| (?:is|are|was|were|has|have|had|can|could|may|might|must|should|would|will"
    r"|needs?|ought|comes?|moves?|moved|should|also|now|only|too|instead|please|with|in|on|at|for|from|of|to"
    r"|until|before|i|we|and|or|but|ideally|preferably)\b)",
    re.I,
)
"""What a statement speaks of as something that is known already; its last word is the thing."""

_CALLED = {
    **dict.fromkeys(("round", "funding"), r"\b(?:rais|fund|invest|million)\w*"),
    **dict.fromkeys(("position", "role", "vacancy", "job", "post"), r"\b(?:hir|recruit|posit)\w*"),
}
"""What an intent is called by its kind, not its matter, and what the intent then says."""

_ANY_INTENT = frozenset(("it", "this", "that", "post", "ad", "listing", "intent", "entry"))
_OF_SIDE = {"request": Side.SEEKING, "search": Side.SEEKING, "offer": Side.OFFERING}
_ALSO = re.compile(r"\b(?:also|another|in addition|besides)\b", re.I)
_BOTH = re.compile(r"\ball (?:of )?(?:them|these|those)\b|\bboth\b", re.I)
_NOT_YET = re.compile(r"\b(?:yet|still)\b", re.I)
_TAKEN = re.compile(
    r"\b(?:taken|booked|full|sold|gone|filled|found|let|rented|done|settled)\b", re.I
)
_NEW = re.compile(
    r"\b(?:an?|another|some) (?P<phrase>(?:[\w'-]+ ){0,3}?[\w'-]+)"
    r"(?=$|[.,;:!?]| (?:who|that|which|with|in|on|at|for|from|of|to|near|and|or|until|before|as"
    r"|up)\b)",
    re.I,
)
"""What a statement brings up as something new; its last word is the thing."""

SURE = 0.6
"""Confidence from which something is over that no rule says is."""

STEM_CHARS = 6
"""Of a stem that are compared: who plays the bassoon is a bassoonist."""
_NUMBER = re.compile(
    r"\d[\d.,]*\w*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|hundred"
    r"|thousand|million)\b",
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
_LITTLE = frozenset(
    re.findall(
        r"\w+",
        """
        look looking seek seeking offer offering need want wanted find found somebody
        someone people person good new used month week day days make made please longer give
        giving gave up one two three four five six seven eight nine ten settled taken sold
        filled gone over done thanks thank now also any more anymore still have has got
        change near""",
    )
)


def reconcile(statements: Iterable[Verified], intents: Sequence[OpenIntent]) -> tuple[Action, ...]:
    """Return what statements of their owner change in the open `intents`."""
    actions: dict[object, Action] = {}
    ended: set[UUID] = set()
    for statement in statements:
        there = [each for each in intents if each.id not in ended]
        if statement.closes and ended and _nearest(statement.text, there) is None:
            continue  # "it" is what was ended in the same breath
        for action in _of(statement, there):
            actions[action.id if action.id is not None else action.text] = action
            if action.id is not None and action.change is Change.EXPIRE:
                ended.add(action.id)
    return tuple(actions.values())


def _of(statement: Verified, intents: Sequence[OpenIntent]) -> list[Action]:
    if statement.closes and (_EVERYTHING.search(statement.text) or _BOTH.search(statement.text)):
        return [
            Action(change=Change.EXPIRE, verified=statement, id=intent.id) for intent in intents
        ]
    near = _nearest(statement.text, intents)
    by_rules = read_by_rules(statement.text)
    if _closes(statement, by_rules):
        over = _over(statement.text, near, intents)
        return [_ended(statement, *over)] if over else []
    if near is not None and _is_change(statement, *near, is_outright=by_rules.is_intent):
        return [_update(statement, *near)]
    if not statement.is_intent:
        return []
    if near is None or near[1] < UNSURE or _other_side(statement, near[0]):
        return [_create(statement)]
    if near[1] >= SAME and not _is_more(statement.text, *near):
        return [] if _says_no_more(statement.text, near[0].text) else [_update(statement, *near)]
    return [_create(statement, near)]


def _closes(statement: Verified, by_rules: Statement) -> bool:
    """Return whether something is over: rules say so, or the judgement is sure of it."""
    if _NOT_YET.search(statement.text):
        return False
    if statement.by == "model":
        return statement.closes
    says_change = bool(_CHANGES.search(statement.text))
    return by_rules.closes or (statement.closes and statement.likely >= SURE and not says_change)


def _is_more(text: str, intent: OpenIntent, score: float) -> bool:
    """Return whether a statement that is near an intent speaks of another thing."""
    return (bool(_ALSO.search(text)) and score < 1) or _brings_up(text, intent)


def _brings_up(text: str, intent: OpenIntent) -> bool:
    match = _NEW.search(text)
    return match is not None and not _matter(match["phrase"].split()[-1]) & _matter(intent.text)


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


def _over(
    text: str, near: tuple[OpenIntent, float] | None, intents: Sequence[OpenIntent]
) -> tuple[OpenIntent, float] | None:
    """Return the intent that is over: the one whose thing is spoken of, or is called by its kind.

    "The lathe museum is closed" speaks of no lathe.
    """
    subject = _subject(text)
    if near is None:
        return _called(text, intents)
    if subject is None or subject in _CALLED or subject in _ANY_INTENT or subject in _OF_SIDE:
        return near
    is_its_matter = bool(_matter(subject) & _matter(near[0].text))
    return near if is_its_matter or _TAKEN.search(text) else None


def _subject(text: str) -> str | None:
    """Return the thing that a statement begins with and says something of, if there is one."""
    match = _MENTION.match(text)
    return match["phrase"].split()[-1].casefold() if match else None


def _called(text: str, intents: Sequence[OpenIntent]) -> tuple[OpenIntent, float] | None:
    """Return the one intent that fits a name of its kind: "the round", "my request", "it"."""
    spoken = frozenset(words.words(text))
    fitting = [intent for intent in intents if _is_called(spoken, intent)]
    return (fitting[0], 1.0) if len(fitting) == 1 else None


def _is_called(spoken: frozenset[str], intent: OpenIntent) -> bool:
    if any(name in spoken and re.search(kind, intent.text, re.I) for name, kind in _CALLED.items()):
        return True
    if any(name in spoken and side is intent.side for name, side in _OF_SIDE.items()):
        return True
    return bool(spoken & _ANY_INTENT)


def _is_change(statement: Verified, intent: OpenIntent, score: float, *, is_outright: bool) -> bool:
    """Return whether a statement changes an intent; `is_outright` where rules read a new one."""
    text = statement.text
    if _PAUSES.search(text):
        return False
    if is_outright and _other_side(statement, intent):
        return False
    if is_outright and _brings_up(text, intent) and not _mentions(text, intent):
        return False
    if _CHANGES.search(text) and score >= UNSURE / 2:
        return True
    is_feeling = statement.act is Act.EXPRESSIVE or _HAS_BEEN.search(text)
    if is_outright or is_feeling or not _HOLDS_NOW.search(text):
        return False
    return _mentions(text, intent)


def _mentions(text: str, intent: OpenIntent) -> bool:
    """Return whether a statement speaks of an intent's thing as of one that is known."""
    matter = _matter(intent.text)
    things = (match["phrase"].split()[-1] for match in _MENTION.finditer(text))
    return any(_matter(thing) & matter for thing in things)


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
    numbers = set(_NUMBER.findall(text.casefold())) - set(_NUMBER.findall(before.casefold()))
    return not numbers and not (_matter(text) - _matter(before))


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
    return frozenset(
        stem(word)[:STEM_CHARS] for word in words.content_words(text) if word not in _LITTLE
    )
