"""Runs of the consolidation behind the fake API."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from cairn.consolidation.requests import Preview, RunAccepted
from cairn.consolidation.runs import RunView
from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import new_id
from cairn.writing.items import IdempotencyKey

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def run_view(run_id: UUID, *, state: str = "finished", dry_run: bool = False) -> RunView:
    return RunView(
        id=run_id,
        state=state,
        trigger="request",
        dry_run=dry_run,
        client=None,
        provider="heuristic",
        model="rules-1",
        counts={"memories": 3, "merged": 1, "superseded": 2},
        cost_usd=0.0,
        undone=("insights",),
        error=None,
        execution=None,
        created_at=NOW,
        started_at=NOW,
        ended_at=NOW,
    )


@dataclass
class RunWorld:
    """Runs that were asked for, and for which client. Each look shows the next of `states`."""

    made: dict[UUID, RunView] = field(default_factory=dict[UUID, RunView])
    clients: list[str | None] = field(default_factory=list["str | None"])
    states: list[str] = field(default_factory=list[str])

    def start(
        self,
        principal: Principal,
        *,
        client_id: str | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> RunAccepted:
        principal.require(Role.ADMIN)
        if client_id == "nobody":
            raise NotFound("Nothing is remembered about this client.", reason="client")
        self.clients.append(client_id)
        run = run_view(new_id(), state="waiting")
        self.made[run.id] = run
        return RunAccepted(id=run.id, state=run.state)

    def preview(self, principal: Principal, *, client_id: str | None = None) -> Preview:
        principal.require(Role.ADMIN)
        told = {"operation": "merge", "text": "one", "memories": [{"id": "a", "text": "one"}]}
        return Preview(run=run_view(new_id(), dry_run=True), operations=(told,), more=False)

    def page(self, principal: Principal, *, before: UUID | None, limit: int) -> Sequence[RunView]:
        principal.require(Role.ADMIN)
        found = sorted(self.made, reverse=True)
        return [self.made[item] for item in found if before is None or item < before][:limit]

    def show(self, principal: Principal, run_id: UUID) -> RunView:
        principal.require(Role.ADMIN)
        if run_id not in self.made:
            raise NotFound("There is no such run.", run_id=str(run_id))
        if self.states:
            self.made[run_id] = run_view(run_id, state=self.states.pop(0))
        return self.made[run_id]
