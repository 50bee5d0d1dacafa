"""What entries say of discovery's rows, which stand beside the ledger: applied in their order.

Each entry does to the replica what its use case did to the rows in use, by the same statements.
Of older entries, which say less, as much comes back as they say. Not what goes with a forgetting:
that is the store's.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.discovery.contacts import keep as contacts
from cairn.discovery.contacts.rows import ContactRow, IntegrationRow
from cairn.discovery.intents import rows as intents
from cairn.discovery.intents.rows import IntentRow, IntentState
from cairn.discovery.matching import keeping
from cairn.discovery.matching.rows import (
    OpportunityRow,
    OpportunityState,
    OpportunityTrigger,
    Valency,
    pair_of,
)
from cairn.discovery.negotiation import rules, signing
from cairn.discovery.negotiation.moving import begun
from cairn.discovery.negotiation.rows import (
    Move,
    NegotiationOutcome,
    NegotiationState,
    PrivateRow,
    TurnRow,
)
from cairn.discovery.negotiation.rules import Utterance
from cairn.discovery.networks import indexing, invites, manage, places
from cairn.discovery.networks.members import REGISTERED
from cairn.discovery.networks.rows import (
    AssignmentRow,
    InviteRow,
    JoinPolicy,
    MemberRow,
    NetworkRole,
    NetworkRow,
    PlaceRow,
)
from cairn.kernel.text.canonical import parse_timestamp
from cairn.rebuild.replay import Beside
from cairn.safety.tools import Autonomy
from cairn.tickets.personas import Persona
from cairn.tickets.ticket import PersonaVersion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from cairn.kernel.stores import Stores
    from cairn.ledger.keys import BodyCipher
    from cairn.rebuild.replay import Opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One entry to apply. `body` is empty where its keys are gone or it has none."""

    opened: Opened
    stores: Stores
    cipher: BodyCipher

    @property
    def meta(self) -> Mapping[str, Any]:
        """What it says in clear."""
        return cast("Mapping[str, Any]", self.opened.entry.meta)

    @property
    def body(self) -> Mapping[str, Any]:
        """What it says under its keys."""
        return self.opened.body or {}

    @property
    def now(self) -> datetime:
        """When it was written."""
        return self.opened.entry.occurred_at

    @property
    def about(self) -> tuple[UUID, ...]:
        """Whom it is about."""
        return self.opened.entry.data_subjects

    def id(self, name: str) -> UUID:
        """Return an id that it names."""
        return UUID(self.meta[name])

    def id_or_none(self, name: str) -> UUID | None:
        """Return an id that it may name."""
        value = self.meta.get(name)
        return UUID(value) if value else None

    def time(self, name: str) -> datetime | None:
        """Return a time that it may name."""
        value = self.meta.get(name)
        return parse_timestamp(value) if value else None

    def sealed(self, row_id: UUID) -> bytes:
        """Return its body sealed for a row; empty where its keys are gone."""
        if not self.opened.body:
            return b""
        workspace_id = self.opened.entry.workspace_id
        return self.cipher.seal(row_id, workspace_id, self.opened.keys, self.opened.body)


@cache
def discovery_beside() -> Beside:
    """Return what applies entries of discovery, and the digest of its code."""
    digest = hashlib.sha256()
    for file in (__file__, rules.__file__):
        digest.update(Path(file).read_bytes())
    return Beside(version=digest.hexdigest()[:16], apply=_apply)


def _apply(opened: Opened, stores: Stores, cipher: BodyCipher) -> None:
    do = _STEPS.get(opened.entry.type)
    if do is not None:
        do(Step(opened=opened, stores=stores, cipher=cipher))


# Members and networks


def _registered(step: Step) -> None:
    member_id = step.id("member_id")
    subject = step.stores.forgetting.subject(subject_id=member_id)
    if subject is None:
        return  # who it was is forgotten
    row = MemberRow(
        id=member_id, client_id=subject.natural_key, ghost=step.meta["ghost"], since=step.now
    )
    if not step.stores.members.add(row) and not row.ghost:
        step.stores.members.arrive(row)


