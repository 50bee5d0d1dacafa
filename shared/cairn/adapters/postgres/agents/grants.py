"""Standing grants in PostgreSQL."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.safety.grants import GrantRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID


class PostgresGrants(Store):
    """The standing grants of the transaction's workspace."""

    def add(self, grant: GrantRow) -> None:
        """Keep a new one."""
        values = {one.name: getattr(grant, one.name) for one in fields(grant)}
        values.pop("revoked_at")
        self.run("grant.add", **values | {"data_subjects": list(grant.data_subjects)})

    def find(self, grant_id: UUID) -> GrantRow | None:
        """Return one, over or not."""
        return self.first_of(record(GrantRow), "grant.find", id=grant_id)

    def page(self, *, before: UUID | None, limit: int) -> Sequence[GrantRow]:
        """Return grants, the newest first."""
        return self.all_of(record(GrantRow), "grant.page", before=before, limit=limit)

    def in_force(self, tool: str, now: datetime) -> Sequence[GrantRow]:
        """Return those for a tool that may be used once more, the oldest first."""
        return self.all_of(record(GrantRow), "grant.in_force", tool=tool, now=now)

    def open_count(self, now: datetime) -> int:
        """Return how many may be used once more."""
        return self.value("grant.open_count", now=now)

    def revoke(self, grant_id: UUID, now: datetime) -> bool:
        """Revoke one; False when it is revoked already or there is none."""
        return self.run("grant.revoke", id=grant_id, now=now).rowcount == 1

    def use(self, grant_id: UUID, action_id: UUID, now: datetime) -> bool:
        """Count a use by an action; the same action again counts once.

        False when it is revoked, expired or used up: nothing is counted. Two at once never use
        the last one twice.
        """
        asked = {"id": grant_id, "action_id": action_id}
        if self.run("grant.used_by", **asked).fetchone() is not None:
            return True
        return self.run("grant.use", **asked, now=now).rowcount == 1
