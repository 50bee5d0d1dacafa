"""People of the console who become members of networks by themselves.

Not how owners and admins tie them to members that there are: `accounts.people` does that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, Denied

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.accounts.people import People
    from cairn.discovery.networks.deeds import Deed
    from cairn.discovery.networks.manage import NetworkView
    from cairn.discovery.networks.places import Places
    from cairn.kernel.access import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Ties:
    """Says which member somebody is, and lets them become one."""

    people: People
    places: Places

    def member(self, principal: Principal) -> Principal | None:
        """Return who signed in as the member that they are; None where they are none.

        The database holds it to what that member may, whatever the person's role.
        """
        client_id = self.people.client_of(principal)
        return None if client_id is None else acting_as(principal, client_id)

    def join(self, principal: Principal, token: str) -> NetworkView:
        """Be in the network that an invite lets into, as the member one is or becomes by it.

        Who is none becomes a new one: nobody takes over a member by an invite.
        """
        if principal.person is None:
            raise Denied("This is for people who sign in.", reason="role")
        member = self.member(principal)
        if member is not None:
            return self.places.join_by_invite(member, token)
        member = acting_as(principal, f"person-{principal.principal_id}")
        return self.places.join_by_invite(member, token, then=partial(_tie, principal.principal_id))


def acting_as(principal: Principal, client_id: str) -> Principal:
    """Return a person confined to a client, with no more than a member's key has."""
    return replace(principal, client_id=client_id, role=Role.AGENT)


def _tie(person_id: UUID, deed: Deed) -> None:
    """Tie who acts to the member that acts."""
    write, member = deed.write, deed.member
    if member is None or not write.stores.people.tie(
        person_id, member.id, member.client_id, write.now
    ):
        raise Conflict("One of the two is tied already; untie them first.", reason="tied-already")
    meta = {"person_id": str(person_id), "member_id": str(member.id)}
    write.entries.add("person.tied", meta, None, data_subjects=(member.id,), occurred_at=write.now)
