"""Rebuilds as the API asks for them, for tests."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import NotFound
from cairn.rebuild.runs import RUNNING, RebuildView

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass
class RebuildWorld:
    """Keeps what was asked for."""

    asked: dict[UUID, RebuildView] = field(default_factory=dict[UUID, RebuildView])

    def start(self, principal: Principal, /, *, check: bool = False) -> RebuildView:
        principal.require(Role.ADMIN)
        view = RebuildView(
            id=UUID(int=len(self.asked) + 1),
            check=check,
            state=RUNNING,
            entries=0,
            head=0,
            created_at=NOW,
            updated_at=NOW,
        )
        self.asked[view.id] = view
        return view

    def show(self, principal: Principal, rebuild_id: UUID, /) -> RebuildView:
        principal.require(Role.ADMIN)
        if rebuild_id not in self.asked:
            raise NotFound("There is no such rebuild.")
        return self.asked[rebuild_id]
