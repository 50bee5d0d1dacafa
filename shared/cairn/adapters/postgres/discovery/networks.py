"""Networks, who is in them, and which intents belong there, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.rows import tuple_row

from cairn.adapters.postgres.store import Store, record
from cairn.discovery.networks.rows import (
    AssignmentRow,
    IntentText,
    InviteRow,
    JoinPolicy,
    NetworkRole,
    NetworkRow,
    PlaceRow,
    ShownIntent,
    ShownMember,
    WaitingPlace,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

_NETWORK = record(NetworkRow, join_policy=JoinPolicy)
_PLACE = record(PlaceRow, role=NetworkRole)
_WAITING = record(WaitingPlace, role=NetworkRole)


class PostgresNetworks(Store):
    """The networks of the transaction's workspace that its principal may see."""

    def find(self, network_id: UUID) -> NetworkRow | None:
        """Return a network that was not removed."""
        return self.first_of(_NETWORK, "network.find", id=network_id)

    def add(self, row: NetworkRow) -> None:
        """Keep a new network."""
        self.write("network.add", row)

    def change(self, row: NetworkRow) -> bool:
        """Keep a network as it is from now on; False when its version is not the next one."""
        return self.write("network.change", row).rowcount == 1

    def page(
        self,
        *,
        member_id: UUID | None,
        before: UUID | None,
        limit: int,
        moment: datetime | None = None,
    ) -> Sequence[NetworkRow]:
        """Return networks, the newest first; those a member is in, or was in at a moment."""
        of = {"member_id": member_id, "moment": moment}
        return self.all_of(_NETWORK, "network.page", before=before, limit=limit, **of)

    def counts(self, ids: Collection[UUID]) -> Mapping[UUID, int]:
        """Return how many are in each network; those that may not be known are left out."""
        return dict(self.all_of(tuple_row, "network.counts", ids=list(ids)))

    # Who is in them

    def place(self, network_id: UUID, member_id: UUID) -> PlaceRow | None:
        """Return a member's present place in a network."""
        return self.first_of(_PLACE, "network.place", network_id=network_id, member_id=member_id)

    def places_of(self, member_id: UUID) -> Sequence[PlaceRow]:
        """Return where a member is now, the oldest place first."""
        return self.all_of(_PLACE, "network.places_of", member_id=member_id)

    def members(
        self, network_id: UUID, *, before: UUID | None, limit: int, moment: datetime | None = None
    ) -> Sequence[PlaceRow]:
        """Return who is in a network, or was at a moment."""
        page = {"before": before, "limit": limit, "moment": moment}
        return self.all_of(_PLACE, "network.members", network_id=network_id, **page)

    def join(self, row: PlaceRow) -> bool:
        """Keep a member's place; False when they have one."""
        return self.write("network.join", row).rowcount == 1

    def leave(self, network_id: UUID, member_id: UUID, moment: datetime) -> bool:
        """End a member's place, and that of their intents there; False when they have none."""
        whose = {"network_id": network_id, "member_id": member_id, "moment": moment}
        self.run("network.leave_intents", **whose)
        return self.run("network.leave", **whose).rowcount == 1

    def set_prompt(self, row: PlaceRow, moment: datetime) -> bool:
        """Keep what of a member's belongs to a network; False when they are not in it."""
        return self.write("network.set_prompt", row, moment=moment).rowcount == 1

    def judge_all(self, network_id: UUID, moment: datetime) -> int:
        """Let everybody's intents be judged anew for a network; return how many members."""
        return self.run("network.judge_all", network_id=network_id, moment=moment).rowcount

    def to_judge(self, network_id: UUID, limit: int) -> Sequence[WaitingPlace]:
        """Return whose intents are to be judged anew, those who wait longest first."""
        return self.all_of(_WAITING, "network.to_judge", network_id=network_id, limit=limit)

    def judged(self, place: WaitingPlace) -> bool:
        """Say that they were; False when they are to be again meanwhile, or somebody else did."""
        return self.write("network.judged", place, seen=place.judge_since).rowcount == 1

    # Which intents belong there

    def intents(
        self, *, intent_id: UUID | None = None, members: Collection[UUID] | None = None
    ) -> Sequence[IntentText]:
        """Return active and paused intents: one, or those of members."""
        of = {"intent_id": intent_id, "members": None if members is None else list(members)}
        return self.all_of(record(IntentText), "network.intents", **of)

    def assigned(self, intents: Collection[UUID]) -> Sequence[AssignmentRow]:
        """Return where intents belong now."""
        return self.all_of(record(AssignmentRow), "network.assigned", intents=list(intents))

    def assign(self, row: AssignmentRow) -> bool:
        """Let an intent belong to a network; False when it does already."""
        return self.write("network.assign", row).rowcount == 1

    def rescore(self, row: AssignmentRow) -> None:
        """Say how far an intent belongs to a network."""
        self.write("network.rescore", row)

    def unassign(self, network_id: UUID, intent_id: UUID, moment: datetime) -> bool:
        """Let an intent belong to a network no longer; False when it did not."""
        what = {"network_id": network_id, "intent_id": intent_id, "moment": moment}
        return self.run("network.unassign", **what).rowcount == 1

    # What they show

    def shown_members(self, faces: Mapping[UUID, UUID]) -> Mapping[UUID, ShownMember]:
        """Return what shared networks show of members, by id. `faces` are their profiles' nodes."""
        parameters = {"members": list(faces), "faces": list(faces.values())}
        rows = self.all_of(record(ShownMember), "network.shown_members", **parameters)
        return {row.id: row for row in rows}

    def shown_intents(
        self, networks: Collection[UUID], *, owner: UUID | None, before: UUID | None, limit: int
    ) -> Sequence[ShownIntent]:
        """Return the active intents that networks show, of one member when said, newest first."""
        page = {"owner": owner, "before": before, "limit": limit}
        factory = record(ShownIntent)
        return self.all_of(factory, "network.shown_intents", networks=list(networks), **page)

    # Invites

    def invite(self, row: InviteRow, token_hash: bytes) -> None:
        """Keep an invite."""
        self.write("network.invite", row, token_hash=token_hash)

    def invites(self, network_id: UUID, *, before: UUID | None, limit: int) -> Sequence[InviteRow]:
        """Return invites to a network, the newest first."""
        page = {"before": before, "limit": limit}
        return self.all_of(record(InviteRow), "network.invites", network_id=network_id, **page)

    def open_invites(self, network_id: UUID, moment: datetime) -> int:
        """Return how many invites to a network may still be used."""
        return self.value("network.open_invites", network_id=network_id, moment=moment)

    def revoke(self, network_id: UUID, invite_id: UUID, moment: datetime) -> bool:
        """Let an invite let nobody in any more; False when it was used or withdrawn."""
        what = {"network_id": network_id, "id": invite_id, "moment": moment}
        return self.run("network.revoke", **what).rowcount == 1

    def take(self, token_hash: bytes, member_id: UUID, moment: datetime) -> UUID | None:
        """Take an invite: return the network it lets into, None when it lets nobody in."""
        what = {"token_hash": token_hash, "member_id": member_id, "moment": moment}
        return self.value("network.take", **what)
