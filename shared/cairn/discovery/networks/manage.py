"""Networks: made, changed and removed by their owners, or by admins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.discovery.networks.acting import acting
from cairn.discovery.networks.deeds import (
    Deed,
    clean_network_name,
    clean_prompt,
    confined,
    done,
    visible,
)
from cairn.discovery.networks.rows import JoinPolicy, NetworkRole, NetworkRow, PlaceRow
from cairn.kernel.errors import Conflict
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.items import IdempotencyKey
    from cairn.writing.platform import Platform

MOST_OWNED = 100
MADE, CHANGED, REMOVED = "network.made", "network.changed", "network.removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNetwork:
    """What a network is to be."""

    name: str
    prompt: str = ""
    join_policy: JoinPolicy = JoinPolicy.INVITE_ONLY


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkChanges:
    """What of a network is to be otherwise; what is None stays."""

    name: str | None = None
    prompt: str | None = None
    join_policy: JoinPolicy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkView:
    """A network as somebody sees it. `role` and `member_prompt` are theirs; None: they are not in.

    `members` is how many there are.
    """

    id: UUID
    name: str
    prompt: str
    join_policy: JoinPolicy
    owner_id: UUID | None
    role: NetworkRole | None
    member_prompt: str | None
    joined_at: datetime | None
    members: int
    version: int
    created_at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Networks:
    """Makes, changes, removes and shows networks."""

    platform: Platform

    def make(
        self,
        principal: Principal,
        new: NewNetwork,
        *,
        client_id: str | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> NetworkView:
        """Make a network and be in it as its owner. An admin for nobody makes one without."""
        who = confined(principal, client_id)
        name, prompt = clean_network_name(new.name), clean_prompt(new.prompt)

        def make(deed: Deed) -> UUID:
            write, member = deed.write, deed.member
            row = NetworkRow(
                id=self.platform.new_id(),
                name=name,
                prompt=prompt,
                join_policy=new.join_policy,
                owner_id=member.id if member else None,
                version=1,
                created_at=write.now,
                changed_at=write.now,
                removed_at=None,
            )
            if member is not None:
                _require_room(write.stores, member.id)
            write.stores.networks.add(row)
            deed.note(MADE, row.id, body_of(row), version=1, owner_id=row.owner_id)
            if member is not None:
                enter(deed, row.id, member.id, NetworkRole.OWNER, "")
            return row.id

        return self.get(who, done(self.platform, who, make, idempotency))

    def get(
        self, principal: Principal, network_id: UUID, *, client_id: str | None = None
    ) -> NetworkView:
        """Return a network that one is in or owns, or that anyone may join; else NotFound."""
        who = confined(principal, client_id)
        with self.platform.transactions.reading(who) as stores:
            return _views(stores, who, [visible(stores, network_id)])[0]

    def page(
        self,
        principal: Principal,
        *,
        client_id: str | None = None,
        before: UUID | None = None,
        limit: int = 50,
        joined: bool = False,
        as_of: datetime | None = None,
    ) -> Sequence[NetworkView]:
        """Return networks, the newest first; those one is in alone, or was in at a moment."""
        who = acting(principal, client_id) if joined or as_of else confined(principal, client_id)
        with self.platform.transactions.reading(who) as stores:
            member_id = _member_of(stores, who)
            if (joined or as_of) and member_id is None:
                return ()
            rows = stores.networks.page(
                member_id=member_id if joined or as_of else None,
                before=before,
                limit=limit,
                moment=as_of,
            )
            return _views(stores, who, rows)

    def update(
        self,
        principal: Principal,
        network_id: UUID,
        changes: NetworkChanges,
        *,
        client_id: str | None = None,
    ) -> NetworkView:
        """Change a network that one owns; another prompt lets what is in it be judged anew."""
        who = confined(principal, client_id)

        def update(deed: Deed) -> UUID:
            before = deed.owned(network_id)
            after = _changed(before, changes)
            if after == before:
                return network_id
            _keep(deed, after, CHANGED)
            if after.prompt != before.prompt:
                deed.write.stores.networks.judge_all(network_id, deed.write.now)
                deed.write.wake(Topic.ASSIGNMENT, network_id)
            return network_id

        return self.get(who, done(self.platform, who, update))

    def remove(
        self, principal: Principal, network_id: UUID, *, client_id: str | None = None
    ) -> None:
        """Remove a network that one owns and is alone in; Conflict (`others-in-it`) else."""
        who = confined(principal, client_id)

        def remove(deed: Deed) -> UUID:
            row = deed.owned(network_id)
            networks = deed.write.stores.networks
            present = networks.members(network_id, before=None, limit=2)
            if any(place.member_id != row.owner_id for place in present):
                raise Conflict("Others are in this network; it stays.", reason="others-in-it")
            _keep(deed, replace(row, removed_at=deed.write.now), REMOVED)
            if row.owner_id is not None:
                networks.leave(network_id, row.owner_id, deed.write.now)
                deed.note("network.left", network_id, member_id=row.owner_id, why="removed")
            return network_id

        done(self.platform, who, remove)


def enter(deed: Deed, network_id: UUID, member_id: UUID, role: NetworkRole, prompt: str) -> bool:
    """Give a member a place, its intents to be judged; False when they have one."""
    write = deed.write
    row = PlaceRow(
        network_id=network_id,
        member_id=member_id,
        role=role,
        prompt=prompt,
        joined_at=write.now,
        left_at=None,
    )
    if not write.stores.networks.join(row):
        return False
    deed.note(
        "network.joined", network_id, {"prompt": prompt}, member_id=member_id, role=role.value
    )
    write.wake(Topic.ASSIGNMENT, network_id)
    return True


def body_of(row: NetworkRow) -> dict[str, str]:
    """Return what an entry says of a network: its words are the community's."""
    return {"name": row.name, "prompt": row.prompt, "join_policy": row.join_policy.value}


