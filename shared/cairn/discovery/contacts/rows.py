"""Rows of contacts and of where they are read from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


class Standing(StrEnum):
    """What a contact is to the networks."""

    CONTACT = "contact"  # known to the member alone
    GHOST = "ghost"  # invited, not here yet
    MEMBER = "member"  # here: they took the invite, or were a member before


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactRow:
    """A contact of a member. Its body is sealed for the member and for whom it is about.

    `link_id` is the member that the contact is known to be; `used_by` who took the invite.
    """

    id: UUID
    member_id: UUID
    person_id: UUID
    data_subjects: tuple[UUID, ...]
    body: bytes
    met: int
    met_at: datetime | None
    link_id: UUID | None = None
    ghost_id: UUID | None = None
    invite_id: UUID | None = None
    used_by: UUID | None = None
    created_at: datetime
    changed_at: datetime

    @property
    def standing(self) -> Standing:
        """Return what the contact is to the networks now."""
        if self.link_id or self.used_by:
            return Standing.MEMBER
        return Standing.GHOST if self.ghost_id else Standing.CONTACT


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrationRow:
    """Where contacts of a member are read from; its body, sealed, has the address."""

    id: UUID
    member_id: UUID
    kind: str
    data_subjects: tuple[UUID, ...]
    body: bytes
    people: int | None
    problem: str | None
    created_at: datetime
    synced_at: datetime | None
