"""What members and their agents do with negotiations: take turns, answer, read, export."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import UUID

from cairn.discovery.negotiation import rules, signing
from cairn.discovery.negotiation.facts import opened_private, public_facts
from cairn.discovery.negotiation.moving import Signed, header_of, missing_negotiation
from cairn.discovery.negotiation.rows import Move, NegotiationState, Speaker, Voice
from cairn.discovery.negotiation.rules import Utterance
from cairn.discovery.negotiation.views import (
    NegotiationRoles,
    NegotiationView,
    insights_of,
    opened_turn,
)
from cairn.discovery.networks.acting import acting
from cairn.kernel.access import Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import (
    CairnError,
    Conflict,
    Denied,
    FieldError,
    NotFound,
    ValidationFailed,
)
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.writing.append import principal_actor
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cairn.discovery.negotiation.going import Advance
    from cairn.discovery.negotiation.moving import Opened
    from cairn.discovery.negotiation.rows import NegotiationRow, PrivateRow
    from cairn.discovery.negotiation.views import Insights
    from cairn.discovery.networks.rows import MemberRow
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform

MOST_MESSAGE_CHARS = 2_000
MOST_INPUTS = 50
VALENCIES = ("agent", "patient", "peer")
_HEX_CHARS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A turn of a member's own agent. With a registered key, `salt` and `signature` are needed."""

    move: Move
    message: str
    roles: tuple[str, str] | None = None
    fit: int | None = None
    claim: UUID | None = None
    salt: str | None = None
    signature: str | None = None
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFacts:
    """What both sides may know of one."""

    name: str
    intent: str
    profile: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PickedUp:
    """A turn that an agent has taken up until `claim_until`, and what it needs to speak.

    `previous` and `seq` go into what it signs; `answers` are its own person's.
    """

    claim: UUID
    claim_until: datetime
    seq: int
    previous: str
    own: SideFacts
    other: SideFacts
    answers: tuple[str, ...]
    negotiation: NegotiationView


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateInput:
    """What weighed in a turn of one's own: by its salt anyone can check the commitment."""

    seq: int
    node_id: UUID
    salt: str
    commitment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NegotiationMeasures:
    """How negotiations ended. `instant_share` is the share of yeses that came at once."""

    ended: int
    accepted: int
    instant_accepts: int
    instant_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Negotiations:
    """Negotiations, for their two sides; admins may read them all."""

    advance: Advance

    @property
    def platform(self) -> Platform:
        """What use cases share."""
        return self.advance.platform

    # Beginning and going on

    def negotiate(self, workspace_id: UUID, opportunity_id: UUID, trigger: str) -> NegotiationRow:
        """Begin the negotiation of an opportunity, and go on as far as nobody is waited for."""
        kind = "orchestrator" if trigger == "orchestrator" else "ambient"
        row = self.advance.mover.begin(workspace_id, opportunity_id, kind)
        return self.advance(workspace_id, row.id)

    def begin(
        self, principal: Principal, opportunity_id: UUID, client_id: str | None = None
    ) -> NegotiationView:
        """Begin one for the member who looked; NotFound for an opportunity that is not theirs."""
        reader = acting(principal, client_id)
        with self.platform.transactions.reading(reader) as stores:
            opportunity, member = stores.opportunities.find(opportunity_id), _member(stores, reader)
        if opportunity is None or member is None:
            raise missing_negotiation(opportunity_id)
        if opportunity.source_id != member.id:
            raise Denied("The one who looked begins a negotiation.", reason="no-side")
        row = self.negotiate(reader.workspace_id, opportunity_id, "orchestrator")
        return self.get(principal, row.id, client_id)

    def go_on(
        self, principal: Principal, negotiation_id: UUID, client_id: str | None = None
    ) -> NegotiationView:
        """Go on where a window has passed, as the sweep would."""
        self._side(principal, negotiation_id, client_id)
        self.advance(principal.workspace_id, negotiation_id)
        return self.get(principal, negotiation_id, client_id)

    # Turns of members' own agents

    def pick_up(
        self,
        principal: Principal,
        agent: str,
        *,
        client_id: str | None = None,
        takeover: bool = True,
        claim: UUID | None = None,
    ) -> PickedUp | None:
        """Take up a turn, or go on with one under its claim; None when none waits.

        Whoever asks is seen to be there: its turns are waited for from now on.
        """
        reader, agent = self._agent(principal, agent, client_id)
        member = self._me(reader)
        row = self._claimed(reader.workspace_id, member.id, agent, takeover=takeover, claim=claim)
        if row is None or row.claim is None or row.claim_until is None:
            return None
        opened = self.advance.mover.read(reader.workspace_id, row.id)
        own, other = (self._facts(opened, side) for side in (row.speaker, row.speaker.other))
        return PickedUp(
            claim=row.claim,
            claim_until=row.claim_until,
            seq=row.seq + 1,
            previous=row.head.hex(),
            own=own,
            other=other,
            answers=tuple(
                str(body["answer"])
                for _, body in self._private(reader, row.id, member.id, "question")
                if body.get("answer")
            ),
            negotiation=self.get(principal, row.id, client_id),
        )

    def be_there(self, principal: Principal, agent: str, client_id: str | None = None) -> None:
        """Note that a member's agent looks for turns: they are waited for from now on."""
        reader, agent = self._agent(principal, agent, client_id)
        system, now = system_principal(reader.workspace_id), self.platform.clock()
        with self.platform.transactions.preparing(system) as (stores, _):
            if member := _member(stores, reader):
                stores.negotiations.see_agent(member.id, agent, now)

    def _claimed(
        self, workspace_id: UUID, member_id: UUID, agent: str, *, takeover: bool, claim: UUID | None
    ) -> NegotiationRow | None:
        system = system_principal(workspace_id)
        with self.platform.transactions.preparing(system) as (stores, _):
            now = self.platform.clock()
            stores.negotiations.see_agent(member_id, agent, now, takeover=takeover)
            row = stores.negotiations.takeable(member_id, now, claim)
            if row is None:
                return None
            until = rules.deadline(row, now, own_agent=True)
            taken = claim if claim is not None and row.claim == claim else self.platform.new_id()
            to = replace(row, claim=taken, claimed_by=agent, claim_until=until, deadline=until)
            return stores.negotiations.move(to)

    def _facts(self, opened: Opened, side: Speaker) -> SideFacts:
        facts = public_facts(
            self.platform, opened.workspace_id, opened.row, side, opened.side(side)
        )
        return SideFacts(name=facts.name, intent=facts.intent, profile=facts.profile)

    def respond(
        self,
        principal: Principal,
        agent: str,
        negotiation_id: UUID,
        answer: Answer,
        client_id: str | None = None,
    ) -> NegotiationView:
        """Take the turn of a member's own agent, and go on.

        Raises NotFound for somebody who is on neither side, Conflict for a turn that cannot be
        taken now, ValidationFailed for one that is malformed: then it is no turn, and is counted
        as one that failed.
        """
        reader, agent = self._agent(principal, agent, client_id)
        side, _ = self._side(reader, negotiation_id, reader.client_id)
        workspace_id = reader.workspace_id
        opened = self.advance.mover.read(workspace_id, negotiation_id)
        if side is None:
            raise Denied("Only the two sides of a negotiation speak in it.", reason="no-side")
        try:
            self._require_open(opened, side, answer)
            turn = self._turn(opened, agent, answer)
            actor = principal_actor(principal)
            self.advance.mover.take(opened, turn, actor=actor)
        except CairnError as error:
            self._failed(workspace_id, opened, side, error)
            raise
        self.advance(workspace_id, negotiation_id)
        return self.get(principal, negotiation_id, client_id)

    def _require_open(self, opened: Opened, side: Speaker, answer: Answer) -> None:
        row, now = opened.row, self.platform.clock()
        if row.state is not NegotiationState.ENDED and not opened.holds:
            self.advance(opened.workspace_id, row.id)
            detail = "What was negotiated about is gone: this negotiation has ended."
            raise Conflict(detail, reason="negotiation-ended")
        rules.require_turn(row, side, answer.move)
        if row.deadline is not None and row.deadline <= now:
            self.advance(opened.workspace_id, row.id)
            raise Conflict("The time for this turn is over.", reason="window-passed")
        live = row.claim_until is not None and row.claim_until > now
        if live and row.claim != answer.claim:
            raise Conflict("Another agent has taken up this turn.", reason="claimed")

    def _failed(self, workspace_id: UUID, opened: Opened, side: Speaker, error: CairnError) -> None:
        """Count a turn that failed, where it was this side's to speak."""
        if opened.row.state is NegotiationState.OPEN and opened.row.speaker is side:
            system = system_principal(workspace_id)
            with self.platform.transactions.preparing(system) as (stores, _):
                stores.negotiations.fail(opened.row.id, error.reason)

    def _turn(self, opened: Opened, agent: str, answer: Answer) -> Signed:
        """Return a turn as it is signed: by the agent's own key, or attested where it has none."""
        row = opened.row
        utterance = _checked(answer)
        inputs = [_hex(each, "inputs") for each in answer.inputs[:MOST_INPUTS]]
        member = row.member(row.speaker)
        own = (each for each in opened.agents if (each.member_id, each.agent) == (member, agent))
        public_key = next((each.public_key for each in own if each.public_key), None)
        if public_key is None:
            key = self.advance.advocate_key(opened.workspace_id)
            salt, public_key = os.urandom(signing.SALT_BYTES), signing.public_bytes(key)
            utterance = replace(utterance, message=scrub(utterance.message).text)
            header = header_of(
                row,
                utterance,
                salt=salt,
                voice=Voice.ATTESTED,
                public_key=public_key,
                inputs=inputs,
            )
            signature = key.sign(header)
        else:
            salt, signature = _signature(utterance, answer)
            header = header_of(
                row, utterance, salt=salt, voice=Voice.AGENT, public_key=public_key, inputs=inputs
            )
            if not signing.signed(public_key, header, signature):
                _refuse("signature", "is not of this turn by the registered key", "signature")
        return Signed(
            utterance=utterance,
            salt=salt,
            header=header,
            signature=signature,
            public_key=public_key,
        )

    def register_key(
        self, principal: Principal, agent: str, public_key: str, client_id: str | None = None
    ) -> str:
        """Keep the public key of a member's agent and return its name; turns to come are signed."""
        reader, agent = self._agent(principal, agent, client_id)
        raw = bytes.fromhex(_hex(public_key, "public_key"))
        member = self._me(reader)
        system, subjects = system_principal(reader.workspace_id), (member.id,)
        keys = self.platform.keys.get_or_create(reader.workspace_id, subjects)
        actor = principal_actor(principal)
        with open_write(
            self.platform, system, actor=actor, keys=keys, data_subjects=subjects
        ) as write:
            write.stores.negotiations.give_key(member.id, agent, raw)
            meta = {"member_id": str(member.id), "key_id": signing.key_id(raw)}
            write.note(
                "negotiation.key_registered", meta | {"public_key": raw.hex()}, {"agent": agent}
            )
        return signing.key_id(raw)

    # People

    def answer(
        self, principal: Principal, negotiation_id: UUID, text: str, client_id: str | None = None
    ) -> NegotiationView:
        """Take a person's answer to the question that their agents' stall left open."""
        side, row = self._side(principal, negotiation_id, client_id)
        reader = acting(principal, client_id)
        member = row.member(side) if side else None
        words = scrub(clean_text(text, field="answer", max_chars=MOST_MESSAGE_CHARS)).text
        if member is None:
            raise missing_negotiation(negotiation_id)
        if not words.strip():
            _refuse("answer", "is empty", "input")
        if row.deadline is not None and row.deadline <= self.platform.clock():
            row = self.advance(reader.workspace_id, negotiation_id)
        rows = self._private(reader, negotiation_id, member, "question")
        waiting = [(each, body) for each, body in rows if each.answered_at is None]
        if row.state is not NegotiationState.WAITING or not waiting:
            raise Conflict("This negotiation waits for nobody.", reason="not-waiting")
        question, body = waiting[-1]
        opened = self.advance.mover.read(reader.workspace_id, negotiation_id)
        self.advance.mover.answer(
            opened, question, {**body, "answer": words}, actor=principal_actor(principal)
        )
        self.advance(reader.workspace_id, negotiation_id)
        return self.get(principal, negotiation_id, client_id)

    # Reading

    def get(
        self, principal: Principal, negotiation_id: UUID, client_id: str | None = None
    ) -> NegotiationView:
        """Return a negotiation as a side sees it; NotFound for everybody else but admins."""
        side, row = self._side(principal, negotiation_id, client_id)
        return self._view(principal, row, side, client_id)

    def page(
        self,
        principal: Principal,
        *,
        before: UUID | None,
        limit: int,
        client_id: str | None = None,
        state: NegotiationState | None = None,
        my_turn: bool = False,
    ) -> Sequence[NegotiationView]:
        """Return negotiations, the newest first; `my_turn`: those that await the reader's side."""
        reader = self._reader(principal, client_id)
        with self.platform.transactions.reading(reader) as stores:
            member = _member(stores, reader)
            if reader.client_id is not None and member is None:
                return []
            member_id = member.id if member else None
            rows = stores.negotiations.page(
                before=before,
                limit=limit,
                state=state,
                member_id=member_id,
                waiting_for=member_id if my_turn else None,
            )
        return [self._view(principal, row, _side_of(row, member), client_id) for row in rows]

    def about(
        self, principal: Principal, opportunity_id: UUID, client_id: str | None = None
    ) -> UUID | None:
        """Return the negotiation about an opportunity, as its reader sees it; None without one."""
        with self.platform.transactions.reading(self._reader(principal, client_id)) as stores:
            row = stores.negotiations.of_opportunity(opportunity_id)
        return row.id if row is not None else None

    def insights(self, principal: Principal, ids: Sequence[UUID]) -> Mapping[UUID, Insights]:
        """Return what negotiations came to, by opportunity, for their cards; those that ended."""
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.negotiations.of_opportunities(ids)
        over = [row for row in rows if row.outcome is not None]
        turns = self.advance.turns_of(principal.workspace_id, [row.id for row in over])
        insights = {row.opportunity_id: insights_of(row, turns.get(row.id, ())) for row in over}
        return {id_: insight for id_, insight in insights.items() if insight is not None}

    def inputs(
        self, principal: Principal, negotiation_id: UUID, client_id: str | None = None
    ) -> Sequence[PrivateInput]:
        """Return what weighed in the turns of one's own side: nobody else is told."""
        side, row = self._side(principal, negotiation_id, client_id)
        reader = acting(principal, client_id)
        member = row.member(side) if side else None
        if member is None:
            raise missing_negotiation(negotiation_id)
        rows: list[tuple[PrivateRow, Any]] = [
            *self._private(reader, negotiation_id, member, "input")
        ]
        return [
            PrivateInput(
                seq=each.seq,
                node_id=UUID(weighed["node_id"]),
                salt=weighed["salt"],
                commitment=weighed["commitment"],
            )
            for each, body in rows
            for weighed in body.get("inputs", ())
        ]

    def export(
        self, principal: Principal, negotiation_id: UUID, client_id: str | None = None
    ) -> Mapping[str, Any]:
        """Return a negotiation as anyone can verify it without a server."""
        _, row = self._side(principal, negotiation_id, client_id)
        with self.platform.transactions.reading(self._reader(principal, client_id)) as stores:
            turns = stores.negotiations.turns([row.id])
        lines: list[dict[str, Any]] = []
        for turn in turns:
            body = opened_turn(self.platform, principal.workspace_id, turn)
            lines.append(
                {
                    "header": turn.header,
                    "signature": turn.signature.hex(),
                    "public_key": turn.public_key.hex(),
                    "position": turn.position,
                    "message": body.get("message"),
                    "salt": body.get("salt"),
                }
            )
        key = self.advance.advocate_key(principal.workspace_id)
        return {
            "format": signing.EXPORT,
            "negotiation_id": str(row.id),
            "outcome": row.outcome.value if row.outcome else None,
            "head": row.head.hex(),
            "advocate_key_id": signing.key_id(signing.public_bytes(key)),
            "turns": lines,
        }

    def measures(self, principal: Principal) -> NegotiationMeasures:
        """Return how negotiations of a workspace ended, and how easily agents agreed."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            counts = stores.negotiations.counted()
        accepted, instant = counts["accepted"], counts["instant"]
        return NegotiationMeasures(
            ended=counts["ended"],
            accepted=accepted,
            instant_accepts=instant,
            instant_share=round(instant / accepted, 4) if accepted else None,
        )

    # Who it is

    def _agent(
        self, principal: Principal, agent: str, client_id: str | None
    ) -> tuple[Principal, str]:
        reader = acting(principal, client_id)
        if principal.agent is not None and principal.agent != agent:
            raise Denied("This key is another agent's.", reason="agent")
        return reader, clean_text(agent, field="agent", max_chars=256)

    def _me(self, reader: Principal) -> MemberRow:
        with self.platform.transactions.reading(reader) as stores:
            member = _member(stores, reader)
        if member is None:
            raise _no_member()
        return member

    def _reader(self, principal: Principal, client_id: str | None) -> Principal:
        """Return who reads: a member, or an admin who names none."""
        if principal.client_id is None and client_id is None and principal.role is Role.ADMIN:
            return principal
        return acting(principal, client_id)

    def _side(
        self, principal: Principal, negotiation_id: UUID, client_id: str | None
    ) -> tuple[Speaker | None, NegotiationRow]:
        reader = self._reader(principal, client_id)
        with self.platform.transactions.reading(reader) as stores:
            row = stores.negotiations.find(negotiation_id)
            member = _member(stores, reader)
        if row is None:
            raise missing_negotiation(negotiation_id)
        return _side_of(row, member), row

    def _private(
        self, reader: Principal, negotiation_id: UUID, member_id: UUID, kind: str
    ) -> list[tuple[PrivateRow, Mapping[str, Any]]]:
        with self.platform.transactions.reading(reader) as stores:
            rows = stores.negotiations.private(negotiation_id, member_id)
        return [
            (row, opened_private(self.platform, reader.workspace_id, row))
            for row in rows
            if row.kind == kind
        ]

    def _view(
        self,
        principal: Principal,
        row: NegotiationRow,
        side: Speaker | None,
        client_id: str | None,
    ) -> NegotiationView:
        turns = tuple(self.advance.turns(principal.workspace_id, row))
        question, member = None, row.member(side) if side else None
        if row.state is NegotiationState.WAITING and member is not None:
            reader = self._reader(principal, client_id)
            questions = self._private(reader, row.id, member, "question")
            unanswered = [body for each, body in questions if each.answered_at is None]
            question = unanswered[-1].get("question") if unanswered else None
        agreed = NegotiationRoles(source=row.source_role, candidate=row.candidate_role)
        own_turn = row.speaker if row.state is NegotiationState.OPEN else None
        return NegotiationView(
            id=row.id,
            opportunity_id=row.opportunity_id,
            network_id=row.network_id,
            side=side,
            state=row.state,
            outcome=row.outcome,
            speaker=own_turn,
            agreed_roles=agreed if row.outcome == "accepted" else None,
            fit=row.fit,
            turn_cap=row.cap,
            turn_count=row.seq,
            stance=rules.stance(row),
            trigger=row.trigger,
            deadline=row.deadline,
            question=question,
            failures=row.failures,
            failure=row.failure,
            begun_at=row.begun_at,
            ended_at=row.ended_at,
            turns=turns,
        )


def _member(stores: Stores, reader: Principal) -> MemberRow | None:
    return stores.members.of_client(reader.client_id) if reader.client_id else None


def _no_member() -> NotFound:
    return NotFound("This client is no member yet: join a network.", reason="no-member")


def _side_of(row: NegotiationRow, member: MemberRow | None) -> Speaker | None:
    if member is None:
        return None
    return next((side for side in Speaker if row.member(side) == member.id), None)


def _checked(answer: Answer) -> Utterance:
    """Return what an agent says; ValidationFailed where it is malformed: then it is no turn."""
    message = clean_text(answer.message, field="message", max_chars=MOST_MESSAGE_CHARS)
    if not message.strip():
        _refuse("message", "is empty", "input")
    if answer.fit is not None and not 0 <= answer.fit <= 100:
        _refuse("fit", "is a whole number from 0 to 100", "input")
    if answer.roles is not None and any(role not in VALENCIES for role in answer.roles):
        _refuse("suggested_roles", "are agent, patient or peer", "input")
    return Utterance(move=answer.move, message=message, roles=answer.roles, fit=answer.fit)


def _signature(utterance: Utterance, answer: Answer) -> tuple[bytes, bytes]:
    if answer.salt is None or answer.signature is None:
        _refuse("signature", "is needed, with its salt: this agent has a key", "signature-needed")
    if scrub(utterance.message).text != utterance.message:
        _refuse("message", "has something secret in it, which is not kept", "input")
    salt = bytes.fromhex(_hex(answer.salt, "salt"))
    return salt, bytes.fromhex(_hex(answer.signature, "signature", chars=2 * _HEX_CHARS))


def _hex(text: str, field: str, chars: int = _HEX_CHARS) -> str:
    if len(text) != chars or not set(text) <= set("0123456789abcdef"):
        _refuse(field, f"is {chars} hexadecimal digits in lower case", "input")
    return text


def _refuse(field: str, message: str, reason: str) -> NoReturn:
    raise ValidationFailed(
        f"{field} {message}.", reason=reason, errors=[FieldError(field, message)]
    )
