"""Which intents belong to which networks: assigned directly, judged, judged anew, taken out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.discovery.networks.acting import acting
from cairn.discovery.networks.belonging import THRESHOLD
from cairn.discovery.networks.deeds import missing
from cairn.discovery.networks.rows import AssignmentRow
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound
from cairn.writing.ports import Topic
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from uuid import UUID

    from cairn.discovery.networks.judging import By, Judge
    from cairn.discovery.networks.rows import IntentText, PlaceRow, WaitingPlace
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

ASSIGNED, UNASSIGNED = "intent.assigned", "intent.unassigned"
DIGITS = 3
"""Of a score, in its row as in its entry."""

MEMBERS_AT_ONCE = 50
"""Members whose intents one message judges anew; it sends another one while some are left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """An intent's place in a network; `direct` when somebody said so."""

    network_id: UUID
    score: float
    direct: bool
    assigned_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How far an intent belongs to a network."""

    network_id: UUID
    intent: IntentText
    score: float
    by: By


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexer:
    """Assigns intents to networks. Only one's own intents, and to networks that one is in."""

    platform: Platform
    judge: Judge

    def assign(
        self,
        principal: Principal,
        intent_id: UUID,
        networks: Collection[UUID] | None = None,
        *,
        client_id: str | None = None,
    ) -> Sequence[Assignment]:
        """Return where an intent belongs now: in these networks, or where it is judged to.

        Named ones are assigned directly, with the score 1; NotFound for one that its member is not
        in. Without names every network of its member's is judged, and what was assigned directly
        stays.
        """
        who = acting(principal, client_id)
        with self.platform.transactions.reading(who) as stores:
            intent = _intent(stores, intent_id)
            places = stores.networks.places_of(intent.member_id)
            prompts = _prompts(stores, places)
        if networks is not None:
            for network_id in networks:
                if network_id not in prompts:
                    raise missing(network_id)
            judged = [
                Judged(network_id=network_id, intent=intent, score=1.0, by="direct")
                for network_id in dict.fromkeys(networks)
            ]
        else:
            judged = self._judged(who.workspace_id, places, prompts, [intent])
        self._write(who, judged)
        return self.of(who, intent_id)

    def of(
        self, principal: Principal, intent_id: UUID, *, client_id: str | None = None
    ) -> Sequence[Assignment]:
        """Return where one's intent belongs."""
        who = acting(principal, client_id)
        with self.platform.transactions.reading(who) as stores:
            _intent(stores, intent_id)
            rows = stores.networks.assigned([intent_id])
        return [
            Assignment(
                network_id=row.network_id,
                score=row.score,
                direct=row.direct,
                assigned_at=row.assigned_at,
            )
            for row in rows
        ]

    def unassign(
        self,
        principal: Principal,
        intent_id: UUID,
        network_id: UUID,
        *,
        client_id: str | None = None,
    ) -> None:
        """Take one's intent out of a network; NotFound when it is not in it."""
        who = acting(principal, client_id)
        with self.platform.transactions.reading(who) as stores:
            intent = _intent(stores, intent_id)
        with self._writing(who) as write:
            if not write.stores.networks.unassign(network_id, intent_id, write.now):
                raise NotFound("The intent is not in this network.", network_id=str(network_id))
            _note(write, UNASSIGNED, intent, network_id, why="taken-out")

    def judge_anew(self, workspace_id: UUID, network_id: UUID, outbox_id: UUID) -> int:
        """Judge anew some of what waits for a network; return how many members' intents.

        What is left is sent for in the same transaction, so that nothing is judged for long and
        nothing is lost. Twice is as good as once.
        """
        who = system_principal(workspace_id)
        with self.platform.transactions.reading(who) as stores:
            network = stores.networks.find(network_id)
            waiting = stores.networks.to_judge(network_id, MEMBERS_AT_ONCE) if network else ()
            prompts = {network_id: network.prompt} if network else {}
            members = [place.member_id for place in waiting]
            intents = stores.networks.intents(members=members) if members else ()
        judged = self._judged(workspace_id, waiting, prompts, intents)
        with self._writing(who) as write:
            done = {
                place.member_id
                for place in waiting
                if _is_as_it_was(write.stores, place) and write.stores.networks.judged(place)
            }
            _keep(write, [each for each in judged if each.intent.member_id in done])
            if write.stores.networks.to_judge(network_id, 1):
                write.wake(Topic.ASSIGNMENT, network_id)
            write.append()
            write.stores.outbox.done([outbox_id])
        return len(done)

    def _writing(self, who: Principal) -> AbstractContextManager[Write]:
        keys = self.platform.keys.get_or_create(who.workspace_id, (who.workspace_id,))
        return open_write(self.platform, who, keys=keys)

    def _write(self, who: Principal, judged: Sequence[Judged]) -> None:
        if not judged:
            return
        with self._writing(who) as write:
            places = write.stores.networks.places_of(judged[0].intent.member_id)
            present = {place.network_id for place in places}
            _keep(write, [each for each in judged if each.network_id in present])

    def _judged(
        self,
        workspace_id: UUID,
        places: Sequence[PlaceRow],
        prompts: Mapping[UUID, str],
        intents: Sequence[IntentText],
    ) -> list[Judged]:
        results: list[Judged] = []
        for place in places:
            own = [intent for intent in intents if intent.member_id == place.member_id]
            prompt = prompts.get(place.network_id, "")
            scores = self.judge(workspace_id, prompt, place.prompt, [each.text for each in own])
            results += [
                Judged(network_id=place.network_id, intent=intent, score=score, by=by)
                for intent, (score, by) in zip(own, scores, strict=True)
            ]
        return results