def _changed(before: NetworkRow, changes: NetworkChanges) -> NetworkRow:
    after = before
    if changes.name is not None:
        after = replace(after, name=clean_network_name(changes.name))
    if changes.prompt is not None:
        after = replace(after, prompt=clean_prompt(changes.prompt))
    if changes.join_policy is not None:
        after = replace(after, join_policy=changes.join_policy)
    return after


def _keep(deed: Deed, row: NetworkRow, type_: str) -> None:
    later = replace(row, version=row.version + 1, changed_at=deed.write.now)
    if not deed.write.stores.networks.change(later):
        detail = "The network was changed meanwhile; look again."
        raise Conflict(detail, reason="changed-meanwhile")
    deed.note(type_, row.id, body_of(later), version=later.version)


def _require_room(stores: Stores, member_id: UUID) -> None:
    owned = [place for place in stores.networks.places_of(member_id) if place.role == "owner"]
    if len(owned) >= MOST_OWNED:
        detail = f"A member owns at most {MOST_OWNED} networks."
        raise Conflict(detail, reason="too-many-networks")


def _member_of(stores: Stores, who: Principal) -> UUID | None:
    if who.client_id is None:
        return None
    member = stores.members.of_client(who.client_id)
    return member.id if member else None


def _views(stores: Stores, who: Principal, rows: Sequence[NetworkRow]) -> list[NetworkView]:
    member_id = _member_of(stores, who)
    places = stores.networks.places_of(member_id) if member_id else ()
    own = {place.network_id: place for place in places}
    counts = stores.networks.counts([row.id for row in rows])
    return [_view(row, own.get(row.id), counts.get(row.id, 0)) for row in rows]


def _view(row: NetworkRow, place: PlaceRow | None, members: int) -> NetworkView:
    return NetworkView(
        id=row.id,
        name=row.name,
        prompt=row.prompt,
        join_policy=row.join_policy,
        owner_id=row.owner_id,
        role=place.role if place else None,
        member_prompt=place.prompt if place else None,
        joined_at=place.joined_at if place else None,
        members=members,
        version=row.version,
        created_at=row.created_at,
        changed_at=row.changed_at,
    )
