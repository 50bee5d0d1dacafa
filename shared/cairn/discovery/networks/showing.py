"""What a member sees of others: what a network shows that both are in, nothing private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.discovery.networks.deeds import confined, visible
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import derived_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.discovery.networks.rows import NetworkRole, PlaceRow, ShownIntent, ShownMember
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

MOST_INTENTS = 100
FACE = ("location", "context", "skills", "interests")
"""What of a profile others see beside the name and the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """How somebody describes themselves; empty without a profile."""

    name: str | None
    text: str | None
    location: str | None
    context: str | None
    skills: tuple[str, ...]
    interests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InNetwork:
    """Somebody in a network."""

    id: UUID
    role: NetworkRole
    joined_at: datetime
    profile: Face


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberView:
    """A member as somebody sees them who is in a network with them."""

    id: UUID
    profile: Face
    intents: Sequence[ShownIntent]


@dataclass(frozen=True, slots=True)
class ShowMembers:
    """Shows members to members. What may be seen is the database's to say."""

    platform: Platform

    def of_network(
        self,
        principal: Principal,
        network_id: UUID,
        *,
        client_id: str | None = None,
        before: UUID | None = None,
        limit: int = 50,
        as_of: datetime | None = None,
    ) -> Sequence[InNetwork]:
        """Return who is in a network that one is in, or owns; NotFound else.

        At a moment of the past: its owner sees who was in it, a member who of those still is.
        """
        who = confined(principal, client_id)
        with self.platform.transactions.reading(who) as stores:
            network = visible(stores, network_id)
            if who.client_id is not None:
                member = stores.members.of_client(who.client_id)
                is_in = member and (
                    network.owner_id == member.id
                    or stores.networks.place(network_id, member.id) is not None
                )
                if not is_in:
                    raise NotFound("Who is in a network sees who is in it.", reason="not-in-it")
            rows = stores.networks.members(network_id, before=before, limit=limit, moment=as_of)
            shown = stores.networks.shown_members(_faces([row.member_id for row in rows]))
        return [_in_network(row, shown.get(row.member_id)) for row in rows]

    def get(
        self, principal: Principal, member_id: UUID, *, client_id: str | None = None
    ) -> MemberView:
        """Return a member who is in a network with one; NotFound for others."""
        who = confined(principal, client_id)
        with self.platform.transactions.reading(who) as stores:
            shown = stores.networks.shown_members(_faces([member_id])).get(member_id)
            if shown is None:
                raise NotFound("There is no such member.", member_id=str(member_id))
            networks = [place.network_id for place in stores.networks.places_of(member_id)]
            intents = stores.networks.shown_intents(
                networks, owner=member_id, before=None, limit=MOST_INTENTS
            )
        return MemberView(id=member_id, profile=face_of(shown), intents=tuple(intents))


def _faces(ids: Sequence[UUID]) -> Mapping[UUID, UUID]:
    return {member_id: derived_id(member_id, "profile") for member_id in ids}


def _in_network(place: PlaceRow, shown: ShownMember | None) -> InNetwork:
    return InNetwork(
        id=place.member_id,
        role=place.role,
        joined_at=place.joined_at,
        profile=face_of(shown),
    )


def face_of(shown: ShownMember | None) -> Face:
    """Return what others see of a profile: of its fields those that are for them."""
    fields: Mapping[str, Any] = (shown.face if shown else None) or {}
    words = {name: fields.get(name) for name in FACE}
    return Face(
        name=shown.name if shown else None,
        text=shown.text if shown else None,
        location=_text(words["location"]),
        context=_text(words["context"]),
        skills=_texts(words["skills"]),
        interests=_texts(words["interests"]),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, list) else ()  # pyright: ignore
