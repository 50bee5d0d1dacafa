"""Runs that somebody asks for: started, planned only, listed and shown. Admins only.

Not the schedule's runs (`control`) and not the consolidating (`run`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.consolidation.runs import (
    Client,
    Run,
    RunState,
    RunView,
    Trigger,
    counts_of,
    operations_json,
    run_view,
)
from cairn.kernel.access import Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.ports import Topic
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from cairn.consolidation.plan import Plan
    from cairn.consolidation.run import Planned, PreviewClient
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.writing.items import IdempotencyKey

PREVIEW_SECONDS = 15.0
"""How long a dry run plans: an answer has to be there within any gateway's time."""

MAX_TOLD = 1_000
"""Operations a dry run's answer spells out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAccepted:
    """A run that was asked for."""

    id: UUID
    state: str
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a run would do now: up to MAX_TOLD operations; the run's counts are of all.

    With `more`, memories that the time did not suffice for.
    """

    run: RunView
    operations: tuple[Mapping[str, Any], ...]
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StartConsolidation(Writer):
    """Asks for a run: kept, and its machine woken after the commit."""

    def __call__(
        self,
        principal: Principal,
        *,
        client_id: str | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> RunAccepted:
        """Return the run. Denied unless an admin asks, NotFound for a client nobody wrote about."""
        principal.require(Role.ADMIN)

        def prepared() -> Work[RunAccepted]:
            return Work(
                resolution=resolve(self.platform, principal, ()),
                do=partial(_start, principal, self.platform.new_id(), client_id),
                keep=lambda item: {"id": str(item.id)},
                read=lambda stored: RunAccepted(
                    id=UUID(stored["id"]), state=RunState.WAITING.value, replayed=True
                ),
            )

        return self.write_once(principal, prepared, idempotency)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewConsolidation:
    """Plans a run and changes nothing but the list of runs: what was asked and what it cost."""

    transactions: Transactions[Stores]
    preview: PreviewClient
    clock: Clock
    stopwatch: Stopwatch
    new_id: IdSource

    def __call__(self, principal: Principal, *, client_id: str | None = None) -> Preview:
        """Return the plan, its cost and what it leaves undone.

        Denied unless an admin asks, NotFound for a client nobody wrote about, BudgetExceeded and
        Unavailable as the model says.
        """
        principal.require(Role.ADMIN)
        system = system_principal(principal.workspace_id)
        run_id, began = self.new_id(), self.clock()
        with self.transactions.reading(system) as stores:
            only = client_named(stores, principal.workspace_id, client_id)
            clients = stores.unconsolidated.clients()
        planned: list[Planned] = []
        more, until = False, self.stopwatch() + PREVIEW_SECONDS
        for client in clients:
            if only is None or client.id == only.id:
                results, left = self.preview(system, run_id, client, until=until)
                planned += results
                more = more or left
        run = _dry_run(principal, run_id, only, planned, began, self.clock())
        with self.transactions.writing(system) as stores:
            stores.runs.add(run)
        operations = [each for item in planned for each in operations_json(item.plan, item.texts)]
        return Preview(run=run_view(run), operations=tuple(operations[:MAX_TOLD]), more=more)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowseConsolidations:
    """Lists and shows runs."""

    transactions: Transactions[Stores]

    def page(self, principal: Principal, *, before: UUID | None, limit: int) -> Sequence[RunView]:
        """Return up to `limit` runs, the newest first. Denied unless an admin asks."""
        principal.require(Role.ADMIN)
        with self.transactions.reading(principal) as stores:
            return [run_view(item) for item in stores.runs.page(before=before, limit=limit)]

    def show(self, principal: Principal, run_id: UUID) -> RunView:
        """Return one run; NotFound for another workspace's too."""
        principal.require(Role.ADMIN)
        with self.transactions.reading(principal) as stores:
            run = stores.runs.find(run_id)
        if run is None:
            raise NotFound("There is no such run.", run_id=str(run_id))
        return run_view(run)


def client_named(stores: Stores, workspace_id: UUID, client_id: str | None) -> Client | None:
    """Return the client of that name, None for all; NotFound when nobody wrote about it."""
    if client_id is None:
        return None
    if client_id == GLOBAL_CLIENT:
        return Client(id=workspace_id, name=GLOBAL_CLIENT)
    client = ("client", client_id)
    results = stores.subjects.find([client])
    if client not in results:
        raise NotFound("Nothing is remembered about this client.", reason="client")
    return Client(id=results[client], name=client_id)


def _start(principal: Principal, run_id: UUID, client_id: str | None, write: Write) -> RunAccepted:
    client = client_named(write.stores, principal.workspace_id, client_id)
    run = Run(
        id=run_id,
        workspace_id=principal.workspace_id,
        state=RunState.WAITING,
        trigger=Trigger.REQUEST,
        client=client.id if client else None,
        requested_by=principal.principal_id,
        cost_usd=Decimal(0),
        created_at=write.now,
        updated_at=write.now,
    )
    write.stores.runs.add(run)
    write.entries.add(
        "consolidation.requested",
        {"run_id": str(run.id), "client": str(client.id) if client else None},
        {},
        data_subjects=(),
        occurred_at=write.now,
    )
    write.append()
    write.wake(Topic.CONSOLIDATION, run.id, id=run.id)
    return RunAccepted(id=run.id, state=run.state.value)


def _dry_run(
    principal: Principal,
    run_id: UUID,
    client: Client | None,
    planned: Sequence[Planned],
    began: datetime,
    now: datetime,
) -> Run:
    plans = [item.plan for item in planned]
    last = plans[-1] if plans else None
    return Run(
        id=run_id,
        workspace_id=principal.workspace_id,
        state=RunState.FINISHED,
        trigger=Trigger.REQUEST,
        dry_run=True,
        client=client.id if client else None,
        requested_by=principal.principal_id,
        provider=last.provider if last else None,
        model=last.model if last else None,
        counts=_summed(plans),
        cost_usd=_cost(plans),
        undone=tuple(sorted({item for plan in plans for item in plan.undone})),
        created_at=began,
        started_at=began,
        updated_at=now,
        ended_at=now,
    )


def _summed(plans: Iterable[Plan]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for plan in plans:
        counts += counts_of(plan)
    return counts


def _cost(plans: Iterable[Plan]) -> Decimal | None:
    total = Decimal(0)
    for plan in plans:
        if plan.cost_usd is None:
            return None
        total += plan.cost_usd
    return total