def _network(step: Step) -> NetworkRow:
    return NetworkRow(
        id=step.id("network_id"),
        name=step.body["name"],
        prompt=step.body["prompt"],
        join_policy=JoinPolicy(step.body["join_policy"]),
        owner_id=step.id_or_none("owner_id"),
        version=int(step.meta["version"]),
        created_at=step.now,
        changed_at=step.now,
        removed_at=step.now if step.opened.entry.type == manage.REMOVED else None,
    )


def _network_made(step: Step) -> None:
    if step.body:
        step.stores.networks.add(_network(step))


def _changed(step: Step) -> None:
    if step.body:
        step.stores.networks.change(_network(step))


def _place(step: Step) -> PlaceRow:
    return PlaceRow(
        network_id=step.id("network_id"),
        member_id=step.id("member_id"),
        role=NetworkRole(step.meta.get("role", NetworkRole.MEMBER)),
        prompt=step.body.get("prompt", ""),
        joined_at=step.now,
        left_at=None,
    )


def _joined(step: Step) -> None:
    step.stores.networks.join(_place(step))


def _left(step: Step) -> None:
    step.stores.networks.leave(step.id("network_id"), step.id("member_id"), step.now)


def _prompted(step: Step) -> None:
    step.stores.networks.set_prompt(_place(step), step.now)


def _invited(step: Step) -> None:
    token_hash, expires_at = step.meta.get("token_hash"), step.time("expires_at")
    if token_hash is None or expires_at is None:
        return  # an older entry: its link lets nobody in any more
    row = InviteRow(
        id=step.id("invite_id"),
        network_id=step.id("network_id"),
        made_by=step.id_or_none("made_by"),
        ghost_id=step.id_or_none("ghost_id"),
        created_at=step.now,
        expires_at=expires_at,
        revoked_at=None,
        used_at=None,
        used_by=None,
    )
    step.stores.networks.invite(row, bytes.fromhex(token_hash))


def _revoked(step: Step) -> None:
    step.stores.networks.revoke(step.id("network_id"), step.id("invite_id"), step.now)


def _used(step: Step) -> None:
    if "token_hash" in step.meta:
        token_hash = bytes.fromhex(step.meta["token_hash"])
        step.stores.replica.use_invite(token_hash, step.id("member_id"), step.now)


def _assigned(step: Step) -> None:
    networks = step.stores.networks
    row = AssignmentRow(
        network_id=step.id("network_id"),
        intent_id=step.id("intent_id"),
        member_id=step.about[0],
        score=float(step.meta["score"]),
        direct=step.meta["by"] == "direct",
        assigned_at=step.now,
    )
    if not networks.assign(row):
        networks.rescore(row)


def _unassigned(step: Step) -> None:
    step.stores.networks.unassign(step.id("network_id"), step.id("intent_id"), step.now)


# Intents


def _intent(step: Step) -> None:
    row = IntentRow(
        id=step.id("intent_id"),
        member_id=step.about[0],
        side=step.meta["side"],
        state=IntentState(step.meta["state"]),
        version=step.meta["version"],
        created_at=step.now,
        changed_at=step.now,
        expires_at=step.time("expires_at"),
    )
    if step.opened.entry.type == intents.CREATED:
        step.stores.intents.add(row)
        return
    step.stores.intents.move(replace(row, version=row.version - 1), row)
    if row.state not in intents.OPEN:
        step.stores.intents.unassign((row.id,), step.now)


# Opportunities


