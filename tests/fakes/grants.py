"""Standing grants in memory. For tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.safety.grants import GrantRow


@dataclass(frozen=True)
class InMemoryGrants:
    """Does what `PostgresGrants` does."""

    tables: Tables

    def add(self, grant: GrantRow) -> None:
        """Keep a new one."""
        self.tables.grants[grant.id] = grant

    def find(self, grant_id: UUID) -> GrantRow | None:
        """Return one, over or not."""
        return self.tables.grants.get(grant_id)

    def page(self, *, before: UUID | None, limit: int) -> Sequence[GrantRow]:
        """Return grants, the newest first."""
        every = sorted(self.tables.grants.values(), key=lambda grant: grant.id, reverse=True)
        return [item for item in every if before is None or item.id < before][:limit]

    def in_force(self, tool: str, now: datetime) -> Sequence[GrantRow]:
        """Return those for a tool that may be used once more, the oldest first."""
        every = sorted(self.tables.grants.values(), key=lambda grant: grant.id)
        return [item for item in every if item.tool == tool and _open(item, now)]

    def open_count(self, now: datetime) -> int:
        """Return how many may be used once more."""
        return sum(_open(grant, now) for grant in self.tables.grants.values())

    def revoke(self, grant_id: UUID, now: datetime) -> bool:
        """Revoke one; False when it is revoked already or there is none."""
        found = self.tables.grants.get(grant_id)
        if found is None or found.revoked_at is not None:
            return False
        self.tables.grants[grant_id] = replace(found, revoked_at=now)
        return True

    def use(self, grant_id: UUID, action_id: UUID, now: datetime) -> bool:
        """Count a use by an action, once; False when there is none left."""
        if (grant_id, action_id) in self.tables.grant_uses:
            return True
        found = self.tables.grants.get(grant_id)
        if found is None or not _open(found, now):
            return False
        self.tables.grants[grant_id] = replace(found, uses=found.uses + 1)
        self.tables.grant_uses.add((grant_id, action_id))
        return True


def _open(grant: GrantRow, now: datetime) -> bool:
    return grant.revoked_at is None and grant.uses < grant.max_uses and grant.expires_at > now
