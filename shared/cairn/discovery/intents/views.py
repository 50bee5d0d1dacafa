"""Intents, profiles and premises as their owner is shown them, and what a text came to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.discovery.intents.rows import IntentRow, IntentState, TextRow
from cairn.discovery.intents.statements import Act, Side
from cairn.discovery.intents.verify import By, Verified


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentView:
    """An intent. `original` is what was said before it was made specific by the profile.

    `question_about` is the open intent that it may be a change of: its owner is to say.
    """

    id: UUID
    client_id: str
    description: str
    side: Side
    state: IntentState
    version: int
    position: int
    created_at: datetime | None
    changed_at: datetime
    expires_at: datetime | None
    discovered_at: datetime | None
    act: Act | None
    confidence: float | None
    authority: int | None
    sincerity: int | None
    clarity: int | None
    entropy: float | None
    vague: bool
    anchor: str | None
    reason: str
    original: str | None
    question_about: UUID | None
    by: By


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentStatement:
    """A statement of a text: what is done by it, how far it holds, and whether it is kept."""

    text: str
    act: Act
    side: Side | None
    kept: bool
    closes: bool
    authority: int
    sincerity: int
    clarity: int
    entropy: float
    confidence: float
    vague: bool
    anchor: str | None
    original: str | None
    reason: str
    by: By


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentAction:
    """What was changed, or would be. `id` is None for a new intent that was only proposed."""

    type: str
    id: UUID | None
    description: str | None
    side: Side | None
    score: float
    unsure: bool
    near: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentsSubmitted:
    """What a text came to. `questions` are about intents that may be changes of others."""

    mode: str
    by: By
    statements: tuple[IntentStatement, ...]
    actions: tuple[IntentAction, ...]
    intents: tuple[IntentView, ...]
    questions: tuple[str, ...]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A source that nothing was read from, and why."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileView:
    """A profile as a shared network shows it. `written` False: nothing was said so far.

    `missing` are the parts that nothing is said of, `changed` those that this write changed.
    """

    id: UUID | None
    client_id: str
    written: bool
    name: str
    bio: str
    location: str
    context: str
    skills: tuple[str, ...]
    interests: tuple[str, ...]
    text: str
    by: str
    missing: tuple[str, ...]
    changed: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    premises_added: int = 0
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PremiseView:
    """One thing that a member says of themselves; nobody else is shown it."""

    id: UUID
    text: str
    by: str
    recorded_at: datetime
    expires_at: datetime | None


def metadata_of(statement: Verified) -> dict[str, Any]:
    """Return what is kept of how an intent was verified."""
    return {
        "act": statement.act.value,
        "by": statement.by,
        "confidence": statement.confidence,
        "authority": statement.authority,
        "sincerity": statement.sincerity,
        "clarity": statement.clarity,
        "entropy": statement.entropy,
        "vague": statement.is_vague,
        "anchor": statement.anchor,
        "reason": statement.reason,
        "original": statement.original,
        "question_about": None,
    }


def intent_view(row: IntentRow, text: TextRow) -> IntentView:
    """Return an intent as it stands."""
    return IntentView(
        id=row.id,
        client_id=text.client_id,
        description=text.text,
        side=Side(row.side),
        state=row.state,
        version=row.version,
        position=text.position,
        created_at=row.created_at,
        changed_at=row.changed_at,
        expires_at=row.expires_at,
        discovered_at=row.discovered_at,
        **_judged(text.metadata),
    )


def past_view(text: TextRow) -> IntentView:
    """Return an intent as its node said at a place in the ledger."""
    metadata = text.metadata
    until = metadata["expires_at"]
    return IntentView(
        id=text.id,
        client_id=text.client_id,
        description=text.text,
        side=Side(metadata["side"]),
        state=IntentState(metadata["state"]),
        version=metadata["version"],
        position=text.position,
        created_at=None,
        changed_at=text.recorded_at,
        expires_at=datetime.fromisoformat(until) if until else None,
        discovered_at=None,
        **_judged(metadata),
    )


def statement_view(statement: Verified) -> IntentStatement:
    """Return a statement as it is shown."""
    return IntentStatement(
        text=statement.text,
        act=statement.act,
        side=statement.side,
        kept=statement.is_intent,
        closes=statement.closes,
        authority=statement.authority,
        sincerity=statement.sincerity,
        clarity=statement.clarity,
        entropy=statement.entropy,
        confidence=statement.confidence,
        vague=statement.is_vague,
        anchor=statement.anchor,
        original=statement.original,
        reason=statement.reason,
        by=statement.by,
    )


def _judged(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was judged of an intent, as the fields of its view."""
    about = metadata.get("question_about")
    act = metadata.get("act")
    names = ("confidence", "authority", "sincerity", "clarity", "entropy", "anchor", "original")
    return {name: metadata.get(name) for name in names} | {
        "act": Act(act) if act else None,
        "vague": bool(metadata.get("vague")),
        "reason": metadata.get("reason") or "",
        "by": metadata.get("by") or "rules",
        "question_about": UUID(about) if about else None,
    }