def _opportunity_found(step: Step) -> None:
    id_, source, target = step.id("opportunity_id"), step.id("source_id"), step.id("target_id")
    intents = step.id_or_none("source_intent"), step.id_or_none("target_intent")
    row = OpportunityRow(
        id=id_,
        pair=pair_of(source, intents[0], target, intents[1]),
        network_id=step.id("network_id"),
        source_id=source,
        target_id=target,
        introducer_id=step.id_or_none("introducer_id"),
        source_intent=intents[0],
        target_intent=intents[1],
        source_role=Valency(step.meta.get("source_role", Valency.PEER)),
        target_role=Valency(step.meta.get("target_role", Valency.PEER)),
        score=step.meta["score"],
        trigger=OpportunityTrigger(step.meta["trigger"]),
        state=OpportunityState(step.meta["state"]),
        data_subjects=step.about,
        body=step.sealed(id_),
        created_at=step.now,
        changed_at=step.now,
        expires_at=step.time("expires_at") or step.now + keeping.LASTS,
    )
    step.stores.opportunities.add(row, None, step.opened.entry.position)


def _found_too(step: Step) -> None:
    step.stores.opportunities.find_too(step.id("opportunity_id"), step.id("member_id"), step.now)


def _agreed(step: Step) -> None:
    step.stores.opportunities.say_yes(step.id("opportunity_id"), step.id("member_id"), step.now)


def _opportunity_moved(step: Step) -> None:
    opportunities = step.stores.opportunities
    seen = opportunities.find(step.id("opportunity_id"))
    if seen is not None:
        to, position = OpportunityState(step.meta["to"]), step.opened.entry.position
        opportunities.move(seen, to, step.id_or_none("actor"), position, step.now)


# Negotiations


def _begun(step: Step) -> None:
    opportunity = step.stores.opportunities.find(step.id("opportunity_id"))
    if opportunity is None:
        return
    row = begun(step.id("negotiation_id"), opportunity, step.meta["trigger"], (), step.now)
    deadline = step.time("deadline") or row.deadline
    row = replace(row, cap=step.meta["turn_cap"], deadline=deadline)
    step.stores.negotiations.begin(row)


def _turn(step: Step) -> None:
    negotiations, negotiation_id = step.stores.negotiations, step.id("negotiation_id")
    row = negotiations.find(negotiation_id)
    if row is None:
        return
    header = step.meta["header"]
    signed: Mapping[str, Any] = json.loads(header)
    roles = tuple(signed["roles"]) if signed["roles"] else None
    utterance = Utterance(move=Move(signed["move"]), message="", roles=roles, fit=signed["fit"])
    to = rules.after(row, utterance, signing.header_hash(header.encode()), step.now)
    if to.state is NegotiationState.OPEN:
        to = replace(to, deadline=step.time("deadline") or step.now)
    turn_id = step.opened.entry.id
    turn = TurnRow(
        negotiation_id=negotiation_id,
        seq=to.seq,
        id=turn_id,
        header=header,
        signature=bytes.fromhex(step.meta["signature"]),
        public_key=bytes.fromhex(step.meta["public_key"]),
        position=step.opened.entry.position,
        data_subjects=step.about,
        body=step.sealed(turn_id),
        said_at=step.now,
    )
    negotiations.say(turn)
    for each in step.meta.get("private", ()):
        negotiations.keep_private(_private(each, negotiation_id, to.seq, step.now))
    negotiations.move(to)


def _private(
    item: Mapping[str, Any], negotiation_id: UUID, seq: int, asked_at: datetime
) -> PrivateRow:
    return PrivateRow(
        negotiation_id=negotiation_id,
        id=UUID(item["id"]),
        member_id=UUID(item["member_id"]),
        seq=seq,
        kind=item["kind"],
        data_subjects=tuple(UUID(subject) for subject in item["data_subjects"]),
        body=bytes.fromhex(item["body"]),
        asked_at=asked_at,
        answered_at=None,
    )


def _answered(step: Step) -> None:
    negotiations = step.stores.negotiations
    question_id, row = step.id_or_none("question_id"), negotiations.find(step.id("negotiation_id"))
    if row is None or row.state is not NegotiationState.WAITING:
        return
    if question_id is not None:
        negotiations.answer(question_id, bytes.fromhex(step.meta["answer"]), step.now)
    to = rules.resumed(row, step.now)
    negotiations.move(replace(to, deadline=step.time("deadline") or step.now))


