"""Derive a profile from what a client said and did: by rules, each part with its evidence. Pure.

Nothing of it is stored: the same memories and events give the same profile at the same moment.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cairn.conversations.messages import OWN_METADATA
from cairn.extraction.draw import Speaker, draw
from cairn.extraction.liking import liked
from cairn.extraction.skills import Level, skill_in
from cairn.extraction.statements import StatementKind
from cairn.memories.kinds import MemoryKind
from cairn.profiles.claims import NONE

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.events.read import EventView
    from cairn.profiles.claims import Claims
    from cairn.reading.views import MemoryView, NamedEntity

HALF_LIFE_DAYS = 30.0
"""After so many days what was said or done counts half."""

LIKED, MENTIONED = 1.0, 0.5
"""What a memory counts for an interest: as what a preference is for, or as named."""

LEAST_MENTIONS = 2
"""Memories that name something before it is an interest; one preference for it is enough."""

LEAST_INTEREST = 0.1
LEAST_TIMES = 3
"""Times, and sessions (days where events have none), before something done is a pattern."""

FULL_TIMES = 5
"""Times after which a pattern is as strong as it gets."""

HABIT = "habit"
"""The type of a pattern that memories show."""

MAX_EVIDENCE = 10
MAX_SPEAKER = 60
NO_INTERESTS = frozenset({"client", "agent", "user", "person"})
"""Types of entities that are somebody, not something."""

_STATED = frozenset({StatementKind.FACT, StatementKind.RELATION, StatementKind.PREFERENCE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A memory that says something of a client; `evidence` is the message it was drawn from."""

    id: UUID
    text: str
    confidence: float
    occurred_at: datetime | None
    evidence: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill(Statement):
    """A memory that says what a client can do, or learns."""

    name: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Interest:
    """Something a client likes or speaks of again; `evidence` are memories, the newest first."""

    name: str
    type: str
    score: float
    evidence: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """What was done for a client again and again; `evidence` are events, the newest first.

    What memories show a client to do has `text`, and the memories as its evidence.
    """

    type: str
    tool_name: str | None
    text: str | None = None
    times: int
    sessions: int
    first_at: datetime
    last_at: datetime
    strength: float
    evidence: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is known of a client. `truncated`: older memories or events were not looked at."""

    client_id: str
    facts: tuple[Statement, ...] = ()
    preferences: tuple[Statement, ...] = ()
    skills: tuple[Skill, ...] = ()
    interests: tuple[Interest, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    truncated: bool = False


def derive(
    client_id: str,
    memories: Sequence[MemoryView],
    events: Sequence[EventView],
    now: datetime,
    *,
    truncated: bool,
    claims: Claims = NONE,
) -> Profile:
    """Return what memories and events, the newest first, say of a client.

    `claims` are what a model read in the memories; those of others are left out.
    """
    kinds = {memory.id: kind_of(memory) for memory in memories}
    stated = [memory for memory in memories if kinds[memory.id] in _STATED]
    by_rules = {id_ for id_, kind in kinds.items() if kind is StatementKind.PREFERENCE}
    preferred = by_rules | claims.preferences
    preferences = [memory for memory in stated if memory.id in preferred]
    others = [memory for memory in stated if memory.id not in preferred]
    skills = _skills(others, dict(claims.skills))
    return Profile(
        client_id=client_id,
        facts=tuple(
            Statement(**_memory_fields(memory)) for memory in others if memory.id not in skills
        ),
        preferences=tuple(Statement(**_memory_fields(memory)) for memory in preferences),
        skills=tuple(
            Skill(**_memory_fields(memory), name=skills[memory.id][0], level=skills[memory.id][1])
            for memory in others
            if memory.id in skills
        ),
        interests=tuple(_interests(stated, by_rules, now, frozenset(claims.interests))),
        patterns=tuple(_strongest([*_patterns(events, now), *_habits(claims, stated, now)])),
        truncated=truncated,
    )


def kind_of(memory: MemoryView) -> StatementKind | None:
    """Return what a memory states: as it was drawn, else as the rules read it, else a fact.

    None for what happened, was decided or is planned.
    """
    if memory.type not in (MemoryKind.FACT, MemoryKind.STATUS):
        return None
    match memory.metadata.get(OWN_METADATA):  # a memory's own metadata may have the name, too
        case {"statement": str(drawn)} if drawn in set(StatementKind):
            return StatementKind(drawn)
        case _:
            pass
    speaker, statement = _speaker(memory.text)
    subject = statement.split(maxsplit=1)[0] if statement.strip() else ""
    statements = draw(statement, Speaker(speaker, known={subject}))
    return statements[0].kind if statements else StatementKind.FACT


def _speaker(text: str) -> tuple[str, str]:
    """Return who says a text that was drawn from a message, and what is said."""
    speaker, colon, statement = text.partition(": ")
    return (speaker, statement) if colon and len(speaker) <= MAX_SPEAKER else ("", text)


def _skills(
    memories: Iterable[MemoryView], claimed: Mapping[UUID, str]
) -> dict[UUID, tuple[str, Level]]:
    skills: dict[UUID, tuple[str, Level]] = {}
    for memory in memories:
        skill = skill_in(_speaker(memory.text)[1])
        if skill is None and memory.id in claimed:
            skill = claimed[memory.id], Level.HAS
        if skill is not None:
            skills[memory.id] = skill
    return skills


def _memory_fields(memory: MemoryView) -> dict[str, Any]:
    return {
        "id": memory.id,
        "text": memory.text,
        "confidence": memory.confidence,
        "occurred_at": memory.occurred_at,
        "evidence": (memory.parent_id,) if memory.parent_id else (),
    }


def _interests(
    stated: Iterable[MemoryView],
    preferences: Container[UUID],
    now: datetime,
    claimed: Container[tuple[UUID, str]],
) -> list[Interest]:
    naming: dict[NamedEntity, list[tuple[MemoryView, bool]]] = defaultdict(list)
    for memory in stated:
        likes = liked(_speaker(memory.text)[1]) if memory.id in preferences else None
        for entity in memory.entities:
            if entity.type in NO_INTERESTS or likes == "":
                continue  # a dislike is no interest
            is_liked = likes is not None and entity.name.casefold() in likes
            naming[entity].append((memory, is_liked or (memory.id, entity.name) in claimed))
    interests = [
        Interest(
            name=entity.name,
            type=entity.type,
            score=round(
                sum(
                    (LIKED if is_liked else MENTIONED) * _left(memory.occurred_at, now)
                    for memory, is_liked in mentions
                ),
                4,
            ),
            evidence=tuple(memory.id for memory, _ in mentions[:MAX_EVIDENCE]),
        )
        for entity, mentions in naming.items()
        if len(mentions) >= LEAST_MENTIONS or any(is_liked for _, is_liked in mentions)
    ]
    strong = [interest for interest in interests if interest.score >= LEAST_INTEREST]
    return sorted(strong, key=lambda interest: (-interest.score, interest.name))


def _patterns(events: Iterable[EventView], now: datetime) -> list[Pattern]:
    done: dict[tuple[str, str | None], list[EventView]] = defaultdict(list)
    for event in events:
        done[event.type, event.tool_name].append(event)
    return [
        _pattern(
            type_, tool, [(event.id, event.occurred_at, event.session_id) for event in again], now
        )
        for (type_, tool), again in done.items()
        if is_again((event.occurred_at, event.session_id) for event in again)
    ]


def _habits(claims: Claims, stated: Sequence[MemoryView], now: datetime) -> list[Pattern]:
    """Return what a model says memories show, as far as enough of them stand."""
    habits: list[Pattern] = []
    for each in claims.habits:
        shows = [memory for memory in stated if memory.id in each.memories]
        if is_again((said_at(memory), None) for memory in shows):
            again = [(memory.id, said_at(memory), None) for memory in shows]
            habits.append(replace(_pattern(HABIT, None, again, now), text=each.text))
    return habits


def said_at(memory: MemoryView) -> datetime:
    """Return when what a memory says was said."""
    return memory.occurred_at or memory.recorded_at


def is_again(times: Iterable[tuple[datetime, str | None]]) -> bool:
    """Return whether what was done at these times, in these sessions, is a pattern.

    Where there is no session, days are counted.
    """
    done = list(times)
    return min(len(done), _apart(done)) >= LEAST_TIMES


def _apart(times: Iterable[tuple[datetime, str | None]]) -> int:
    return len({session or at.date() for at, session in times})


def _pattern(
    type_: str,
    tool_name: str | None,
    again: Sequence[tuple[UUID, datetime, str | None]],
    now: datetime,
) -> Pattern:
    times = [at for _, at, _ in again]
    strength = min(len(again) / FULL_TIMES, 1.0) * _left(max(times), now)
    return Pattern(
        type=type_,
        tool_name=tool_name,
        times=len(again),
        sessions=_apart((at, session) for _, at, session in again),
        first_at=min(times),
        last_at=max(times),
        strength=round(strength, 4),
        evidence=tuple(id_ for id_, _, _ in again[:MAX_EVIDENCE]),
    )


def _strongest(patterns: Iterable[Pattern]) -> list[Pattern]:
    return sorted(
        patterns,
        key=lambda each: (-each.strength, each.type, each.tool_name or "", each.text or ""),
    )


def _left(at: datetime | None, now: datetime) -> float:
    """Return what is left, between 0 and 1, of what was said or done at a moment."""
    days = max(0.0, (now - at).total_seconds() / 86_400) if at else 0.0
    return 0.5 ** (days / HALF_LIFE_DAYS)
