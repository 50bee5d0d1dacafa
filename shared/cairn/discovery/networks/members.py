"""Members: a row for each client that takes part in networks, made when they first do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.discovery.networks.rows import MemberRow

if TYPE_CHECKING:
    from cairn.writing.writer import Write

REGISTERED = "member.registered"


class Members:
    """Makes rows of members."""

    @staticmethod
    def ensure(write: Write, client_id: str, *, ghost: bool = False) -> MemberRow:
        """Return the member that a client is, made now when there is none.

        The write's resolution holds the owner ("client", client_id). A ghost who comes themselves
        is a ghost no longer.
        """
        if write.resolution.new:
            write.register()
            write.append()
        member_id = write.resolution.ids["client", client_id]
        row = write.stores.members.find(member_id)
        if row is not None and (ghost or not row.ghost):
            return row
        fresh = MemberRow(id=member_id, client_id=client_id, ghost=ghost, since=write.now)
        members = write.stores.members
        if members.arrive(fresh) if row is not None else members.add(fresh):
            meta = {"member_id": str(member_id), "ghost": ghost}
            write.entries.add(
                REGISTERED, meta, None, data_subjects=(member_id,), occurred_at=write.now
            )
        return fresh
