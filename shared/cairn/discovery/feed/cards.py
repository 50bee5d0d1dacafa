"""Cards of a feed by rules: what an opportunity says to one of its people. Pure.

A card is made of what both of the two may see: the texts that a shared network shows, the reason,
and what was said aloud in a negotiation. Nothing else of the other side goes in.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from cairn.discovery.matching.rows import OpportunityState, Party, Valency
from cairn.kernel.text.canonical import format_timestamp

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cairn.discovery.matching.views import OpportunityView, SideView

MOST_CHARS = 240
"""Of a text that a card quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedNarrator:
    """Who tells of a card: Cairn, a member who introduces two, or the member's own agent."""

    kind: Literal["cairn", "introducer", "agent"]
    remark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """What came of a negotiation, as it was said aloud."""

    headline: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedCard:
    """A card: somebody worth meeting, why, and what to do. `by` says what worded it."""

    opportunity_id: UUID
    state: OpportunityState
    score: int
    member_id: UUID
    name: str
    headline: str
    summary: str
    why_you: str
    suggested_action: str
    can: tuple[str, ...]
    narrator: FeedNarrator
    by: Literal["rules", "model"]
    changed_at: datetime


def card_of(view: OpportunityView, insight: Insight | None) -> FeedCard:
    """Return the card of an opportunity for whoever reads it."""
    mine, other = sides_of(view)
    introduces = view.yours is Party.INTRODUCER
    return FeedCard(
        opportunity_id=view.id,
        state=view.state,
        score=view.score,
        member_id=other.member_id,
        name=_name(other),
        headline=_introduction(mine, other) if introduces else _headline(other),
        summary=_quoted(other.intent) or view.reason,
        why_you=_why(view, mine, introduces=introduces),
        suggested_action=_action(view, other),
        can=view.can,
        narrator=_narrator(view, insight),
        by="rules",
        changed_at=view.changed_at,
    )


def sides_of(view: OpportunityView) -> tuple[SideView, SideView]:
    """Return the reader's own side and the other one; an introducer's are in their order."""
    if view.yours is Party.TARGET:
        return view.target, view.source
    return view.source, view.target


def facts_of(view: OpportunityView, insight: Insight | None) -> str:
    """Return what a card depends on, as a digest: another one, and the card is made anew."""
    document = {
        "id": str(view.id),
        "state": view.state.value,
        "yours": view.yours.value if view.yours else "",
        "can": list(view.can),
        "reason": view.reason,
        "questions": list(view.questions),
        "texts": [view.source.name, view.source.intent, view.target.name, view.target.intent],
        "changed_at": format_timestamp(view.changed_at),
        "insight": asdict(insight) if insight else None,
    }
    return sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _headline(other: SideView) -> str:
    name = _name(other)
    if other.role is Valency.AGENT:
        return f"{name} may have what you seek"
    if other.role is Valency.PATIENT:
        return f"{name} seeks what you offer"
    return f"{name} wants to do the same as you"


def _introduction(first: SideView, second: SideView) -> str:
    return f"{_name(first)} and {_name(second)} should meet"


def _why(view: OpportunityView, mine: SideView, *, introduces: bool) -> str:
    own = _quoted(mine.intent)
    is_in_reason = not own or mine.intent in view.reason
    begin = "" if introduces or is_in_reason else f"You said: {own} "
    questions = " ".join(view.questions)
    still = f" Still open: {questions}" if questions else ""
    return f"{begin}{view.reason}{still}".strip()


def _action(view: OpportunityView, other: SideView) -> str:
    name = _name(other)
    if "accept" in view.can:
        return f"Say whether you want to meet {name}"
    if "send" in view.can:
        return "Send it to both" if view.yours is Party.INTRODUCER else f"Send it to {name}"
    return {
        OpportunityState.NEGOTIATING: f"Wait: your agent is talking with {name}'s",
        OpportunityState.PENDING: f"Wait for {name}'s answer",
        OpportunityState.ACCEPTED: f"Write to {name}",
        OpportunityState.STALLED: "Answer what your agent asked, or leave it",
    }.get(view.state, "Nothing to do")


def _narrator(view: OpportunityView, insight: Insight | None) -> FeedNarrator:
    if view.introducer_id is not None:
        own = view.yours is Party.INTRODUCER
        remark = "You introduce them." if own else "Somebody who knows you both introduces you."
        return FeedNarrator(kind="introducer", remark=remark)
    if insight is not None:
        return FeedNarrator(kind="agent", remark=_spoken(view, insight))
    fit = "a very good" if view.score >= 90 else "a good"
    remark = f"Cairn found this in a network of yours: {fit} match."
    return FeedNarrator(kind="cairn", remark=remark)


def _spoken(view: OpportunityView, insight: Insight) -> str:
    """Return what came of a negotiation, with names in the place of the sides."""
    speakers = {"source": _name(view.source), "candidate": _name(view.target)}
    lines = [f"{insight.headline}."]
    for line in insight.text.splitlines():
        side, mark, words = line.partition(": ")
        spoken = f"{speakers[side]}'s agent: {words}" if mark and side in speakers else line
        lines.append(_quoted(spoken))
    return " ".join(lines)


def _name(side: SideView) -> str:
    return side.name or "A member"


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MOST_CHARS else f"{text[: MOST_CHARS - 1].rstrip()}\u2026"
