"""How a negotiation stands, its turns, what a side keeps to itself, and the agents of members."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


class Speaker(StrEnum):
    """A side of a negotiation."""

    SOURCE = "source"  # whose discovery it is; proposes
    CANDIDATE = "candidate"

    @property
    def other(self) -> Speaker:
        """Return the other side."""
        return Speaker.CANDIDATE if self is Speaker.SOURCE else Speaker.SOURCE


class Move(StrEnum):
    """What a turn does."""

    PROPOSE = "propose"
    COUNTER = "counter"
    ACCEPT = "accept"
    REJECT = "reject"
    QUESTION = "question"


class NegotiationOutcome(StrEnum):
    """How a negotiation ended, or why it waits."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REJECTED_STALLED = "rejected_stalled"
    WAITING_FOR_AGENT = "waiting_for_agent"
    TIMED_OUT = "timed_out"
    TURN_CAP = "turn_cap"
    EXPIRED = "expired"  # an intent, a membership or a person went away


class NegotiationState(StrEnum):
    """How far a negotiation is. open <-> waiting; ended is the end."""

    OPEN = "open"
    WAITING = "waiting"  # for a word of the sides' own people
    ENDED = "ended"


class Voice(StrEnum):
    """Whose words a turn has, and whose key signed it."""

    AGENT = "agent"  # the side's own agent, by its own key
    ATTESTED = "attested"  # the side's own agent, which has no key: Cairn attests what came
    ADVOCATE = "advocate"  # Cairn, for a side that brings no agent


@dataclass(frozen=True, slots=True, kw_only=True)
class NegotiationRow:
    """A negotiation. `cap` is None where both sides bring agents.

    `head` is the hash of the newest turn, `undecided` how many counters and questions the newest
    turns are in a row. `claim` is a turn that the speaking side's agent has taken up. `failure` is
    what the newest turn was that failed.
    """

    id: UUID
    opportunity_id: UUID
    network_id: UUID
    source_id: UUID | None
    candidate_id: UUID | None
    source_intent: UUID | None
    candidate_intent: UUID | None
    source_role: str
    candidate_role: str
    score: int
    trigger: str
    state: NegotiationState
    outcome: NegotiationOutcome | None
    cap: int | None
    seq: int
    speaker: Speaker
    head: bytes
    undecided: int
    fit_total: int
    fit_count: int
    people_asked: bool
    version: int
    deadline: datetime | None
    claim: UUID | None
    claimed_by: str | None
    claim_until: datetime | None
    failures: int
    failure: str | None
    data_subjects: tuple[UUID, ...]
    begun_at: datetime
    changed_at: datetime
    ended_at: datetime | None

    def member(self, side: Speaker) -> UUID | None:
        """Return the member of a side; None when they were forgotten."""
        return self.source_id if side is Speaker.SOURCE else self.candidate_id

    def intent(self, side: Speaker) -> UUID | None:
        """Return what a side seeks or offers here, where it is an intent."""
        return self.source_intent if side is Speaker.SOURCE else self.candidate_intent

    @property
    def fit(self) -> float | None:
        """Return the mean of the fits that the turns say."""
        return self.fit_total / self.fit_count if self.fit_count else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """A turn as it stands in the ledger. `header` is canonical JSON and is what was signed."""

    negotiation_id: UUID
    seq: int
    id: UUID
    header: str
    signature: bytes
    public_key: bytes
    position: int
    data_subjects: tuple[UUID, ...]
    body: bytes
    said_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateRow:
    """What one side alone reads: inputs of its advocate's turn, or a question to its person."""

    negotiation_id: UUID
    id: UUID
    member_id: UUID
    seq: int
    kind: str
    data_subjects: tuple[UUID, ...]
    body: bytes
    asked_at: datetime
    answered_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NegotiatorRow:
    """An agent that a member brings."""

    member_id: UUID
    agent: str
    seen_at: datetime | None
    takeover: bool
    public_key: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRow:
    """A member of a negotiation as they are now."""

    id: UUID
    client_id: str
    in_network: bool
    intents_active: bool
