"""What is shown of a negotiation to its sides, with the words of those turns that are not gone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.discovery.negotiation.rows import (
    Move,
    NegotiationOutcome,
    NegotiationState,
    Speaker,
    Voice,
)
from cairn.ledger.keys import BodyUnreadable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.discovery.negotiation.rows import NegotiationRow, TurnRow
    from cairn.writing.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class NegotiationRoles:
    """What the two are to each other: agent, patient or peer."""

    source: str
    candidate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NegotiationTurn:
    """One turn. `message` is null where it was forgotten; `position` is of its ledger entry.

    `voice` says whose words and whose key: the side's agent by its own, the agent attested by
    Cairn, or Cairn's advocate; `by` how the advocate came to it.
    """

    seq: int
    speaker: Speaker
    action: Move
    message: str | None
    suggested_roles: NegotiationRoles | None
    fit: int | None
    voice: Voice
    by: str | None
    key_id: str
    inputs: tuple[str, ...]
    position: int
    said_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NegotiationView:
    """A negotiation as its two sides see it. `side` is the reader's, null for an admin.

    `deadline` is when it goes on by itself, `question` what the reader's own person is asked.
    `failures` counts turns that failed, which are none; `failure` says what the newest was.
    """

    id: UUID
    opportunity_id: UUID
    network_id: UUID
    side: Speaker | None
    state: NegotiationState
    outcome: NegotiationOutcome | None
    speaker: Speaker | None
    agreed_roles: NegotiationRoles | None
    fit: float | None
    turn_cap: int | None
    turn_count: int
    stance: str
    trigger: str
    deadline: datetime | None
    question: str | None
    failures: int
    failure: str | None
    begun_at: datetime
    ended_at: datetime | None
    turns: tuple[NegotiationTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Insights:
    """What a negotiation came to, for a card: of words that both sides heard."""

    outcome: NegotiationOutcome
    headline: str
    text: str
    by: str = "rules"


def opened_turn(
    platform: Platform, workspace_id: UUID, row: TurnRow, held: Mapping[UUID, bytes] | None = None
) -> Mapping[str, Any]:
    """Return what a turn said, with its salt; nothing where it was forgotten.

    `held` are the keys of its data subjects, where they were fetched with others'.
    """
    if not row.body:
        return {}
    if held is None:
        held = platform.keys.get(workspace_id, row.data_subjects)
    try:
        return platform.cipher.open(row.id, workspace_id, row.data_subjects, held, row.body)
    except BodyUnreadable as error:
        if error.reason != "key-destroyed":
            raise
        return {}


def turn_of(row: TurnRow, body: Mapping[str, Any]) -> NegotiationTurn:
    """Return a turn as it is shown."""
    header = json.loads(row.header)
    roles = header["roles"]
    return NegotiationTurn(
        seq=row.seq,
        speaker=Speaker(header["speaker"]),
        action=Move(header["move"]),
        message=body.get("message"),
        suggested_roles=NegotiationRoles(source=roles[0], candidate=roles[1]) if roles else None,
        fit=header["fit"],
        voice=Voice(header["voice"]),
        by=body.get("by"),
        key_id=header["key_id"],
        inputs=tuple(header["inputs"]),
        position=row.position,
        said_at=row.said_at,
    )


_HEADLINES = {
    NegotiationOutcome.ACCEPTED: "Both sides' agents want this meeting",
    NegotiationOutcome.REJECTED: "One side's agent declined",
    NegotiationOutcome.REJECTED_STALLED: "The agents came to no end",
    NegotiationOutcome.WAITING_FOR_AGENT: "The agents wait for a word of their people",
    NegotiationOutcome.TIMED_OUT: "A side's agent did not answer in time",
    NegotiationOutcome.TURN_CAP: "The agents did not agree within their turns",
    NegotiationOutcome.EXPIRED: "It came to nothing: somebody or something went away",
}


def insights_of(row: NegotiationRow, turns: Sequence[NegotiationTurn]) -> Insights | None:
    """Return what a negotiation came to; None while it is open."""
    if row.outcome is None:
        return None
    last = {turn.speaker: turn for turn in turns if turn.message}
    lines = [f"{turn.speaker}: {turn.message}" for turn in sorted(last.values(), key=_place)]
    return Insights(
        outcome=row.outcome, headline=_HEADLINES[row.outcome], text="\n".join(lines)[:2_000]
    )


def _place(turn: NegotiationTurn) -> int:
    return turn.seq


def events_of(view: NegotiationView) -> list[dict[str, Any]]:
    """Return the trace events of a negotiation, with the words of its turns: for its sides."""
    about = {"opportunity_id": view.opportunity_id, "negotiation_id": view.id}
    start = {**about, "trigger": view.trigger, "started_at": view.begun_at}
    events: list[dict[str, Any]] = [{"event": "negotiation_session_start", "data": start}]
    for turn in view.turns:
        data = {
            **about,
            "turn_index": turn.seq,
            "actor": turn.speaker,
            "action": turn.action,
            "message": turn.message,
            "suggested_roles": turn.suggested_roles,
            "voice": turn.voice,
            "at": turn.said_at,
        }
        events.append({"event": "negotiation_turn", "data": data})
    if view.outcome is not None:
        end = {**about, "outcome": view.outcome, "turn_count": view.turn_count}
        events.append(
            {"event": "negotiation_outcome", "data": {**end, "agreed_roles": view.agreed_roles}}
        )
    if view.ended_at is not None:
        spent = round((view.ended_at - view.begun_at).total_seconds() * 1000)
        events.append({"event": "negotiation_session_end", "data": {**about, "duration_ms": spent}})
    return events
