"""An opportunity: two people who should meet, how it stands, and who may move it where. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID


class OpportunityState(StrEnum):
    """How an opportunity stands. Accepted, rejected and expired are ends."""

    LATENT = "latent"  # found, and nobody was told but who looked
    NEGOTIATING = "negotiating"  # their agents speak with each other
    DRAFT = "draft"  # asked for, and not sent yet
    PENDING = "pending"  # both see it
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    STALLED = "stalled"  # the agents came to no end
    EXPIRED = "expired"


class Valency(StrEnum):
    """What one of the two is to the other."""

    AGENT = "agent"  # can do something for the other
    PATIENT = "patient"  # needs something from the other
    PEER = "peer"  # both want the same joint thing


OPPOSITE = {
    Valency.AGENT: Valency.PATIENT,
    Valency.PATIENT: Valency.AGENT,
    Valency.PEER: Valency.PEER,
}


class OpportunityTrigger(StrEnum):
    """What began the search."""

    AMBIENT = "ambient"  # an intent was made or changed, or a feed was poor
    ORCHESTRATOR = "orchestrator"  # somebody asked, in a chat or over the API
    INTRODUCER = "introducer"  # a third person proposes two
    CALLER = "caller"  # picked by who called `discover`


class Party(StrEnum):
    """Who moves an opportunity."""

    CAIRN = "cairn"
    SOURCE = "source"
    TARGET = "target"
    INTRODUCER = "introducer"


PEOPLE = frozenset({Party.SOURCE, Party.TARGET, Party.INTRODUCER})
TWO = frozenset({Party.SOURCE, Party.TARGET})
CAIRN = frozenset({Party.CAIRN})
_EXPIRES = {
    (state, OpportunityState.EXPIRED): CAIRN
    for state in (
        OpportunityState.LATENT,
        OpportunityState.NEGOTIATING,
        OpportunityState.DRAFT,
        OpportunityState.PENDING,
        OpportunityState.STALLED,
    )
}
MOVES: Mapping[tuple[OpportunityState, OpportunityState], frozenset[Party]] = {
    (OpportunityState.LATENT, OpportunityState.NEGOTIATING): CAIRN,
    (OpportunityState.LATENT, OpportunityState.PENDING): PEOPLE,
    (OpportunityState.LATENT, OpportunityState.REJECTED): PEOPLE,
    (OpportunityState.DRAFT, OpportunityState.NEGOTIATING): CAIRN,
    (OpportunityState.DRAFT, OpportunityState.PENDING): PEOPLE,
    (OpportunityState.DRAFT, OpportunityState.REJECTED): PEOPLE,
    (OpportunityState.NEGOTIATING, OpportunityState.PENDING): CAIRN,
    (OpportunityState.NEGOTIATING, OpportunityState.DRAFT): CAIRN,
    (OpportunityState.NEGOTIATING, OpportunityState.STALLED): CAIRN,
    (OpportunityState.STALLED, OpportunityState.NEGOTIATING): CAIRN,
    (OpportunityState.STALLED, OpportunityState.REJECTED): PEOPLE,
    (OpportunityState.PENDING, OpportunityState.ACCEPTED): TWO,
    (OpportunityState.PENDING, OpportunityState.REJECTED): PEOPLE,
    **_EXPIRES,
}
"""Every transition there is, and who may make it."""

ENDS = frozenset({OpportunityState.ACCEPTED, OpportunityState.REJECTED, OpportunityState.EXPIRED})
OPEN = frozenset(OpportunityState) - ENDS
SENDABLE = frozenset({OpportunityState.LATENT, OpportunityState.DRAFT})


@dataclass(frozen=True, slots=True, kw_only=True)
class OpportunityRow:
    """An opportunity. `body` is sealed for `data_subjects` under its id: the reason and the texts.

    `pair` is the same whoever of the two looked. `*_yes_at` is when that side said yes for itself,
    `target_found_at` when the other one's own search found it, too.
    """

    id: UUID
    pair: str
    network_id: UUID
    source_id: UUID
    target_id: UUID
    introducer_id: UUID | None
    source_intent: UUID | None
    target_intent: UUID | None
    source_role: Valency
    target_role: Valency
    score: int
    trigger: OpportunityTrigger
    state: OpportunityState
    data_subjects: tuple[UUID, ...]
    body: bytes
    created_at: datetime
    changed_at: datetime
    expires_at: datetime
    source_yes_at: datetime | None = None
    target_yes_at: datetime | None = None
    target_found_at: datetime | None = None

    def party_of(self, member_id: UUID | None) -> Party | None:
        """Return which part somebody has in it; None for a stranger, CAIRN for nobody."""
        if member_id is None:
            return Party.CAIRN
        if member_id == self.source_id:
            return Party.SOURCE
        if member_id == self.target_id:
            return Party.TARGET
        return Party.INTRODUCER if member_id == self.introducer_id else None

    def may_move(self, to: OpportunityState, party: Party) -> bool:
        """Return whether the table lets somebody move it there from where it is."""
        return party in MOVES.get((self.state, to), frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """A state that an opportunity had from a place in the ledger on; `actor` None is Cairn."""

    seq: int
    state: OpportunityState
    actor: UUID | None
    position: int
    changed_at: datetime


def pair_of(a: UUID, a_intent: UUID | None, b: UUID, b_intent: UUID | None) -> str:
    """Return the key of two people and both intents, either of which may be none, in any order."""
    ends = sorted((f"{a}:{a_intent or ''}", f"{b}:{b_intent or ''}"))
    return sha256("|".join(ends).encode()).hexdigest()


State, Trigger = OpportunityState, OpportunityTrigger
