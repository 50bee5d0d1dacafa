"""Members of networks, in PostgreSQL. Others are seen as far as a shared network shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.discovery.networks.rows import MemberRow

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from uuid import UUID

_MEMBER = record(MemberRow)


class PostgresMembers(Store):
    """The members of the transaction's workspace that its principal may see."""

    def find(self, member_id: UUID) -> MemberRow | None:
        """Return a member by id."""
        return self.first_of(_MEMBER, "member.find", id=member_id)

    def of_client(self, client_id: str) -> MemberRow | None:
        """Return the member that a client is."""
        return self.first_of(_MEMBER, "member.of_client", client_id=client_id)

    def listed(self, ids: Collection[UUID]) -> Sequence[MemberRow]:
        """Return those of these ids that may be seen."""
        return self.all_of(_MEMBER, "member.listed", ids=list(ids))

    def add(self, row: MemberRow) -> bool:
        """Keep a new member; False when there is one of this id."""
        return self.write("member.add", row).rowcount == 1

    def arrive(self, row: MemberRow) -> bool:
        """Say that a ghost is here themselves now; False when they are no ghost."""
        return self.write("member.arrive", row).rowcount == 1
