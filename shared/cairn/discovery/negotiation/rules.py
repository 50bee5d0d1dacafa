"""Who may say what in a negotiation, when, and how it ends. Pure.

Two sides alternate; the first turn proposes. Nobody accepts for the other side: an acceptance is
of what the other side said last. A turn that is refused is no turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.discovery.negotiation.rows import Move, NegotiationOutcome, NegotiationState, Speaker
from cairn.kernel.errors import Conflict

if TYPE_CHECKING:
    from datetime import datetime

    from cairn.discovery.negotiation.rows import NegotiationRow

TURN_CAP = 6
"""Turns of a negotiation; none where both sides bring agents of their own, but then a day."""

LONGEST = timedelta(hours=24)
PARK = {"ambient": timedelta(minutes=5), "orchestrator": timedelta(seconds=60)}
"""How long a side's own agent has for a turn, by what began the discovery."""

PERSON = timedelta(hours=24)
"""How long the sides' own people have when their agents come to no end."""

PRESENT = timedelta(minutes=5)
"""An agent that has asked for a turn since then is waited for."""

STANCE_SHIFT = 4
"""Counters and questions in a row after which agents are told to come to an end."""

STALL = 5
"""Counters and questions in a row after which the sides' people are asked the question left."""

START = bytes(32)
"""What the first turn carries as the hash of the turn before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """What a side says in a turn. `roles` are the source's and the candidate's."""

    move: Move
    message: str
    roles: tuple[str, str] | None = None
    fit: int | None = None


def require_turn(row: NegotiationRow, side: Speaker, move: Move) -> None:
    """Raise Conflict when it has ended or waits, is the other side's turn, or is no such move's."""
    if row.state is NegotiationState.ENDED:
        raise Conflict("This negotiation has ended.", reason="negotiation-ended")
    if row.state is NegotiationState.WAITING:
        raise Conflict("This negotiation waits for its people.", reason="waiting-for-people")
    if row.speaker is not side:
        raise Conflict("It is the other side's turn.", reason="not-your-turn")
    if (move is Move.PROPOSE) != (row.seq == 0):
        raise Conflict("The first turn proposes, and no other one does.", reason="move")


def after(row: NegotiationRow, utterance: Utterance, head: bytes, now: datetime) -> NegotiationRow:
    """Return the negotiation after a turn whose hash is `head`; its deadline is not yet set."""
    roles = utterance.roles or (row.source_role, row.candidate_role)
    undecided = row.undecided + 1 if utterance.move in (Move.COUNTER, Move.QUESTION) else 0
    to = replace(
        row,
        seq=row.seq + 1,
        speaker=row.speaker.other,
        head=head,
        source_role=roles[0],
        candidate_role=roles[1],
        undecided=undecided,
        fit_total=row.fit_total + (utterance.fit or 0),
        fit_count=row.fit_count + (utterance.fit is not None),
        claim=None,
        claimed_by=None,
        claim_until=None,
        outcome=None,
        changed_at=now,
    )
    outcome = _outcome(to, utterance.move, row)
    if outcome is NegotiationOutcome.WAITING_FOR_AGENT:
        return replace(
            to,
            state=NegotiationState.WAITING,
            outcome=outcome,
            people_asked=True,
            deadline=now + PERSON,
        )
    return ended(to, outcome, now) if outcome is not None else to


def _outcome(to: NegotiationRow, move: Move, before: NegotiationRow) -> NegotiationOutcome | None:
    if move is Move.ACCEPT:
        return NegotiationOutcome.ACCEPTED
    if move is Move.REJECT:
        return (
            NegotiationOutcome.REJECTED_STALLED
            if before.undecided >= STANCE_SHIFT
            else NegotiationOutcome.REJECTED
        )
    if to.cap is not None and to.seq >= to.cap:
        return NegotiationOutcome.TURN_CAP
    if to.undecided < STALL:
        return None
    return (
        NegotiationOutcome.REJECTED_STALLED
        if to.people_asked
        else NegotiationOutcome.WAITING_FOR_AGENT
    )


def ended(row: NegotiationRow, outcome: NegotiationOutcome, now: datetime) -> NegotiationRow:
    """Return the negotiation with an end."""
    return replace(
        row,
        state=NegotiationState.ENDED,
        outcome=outcome,
        deadline=None,
        claim=None,
        claimed_by=None,
        claim_until=None,
        changed_at=now,
        ended_at=now,
    )


def resumed(row: NegotiationRow, now: datetime) -> NegotiationRow:
    """Return a negotiation that waited for its people and goes on: one of them has answered."""
    return replace(
        row, state=NegotiationState.OPEN, outcome=None, undecided=0, deadline=now, changed_at=now
    )


def deadline(row: NegotiationRow, now: datetime, *, own_agent: bool) -> datetime:
    """Return when an open negotiation goes on by itself: at once where nobody is waited for."""
    until = now + PARK[row.trigger] if own_agent else now
    return min(until, row.begun_at + _longest(row))


def _longest(row: NegotiationRow) -> timedelta:
    """Return how long it may take: a day, and as long again where its people were asked."""
    return LONGEST + PERSON if row.people_asked else LONGEST


def overdue(row: NegotiationRow, now: datetime) -> bool:
    """Return whether its day is over."""
    return now - row.begun_at >= _longest(row)


def stance(row: NegotiationRow) -> str:
    """Return how the side whose turn it is should go about it."""
    last = row.cap is not None and row.seq + 1 >= row.cap
    return "decide" if last or row.undecided >= STANCE_SHIFT else "explore"