def _ended(step: Step) -> None:
    row = step.stores.negotiations.find(step.id("negotiation_id"))
    if row is not None and row.state is not NegotiationState.ENDED:
        outcome = NegotiationOutcome(step.meta["outcome"])
        step.stores.negotiations.move(rules.ended(row, outcome, step.now))


def _key(step: Step) -> None:
    if "agent" in step.body:
        key = bytes.fromhex(step.meta["public_key"])
        step.stores.negotiations.give_key(step.id("member_id"), step.body["agent"], key)


# Contacts


def _contact(step: Step) -> None:
    member_id, contact_id = step.id("member_id"), step.id("contact_id")
    others = [subject for subject in step.about if subject != member_id]
    row = ContactRow(
        id=contact_id,
        member_id=member_id,
        person_id=others[0] if others else member_id,
        data_subjects=step.about,
        body=step.sealed(contact_id),
        met=step.meta["met"],
        met_at=step.time("met_at"),
        link_id=step.id_or_none("link_id"),
        created_at=step.now,
        changed_at=step.now,
    )
    if step.opened.entry.type == contacts.ADDED:
        step.stores.contacts.add(row)
    else:
        step.stores.contacts.change(row)


def _contact_invited(step: Step) -> None:
    step.stores.contacts.invite(step.id("contact_id"), step.id("ghost_id"), step.id("invite_id"))


def _contact_removed(step: Step) -> None:
    step.stores.contacts.remove(step.id("contact_id"))


def _integration(step: Step) -> None:
    if "address" not in step.body:
        return
    row_id = step.id("integration_id")
    row = IntegrationRow(
        id=row_id,
        member_id=step.id("member_id"),
        kind=step.meta["kind"],
        data_subjects=step.about,
        body=step.sealed(row_id),
        people=None,
        problem=None,
        created_at=step.now,
        synced_at=None,
    )
    step.stores.contacts.add_integration(row)


def _integration_removed(step: Step) -> None:
    step.stores.contacts.remove_integration(step.id("integration_id"))


def _persona(step: Step) -> None:
    if not step.body:
        return
    texts: dict[str, Any] = dict(step.body)
    texts |= {"autonomy": Autonomy(texts["autonomy"]), "max_usd": Decimal(texts["max_usd"])}
    row = PersonaVersion(
        id=step.id("persona_id"),
        persona=Persona(**texts),
        changed_at=step.now,
        changed_by=UUID(step.opened.entry.actor.id),
        removed=step.meta["removed"],
    )
    step.stores.personas.add(row)


def _forgotten(step: Step) -> None:
    step.stores.replica.erase_beside(step.id("subject_id"))


_STEPS: Mapping[str, Callable[[Step], None]] = {
    REGISTERED: _registered,
    manage.MADE: _network_made,
    manage.CHANGED: _changed,
    manage.REMOVED: _changed,
    "network.joined": _joined,
    places.LEFT: _left,
    places.PROMPTED: _prompted,
    invites.MADE: _invited,
    invites.REVOKED: _revoked,
    places.INVITE_USED: _used,
    indexing.ASSIGNED: _assigned,
    indexing.UNASSIGNED: _unassigned,
    intents.CREATED: _intent,
    intents.UPDATED: _intent,
    intents.CHANGED: _intent,
    "opportunity.found": _opportunity_found,
    "opportunity.found_too": _found_too,
    "opportunity.agreed": _agreed,
    "opportunity.moved": _opportunity_moved,
    "negotiation.begun": _begun,
    "negotiation.turn": _turn,
    "negotiation.answered": _answered,
    "negotiation.ended": _ended,
    "negotiation.key_registered": _key,
    contacts.ADDED: _contact,
    contacts.CHANGED: _contact,
    "contact.invited": _contact_invited,
    "contact.removed": _contact_removed,
    "integration.added": _integration,
    "integration.removed": _integration_removed,
    "subject.forgotten": _forgotten,
    "persona.changed": _persona,
}
