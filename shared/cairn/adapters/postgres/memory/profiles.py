"""Whose memories and events are, and what the graph holds of people, from PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.rows import scalar_row

from cairn.adapters.postgres.memory.views import MEMORY
from cairn.adapters.postgres.store import Store, keyed, record
from cairn.profiles.claims import claims_of
from cairn.profiles.ports import DueClient, HeldEdge, Holder

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.profiles.claims import Claims
    from cairn.reading.views import MemoryView


class PostgresProfiles(Store):
    """What profiles are derived from, whatever its audience."""

    def due(self, after: str, *, limit: int) -> Sequence[DueClient]:
        """Return the next clients behind a name whose profiles are to be derived, by name."""
        return self.all_of(record(DueClient), "profile.due", after=after, limit=limit)

    def holders(self, ids: Collection[UUID]) -> Mapping[UUID, Holder]:
        """Return whose these memories and events are, of those that are somebody's."""
        return dict(self.all_of(keyed(Holder), "profile.holders", ids=list(ids)))

    def profile_holders(self, ids: Collection[UUID]) -> Mapping[UUID, Holder]:
        """Return whose these profiles are."""
        return dict(self.all_of(keyed(Holder), "profile.profile_holders", ids=list(ids)))

    def claims(self, ids: Collection[UUID]) -> Mapping[UUID, Claims]:
        """Return what models read in the memories of these profiles."""
        rows = self.run("profile.claims", ids=list(ids)).fetchall()
        return {id_: claims_of(metadata) for id_, metadata in rows}

    def memories(
        self, client_id: str, as_of_position: int | None, *, now: datetime, limit: int
    ) -> Sequence[MemoryView]:
        """Return what a client is known by now, or was at a ledger position, the newest first."""
        where: dict[str, Any] = {"client_id": client_id, "limit": limit}
        if as_of_position is None:
            return self.all_of(MEMORY, "profile.memories", now=now, **where)
        return self.all_of(MEMORY, "profile.memories_as_of", as_of_position=as_of_position, **where)

    def taken_out(self, ids: Collection[UUID]) -> frozenset[UUID]:
        """Return which of these nodes somebody deleted."""
        texts = [str(id_) for id_ in ids]
        return frozenset(self.all_of(scalar_row, "profile.taken_out", ids=texts))

    def held(self, ids: Collection[UUID], relations: Collection[str]) -> Sequence[HeldEdge]:
        """Return the open edges from these nodes, and from the patterns that one of them has."""
        parameters = {"ids": list(ids), "relations": list(relations)}
        return self.all_of(record(HeldEdge), "profile.held", **parameters)
