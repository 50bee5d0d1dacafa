"""Derive a profile from what a client said and did: by rules, each part with its evidence. Pure.

Nothing of it is stored: the same memories and events give the same profile at the same moment.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.conversations.messages import OWN_METADATA
from cairn.extraction.draw import Speaker, draw
from cairn.extraction.liking import liked
from cairn.extraction.skills import Level, skill_in
from cairn.extraction.statements import StatementKind
from cairn.memories.kinds import MemoryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.events.read import EventView
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
    """What was done for a client again and again; `evidence` are events, the newest first."""

    type: str
    tool_name: str | None
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
) -> Profile:
    """Return what memories and events, the newest first, say of a client."""
    kinds = {memory.id: kind_of(memory) for memory in memories}
    stated = [memory for memory in memories if kinds[memory.id] in _STATED]
    preferences = [memory for memory in stated if kinds[memory.id] is StatementKind.PREFERENCE]
    others = [memory for memory in stated if kinds[memory.id] is not StatementKind.PREFERENCE]
    skills = {
        memory.id: skill for memory in others if (skill := skill_in(_speaker(memory.text)[1]))
    }
    return Profile(
        client_id=client_id,
        facts=tuple(Statement(**_said(memory)) for memory in others if memory.id not in skills),
        preferences=tuple(Statement(**_said(memory)) for memory in preferences),
        skills=tuple(
            Skill(**_said(memory), name=skills[memory.id][0], level=skills[memory.id][1])
            for memory in others
            if memory.id in skills
        ),
        interests=tuple(_interests(stated, {memory.id for memory in preferences}, now)),
        patterns=tuple(_patterns(events, now)),
        truncated=truncated,
    )


def kind_of(memory: MemoryView) -> StatementKind | None:
    """Return what a memory states: as it was drawn, else as the rules read it, else a fact.

    None for what happened, was decided or is planned.
    """
    if memory.type not in (MemoryKind.FACT, MemoryKind.STATUS):
        return None
    own: Mapping[str, Any] = memory.metadata.get(OWN_METADATA) or {}
    if "statement" in own:
        return StatementKind(own["statement"])
    speaker, statement = _speaker(memory.text)
    subject = statement.split(maxsplit=1)[0] if statement else ""
    drawn = draw(statement, Speaker(speaker, known={subject}))
    return drawn[0].kind if drawn else StatementKind.FACT


def _speaker(text: str) -> tuple[str, str]:
    """Return who says a text that was drawn from a message, and what is said."""
    speaker, colon, statement = text.partition(": ")
    return (speaker, statement) if colon and len(speaker) <= MAX_SPEAKER else ("", text)


def _said(memory: MemoryView) -> dict[str, Any]:
    return {
        "id": memory.id,
        "text": memory.text,
        "confidence": memory.confidence,
        "occurred_at": memory.occurred_at,
        "evidence": (memory.parent_id,) if memory.parent_id else (),
    }


def _interests(
    stated: Iterable[MemoryView], preferences: set[UUID], now: datetime
) -> list[Interest]:
    naming: dict[NamedEntity, list[tuple[MemoryView, bool]]] = defaultdict(list)
    for memory in stated:
        likes = liked(_speaker(memory.text)[1]) if memory.id in preferences else None
        for entity in memory.entities:
            if entity.type in NO_INTERESTS or likes == "":
                continue  # a dislike is no interest
            naming[entity].append((memory, likes is not None and entity.name.casefold() in likes))
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
    patterns = [_pattern(again, now) for again in done.values()]
    frequent = [
        pattern for pattern in patterns if min(pattern.times, pattern.sessions) >= LEAST_TIMES
    ]
    return sorted(
        frequent, key=lambda pattern: (-pattern.strength, pattern.type, pattern.tool_name or "")
    )


def _pattern(again: Sequence[EventView], now: datetime) -> Pattern:
    last = max(event.occurred_at for event in again)
    strength = min(len(again) / FULL_TIMES, 1.0) * _left(last, now)
    return Pattern(
        type=again[0].type,
        tool_name=again[0].tool_name,
        times=len(again),
        sessions=len({event.session_id or event.occurred_at.date() for event in again}),
        first_at=min(event.occurred_at for event in again),
        last_at=last,
        strength=round(strength, 4),
        evidence=tuple(event.id for event in again[:MAX_EVIDENCE]),
    )


def _left(at: datetime | None, now: datetime) -> float:
    """Return what is left, between 0 and 1, of what was said or done at a moment."""
    days = max(0.0, (now - at).total_seconds() / 86_400) if at else 0.0
    return 0.5 ** (days / HALF_LIFE_DAYS)
