"""How a negotiation moves: one transaction with its entry, by compare-and-set, and signed.

What another turn, an agent or the sweep did first wins: then nothing is written.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cairn.discovery.matching.moving import move as move_opportunity
from cairn.discovery.matching.rows import OpportunityState
from cairn.discovery.negotiation import rules, signing
from cairn.discovery.negotiation.rows import (
    NegotiationOutcome,
    NegotiationRow,
    NegotiationState,
    PrivateRow,
    Speaker,
    TurnRow,
    Voice,
)
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.text.canonical import format_timestamp
from cairn.ledger.entry import SYSTEM
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from uuid import UUID

    from cairn.discovery.matching.rows import OpportunityRow
    from cairn.discovery.negotiation.rows import NegotiatorRow, SideRow
    from cairn.discovery.negotiation.rules import Utterance
    from cairn.kernel.stores import Stores
    from cairn.ledger.entry import Actor
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

NEGOTIABLE = frozenset(
    {
        OpportunityState.LATENT,
        OpportunityState.DRAFT,
        OpportunityState.STALLED,
        OpportunityState.NEGOTIATING,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A turn to take: what is said, its header, who signed it. `private` is its side's alone."""

    utterance: Utterance
    salt: bytes
    header: bytes
    signature: bytes
    public_key: bytes
    by: str | None = None
    private: Sequence[Mapping[str, Any]] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A negotiation with its opportunity, and its members as they are now."""

    workspace_id: UUID
    row: NegotiationRow
    opportunity: OpportunityRow | None
    sides: Mapping[UUID, SideRow]
    agents: Sequence[NegotiatorRow]

    @property
    def holds(self) -> bool:
        """Return whether there is still what it is about: people, intents, their network."""
        present = [side for side in self.sides.values() if side.in_network and side.intents_active]
        negotiating = self.opportunity is not None and (
            self.opportunity.state is OpportunityState.NEGOTIATING
        )
        return len(present) == 2 and negotiating

    def side(self, speaker: Speaker) -> SideRow:
        """Return the member of a side; KeyError where there is none any more."""
        member = self.row.member(speaker)
        assert member is not None
        return self.sides[member]

    def brings_agent(self, speaker: Speaker, now: datetime) -> bool:
        """Return whether a side's own agent has asked for a turn of late."""
        return bool(_present(self.agents, self.row.member(speaker), now))

    def takes_over(self, speaker: Speaker) -> bool:
        """Return whether the advocate may answer where a side's own agent does not."""
        member = self.row.member(speaker)
        own = [agent for agent in self.agents if agent.member_id == member and agent.seen_at]
        return all(agent.takeover for agent in own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mover:
    """Reads and moves negotiations."""

    platform: Platform

    def read(self, workspace_id: UUID, negotiation_id: UUID) -> Opened:
        """Return a negotiation as it stands; NotFound without it."""
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            row = stores.negotiations.find(negotiation_id)
            if row is None:
                raise missing_negotiation(negotiation_id)
            return self._opened(stores, workspace_id, row)

    def _opened(self, stores: Stores, workspace_id: UUID, row: NegotiationRow) -> Opened:
        now = self.platform.clock()
        members = [member for member in (row.source_id, row.candidate_id) if member]
        return Opened(
            workspace_id=workspace_id,
            row=row,
            opportunity=stores.opportunities.find(row.opportunity_id),
            sides=stores.negotiations.sides(row.id, now),
            agents=stores.negotiations.agents(members),
        )

    def begin(self, workspace_id: UUID, opportunity_id: UUID, trigger: str) -> NegotiationRow:
        """Begin a negotiation about an opportunity, which is `negotiating` from then on.

        One an opportunity: a second call returns the first. Raises NotFound, Conflict
        (`not-negotiable`) for one that is sent, decided or expired.
        """
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            seen = stores.opportunities.find(opportunity_id)
        if seen is None:
            raise NotFound("There is no such opportunity.", opportunity_id=str(opportunity_id))
        subjects = tuple(sorted((seen.source_id, seen.target_id)))
        with self._writing(workspace_id, subjects, seen) as write:
            before = write.stores.negotiations.of_opportunity(opportunity_id)
            if before is not None:
                return before
            opportunity = write.stores.opportunities.find(opportunity_id)
            if opportunity is None or opportunity.state not in NEGOTIABLE:
                raise Conflict("This opportunity is not negotiated.", reason="not-negotiable")
            if opportunity.state is not OpportunityState.NEGOTIATING:
                move_opportunity(write, opportunity, OpportunityState.NEGOTIATING)
            agents = write.stores.negotiations.agents(subjects)
            row = begun(self.platform.new_id(), opportunity, trigger, agents, write.now)
            write.stores.negotiations.begin(row)
            meta = {"trigger": row.trigger, "turn_cap": row.cap, **_deadline_of(row)}
            write.note("negotiation.begun", {**_ids(row), **meta})
        return row

    def take(
        self,
        opened: Opened,
        turn: Signed,
        *,
        actor: Actor = SYSTEM,
    ) -> NegotiationRow:
        """Take a turn; Conflict (`turn-passed`) when something else moved it meanwhile.

        Raises SubjectForgotten when one of the two was forgotten.
        """
        row = opened.row
        with self._writing(
            opened.workspace_id, row.data_subjects, opened.opportunity, actor
        ) as write:
            fresh = write.stores.negotiations.find(row.id)
            if fresh is None or fresh.version != row.version:
                raise _passed()
            side = row.speaker
            head = signing.header_hash(turn.header)
            to = rules.after(fresh, turn.utterance, head, write.now)
            if to.state is NegotiationState.OPEN:
                own_agent = opened.brings_agent(to.speaker, write.now)
                to = replace(to, deadline=rules.deadline(to, write.now, own_agent=own_agent))
            private = self._inputs(write, to, turn, side)
            if to.state is NegotiationState.WAITING:
                private += self._questions(write, to, turn, side)
            self._say(write, to, turn, private)
            return self._moved(write, opened, to)

    def end(self, opened: Opened, outcome: NegotiationOutcome) -> NegotiationRow | None:
        """End a negotiation without a turn; None when something else moved it meanwhile."""
        row = opened.row
        with self._writing(opened.workspace_id, row.data_subjects, opened.opportunity) as write:
            fresh = write.stores.negotiations.find(row.id)
            if fresh is None or fresh.version != row.version:
                return None
            return self._moved(write, opened, rules.ended(fresh, outcome, write.now))

    def answer(
        self, opened: Opened, question: PrivateRow, body: Mapping[str, Any], *, actor: Actor
    ) -> NegotiationRow:
        """Take the answer of a side's own person: the negotiation goes on."""
        row = opened.row
        keys = self.platform.keys.get_or_create(opened.workspace_id, question.data_subjects)
        sealed = self.platform.cipher.seal(question.id, opened.workspace_id, keys, dict(body))
        with self._writing(
            opened.workspace_id, row.data_subjects, opened.opportunity, actor
        ) as write:
            fresh = write.stores.negotiations.find(row.id)
            if fresh is None or fresh.state is not NegotiationState.WAITING:
                raise Conflict("This negotiation waits for nobody.", reason="not-waiting")
            if not write.stores.negotiations.answer(question.id, sealed, write.now):
                raise Conflict("This question has its answer.", reason="answered")
            to = rules.resumed(fresh, write.now)
            own_agent = opened.brings_agent(to.speaker, write.now)
            to = replace(to, deadline=rules.deadline(to, write.now, own_agent=own_agent))
            answered = {"question_id": str(question.id), "answer": sealed.hex()}
            write.note("negotiation.answered", {**_ids(row), **answered, **_deadline_of(to)})
            return self._moved(write, opened, to)

    def _writing(
        self,
        workspace_id: UUID,
        subjects: tuple[UUID, ...],
        opportunity: OpportunityRow | None,
        actor: Actor = SYSTEM,
    ) -> AbstractContextManager[Write]:
        needed = {*subjects, *(opportunity.data_subjects if opportunity else ())}
        keys = self.platform.keys.get_or_create(workspace_id, needed or {workspace_id})
        return open_write(
            self.platform,
            system_principal(workspace_id),
            actor=actor,
            keys=keys,
            data_subjects=subjects,
        )

    def _say(
        self, write: Write, to: NegotiationRow, turn: Signed, private: Sequence[PrivateRow]
    ) -> None:
        """Append the turn's entry with what is private, sealed, and keep both to be read."""
        body = {"message": turn.utterance.message, "salt": turn.salt.hex(), "by": turn.by}
        subjects, turn_id = to.data_subjects, self.platform.new_id()
        keys = write.resolution.keys_of(subjects)
        meta = {
            **_ids(to),
            "header": turn.header.decode(),
            "signature": turn.signature.hex(),
            "public_key": turn.public_key.hex(),
            "private": [sealed_private(each) for each in private],
            **_deadline_of(to),
        }
        position = write.note("negotiation.turn", meta, body)
        row = TurnRow(
            negotiation_id=to.id,
            seq=to.seq,
            id=turn_id,
            header=turn.header.decode(),
            signature=turn.signature,
            public_key=turn.public_key,
            position=position,
            data_subjects=subjects,
            body=self.platform.cipher.seal(turn_id, write.resolution.workspace_id, keys, body),
            said_at=write.now,
        )
        write.stores.negotiations.say(row)
        for each in private:
            write.stores.negotiations.keep_private(each)

    def _inputs(
        self, write: Write, to: NegotiationRow, turn: Signed, side: Speaker
    ) -> list[PrivateRow]:
        member = to.member(side)
        if not turn.private or member is None:
            return []
        body = {"inputs": [dict(each) for each in turn.private]}
        return [self._private(write, to, member, (member,), "input", body)]

    def _questions(
        self, write: Write, to: NegotiationRow, turn: Signed, speaker: Speaker
    ) -> list[PrivateRow]:
        """Ask each side's own person the one question that would unblock it."""
        questions: list[PrivateRow] = []
        for side in Speaker:
            member = to.member(side)
            assert member is not None
            if side is speaker:
                text = f"Your agent said last: {turn.utterance.message!r}. Shall it agree to less?"
            else:
                text = f"The other side said last: {turn.utterance.message!r}. Would that do?"
            subjects, body = to.data_subjects, {"question": text}
            questions.append(self._private(write, to, member, subjects, "question", body))
        return questions

    def _private(
        self,
        write: Write,
        to: NegotiationRow,
        member: UUID,
        subjects: tuple[UUID, ...],
        kind: str,
        body: Mapping[str, Any],
    ) -> PrivateRow:
        row_id, keys = self.platform.new_id(), write.resolution.keys_of(subjects)
        workspace_id = write.resolution.workspace_id
        return PrivateRow(
            negotiation_id=to.id,
            id=row_id,
            member_id=member,
            seq=to.seq,
            kind=kind,
            data_subjects=subjects,
            body=self.platform.cipher.seal(row_id, workspace_id, keys, dict(body)),
            asked_at=write.now,
            answered_at=None,
        )

    def _moved(self, write: Write, opened: Opened, to: NegotiationRow) -> NegotiationRow:
        moved = write.stores.negotiations.move(to)
        if moved is None:
            raise _passed()
        if to.state is NegotiationState.ENDED and to.outcome is not None:
            meta = {**_ids(to), "outcome": to.outcome.value, "turns": to.seq}
            write.note("negotiation.ended", meta)
            opportunity = write.stores.opportunities.find(to.opportunity_id)
            if opportunity is not None and opportunity.state is OpportunityState.NEGOTIATING:
                move_opportunity(write, opportunity, _state_after(to))
        return moved


def begun(
    negotiation_id: UUID,
    opportunity: OpportunityRow,
    trigger: str,
    agents: Sequence[NegotiatorRow],
    now: datetime,
) -> NegotiationRow:
    """Return a negotiation as it begins."""
    source, target = opportunity.source_id, opportunity.target_id
    both = all(_present(agents, member, now) for member in (source, target))
    row = NegotiationRow(
        id=negotiation_id,
        opportunity_id=opportunity.id,
        network_id=opportunity.network_id,
        source_id=source,
        candidate_id=target,
        source_intent=opportunity.source_intent,
        candidate_intent=opportunity.target_intent,
        source_role=opportunity.source_role.value,
        candidate_role=opportunity.target_role.value,
        score=opportunity.score,
        trigger=trigger,
        state=NegotiationState.OPEN,
        outcome=None,
        cap=None if both else rules.TURN_CAP,
        seq=0,
        speaker=Speaker.SOURCE,
        head=rules.START,
        undecided=0,
        fit_total=0,
        fit_count=0,
        people_asked=False,
        version=1,
        deadline=None,
        claim=None,
        claimed_by=None,
        claim_until=None,
        failures=0,
        failure=None,
        data_subjects=tuple(sorted((source, target))),
        begun_at=now,
        changed_at=now,
        ended_at=None,
    )
    own_agent = bool(_present(agents, source, now))
    return replace(row, deadline=rules.deadline(row, now, own_agent=own_agent))


def _present(
    agents: Sequence[NegotiatorRow], member: UUID | None, now: datetime
) -> list[NegotiatorRow]:
    since = now - rules.PRESENT
    return [
        agent
        for agent in agents
        if agent.member_id == member and agent.seen_at is not None and agent.seen_at > since
    ]


def _state_after(row: NegotiationRow) -> OpportunityState:
    if row.outcome is NegotiationOutcome.ACCEPTED:
        return OpportunityState.DRAFT if row.trigger == "orchestrator" else OpportunityState.PENDING
    return OpportunityState.STALLED


def header_of(
    row: NegotiationRow,
    utterance: Utterance,
    *,
    salt: bytes,
    voice: Voice,
    public_key: bytes,
    inputs: Sequence[str] = (),
) -> bytes:
    """Return what is signed of the turn that is next."""
    return signing.header(
        row.id,
        seq=row.seq + 1,
        speaker=row.speaker,
        previous=row.head,
        voice=voice,
        public_key=public_key,
        move=utterance.move,
        commitment=signing.commitment(salt, utterance.message),
        roles=utterance.roles,
        fit=utterance.fit,
        inputs=inputs,
    )


def sealed_private(row: PrivateRow) -> dict[str, Any]:
    """Return what one side alone reads as an entry holds it: sealed for whom it is sealed."""
    return {
        "id": str(row.id),
        "member_id": str(row.member_id),
        "kind": row.kind,
        "data_subjects": [str(subject) for subject in row.data_subjects],
        "body": row.body.hex(),
    }


def _deadline_of(row: NegotiationRow) -> dict[str, Any]:
    return {"deadline": format_timestamp(row.deadline) if row.deadline else None}


def _ids(row: NegotiationRow) -> dict[str, Any]:
    return {"negotiation_id": str(row.id), "opportunity_id": str(row.opportunity_id)}


def _passed() -> Conflict:
    return Conflict("The negotiation has moved on meanwhile.", reason="turn-passed")


def missing_negotiation(negotiation_id: UUID) -> NotFound:
    """Return the refusal of one that there is not, or that is not theirs to see."""
    return NotFound("There is no such negotiation.", negotiation_id=str(negotiation_id))
