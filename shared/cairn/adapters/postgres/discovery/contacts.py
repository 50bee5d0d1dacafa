"""Contacts of members, and where they are read from, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.discovery.contacts.rows import ContactRow, IntegrationRow

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from uuid import UUID

_CONTACT = record(ContactRow)
_INTEGRATION = record(IntegrationRow)


class PostgresContacts(Store):
    """The contacts of the member that the transaction is confined to."""

    def find(self, contact_id: UUID) -> ContactRow | None:
        """Return one."""
        return self.first_of(_CONTACT, "contact.find", id=contact_id)

    def of_people(self, member_id: UUID, people: Collection[UUID]) -> Sequence[ContactRow]:
        """Return those of a member that are about some people."""
        return self.all_of(_CONTACT, "contact.of_people", member_id=member_id, ids=list(people))

    def page(self, member_id: UUID, before: UUID | None, limit: int) -> Sequence[ContactRow]:
        """Return those of a member, the newest first."""
        return self.all_of(
            _CONTACT, "contact.page", member_id=member_id, before=before, limit=limit
        )

    def count(self, member_id: UUID) -> int:
        """Return how many a member has."""
        return self.value("contact.count", member_id=member_id)

    def add(self, row: ContactRow) -> None:
        """Keep a new one."""
        self.write("contact.add", row)

    def change(self, row: ContactRow) -> None:
        """Replace what is held of one."""
        self.write("contact.change", row)

    def invite(self, contact_id: UUID, ghost_id: UUID, invite_id: UUID) -> None:
        """Say that one was invited."""
        self.run("contact.invite", id=contact_id, ghost_id=ghost_id, invite_id=invite_id)

    def remove(self, contact_id: UUID) -> bool:
        """Take one away; False when there is none."""
        return self.run("contact.remove", id=contact_id).rowcount == 1

    def members_known(self, member_id: UUID, limit: int) -> Sequence[UUID]:
        """Return the members that a member knows, those met most often first."""
        return self.values("contact.members_known", member_id=member_id, limit=limit)

    def integrations(self, member_id: UUID) -> Sequence[IntegrationRow]:
        """Return where a member's contacts are read from, the oldest first."""
        return self.all_of(_INTEGRATION, "contact.integrations", member_id=member_id)

    def integration(self, integration_id: UUID) -> IntegrationRow | None:
        """Return one of them."""
        return self.first_of(_INTEGRATION, "contact.integration", id=integration_id)

    def add_integration(self, row: IntegrationRow) -> None:
        """Keep where contacts are read from."""
        self.write("contact.add_integration", row)

    def synced(
        self, integration_id: UUID, now: datetime, *, people: int | None, problem: str | None
    ) -> None:
        """Say how reading went."""
        outcome = {"people": people, "problem": problem, "now": now}
        self.run("contact.synced", id=integration_id, **outcome)

    def remove_integration(self, integration_id: UUID) -> bool:
        """Take one away; False when there is none."""
        return self.run("contact.remove_integration", id=integration_id).rowcount == 1