def _intent(stores: Stores, intent_id: UUID) -> IntentText:
    intents = stores.networks.intents(intent_id=intent_id)
    if not intents:
        raise NotFound("There is no such intent.", intent_id=str(intent_id))
    return intents[0]


def _prompts(stores: Stores, places: Sequence[PlaceRow]) -> dict[UUID, str]:
    networks = [stores.networks.find(place.network_id) for place in places]
    return {network.id: network.prompt for network in networks if network is not None}


def _is_as_it_was(stores: Stores, place: WaitingPlace) -> bool:
    now = stores.networks.place(place.network_id, place.member_id)
    return now is not None and (now.joined_at, now.prompt) == (place.joined_at, place.prompt)


def _keep(write: Write, judged: Sequence[Judged]) -> None:
    """Keep where intents belong: what just reaches the threshold does, what was direct stays."""
    networks = write.stores.networks
    before = {
        (row.network_id, row.intent_id): row
        for row in networks.assigned([each.intent.id for each in judged])
    }
    for each in judged:
        present = before.get((each.network_id, each.intent.id))
        direct = each.by == "direct"
        if present is not None and present.direct and not direct:
            continue
        row = AssignmentRow(
            network_id=each.network_id,
            intent_id=each.intent.id,
            member_id=each.intent.member_id,
            score=round(each.score, DIGITS),
            direct=direct,
            assigned_at=write.now,
        )
        if each.score < THRESHOLD:
            if present and networks.unassign(each.network_id, each.intent.id, write.now):
                _note(write, UNASSIGNED, each.intent, each.network_id, why="judged")
        elif present is None:
            if networks.assign(row):
                _note(write, ASSIGNED, each.intent, each.network_id, score=_round(each), by=each.by)
        elif present.direct != direct or present.score != row.score:
            networks.rescore(row)
            _note(write, ASSIGNED, each.intent, each.network_id, score=_round(each), by=each.by)


def _round(each: Judged) -> str:
    return f"{each.score:.{DIGITS}f}"  # the ledger's canonical form has no floats


def _note(write: Write, type_: str, intent: IntentText, network_id: UUID, **meta: str) -> None:
    ids = {"intent_id": str(intent.id), "network_id": str(network_id)}
    write.entries.add(
        type_, {**ids, **meta}, None, data_subjects=(intent.member_id,), occurred_at=write.now
    )
