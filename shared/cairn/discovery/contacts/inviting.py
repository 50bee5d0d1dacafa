"""Invite a contact into a network: a ghost until they take the invite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.discovery.contacts.rows import Standing
from cairn.discovery.networks.acting import acting
from cairn.discovery.networks.members import Members
from cairn.kernel.errors import Conflict
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Writer

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cairn.discovery.contacts.keep import Contacts, ContactView
    from cairn.discovery.networks.invites import Invites
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactInvited:
    """An invite for a contact. The token is shown once; `text` can be sent with it."""

    contact: ContactView
    network_id: UUID
    token: str
    text: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteContact:
    """Makes invites for contacts. Nobody is written to: the member sends the link."""

    platform: Platform
    contacts: Contacts
    invites: Invites

    def __call__(
        self,
        principal: Principal,
        contact_id: UUID,
        network_id: UUID,
        *,
        client_id: str | None = None,
    ) -> ContactInvited:
        """Invite a contact; again, and it is another link for the same ghost.

        NotFound without the contact or the network, Denied for who may not invite there, Conflict
        (`is-member`) when they are here.
        """
        confined = acting(principal, client_id)
        contact = self.contacts.get(confined, contact_id)
        if contact.standing is Standing.MEMBER:
            raise Conflict("They are a member already.", reason="is-member")
        ghost = ("client", contact.address or f"ghost-{contact_id}")
        first = [resolve(self.platform, confined, [ghost])]
        ghost_id = first[0].ids[ghost]
        invite = self.invites.make(confined, network_id, ghost_id=ghost_id)

        def prepare() -> Work[None]:
            # the id of somebody new is another with each look: the ghost is whom the invite names
            resolution = first.pop() if first else resolve(self.platform, confined, [ghost])

            def do(write: Write) -> None:
                member = Members.ensure(write, ghost[1], ghost=True)
                write.stores.contacts.invite(contact_id, member.id, invite.id)
                meta = {"contact_id": str(contact_id), "invite_id": str(invite.id)}
                write.entries.add(
                    "contact.invited",
                    {**meta, "ghost_id": str(member.id)},
                    None,
                    data_subjects=(member.id,),
                    occurred_at=write.now,
                )

            return Work(resolution=resolution, do=do, keep=lambda _: {}, read=lambda _: None)

        Writer(self.platform).write_once(confined, prepare, None)
        return ContactInvited(
            contact=self.contacts.get(confined, contact_id),
            network_id=network_id,
            token=invite.token,
            text=invite.text,
            expires_at=invite.expires_at,
        )
