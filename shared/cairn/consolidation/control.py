"""How runs begin and end: the first and the last step of the machine, and what it says of failures.

Beginning or ending twice changes nothing. Not the consolidating (`run`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cairn.consolidation.runs import Progress, Run, RunState, Trigger
from cairn.documents.finish import explained
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.consolidation.runs import Client, WorkspaceStep
    from cairn.kernel.clock import Clock
    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.kernel.transaction import Transactions
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

ABANDONED_AFTER = timedelta(hours=3)
"""A run that nothing moves for so long has lost its machine."""

MAX_WORKSPACES = 200
MAX_CLIENTS = 500
"""What one scheduled execution takes, so that its history stays below 25,000 events. The workspaces
behind follow in the next execution; clients of one workspace that are too many wait for its next
run."""

MAX_CLIENTS_OF_ONE = 1_000
"""What an execution takes that was asked for, of one workspace."""

RECENT = 5
"""Runs looked at for one that this execution began before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginRuns:
    """Says what is to be consolidated, and begins a run in each workspace that has something."""

    platform: Platform
    workspaces: Callable[[], Sequence[UUID]]

    def __call__(
        self,
        *,
        workspace_id: UUID | None,
        run_id: UUID | None,
        execution: str | None,
        after: UUID | None = None,
    ) -> dict[str, Any]:
        """Return `workspaces` with their run, `clients` to consolidate, and how many `wait` yet.

        A workspace and a run are one that was asked for; none are what the schedule says: a page
        of the workspaces behind `after`, and `next`, behind which the next page begins, null at the
        end. NotFound for a run that is none of the workspace's.
        """
        if workspace_id is not None and run_id is not None:
            return self._requested(workspace_id, run_id, execution)
        begun: list[dict[str, Any]] = []
        clients: list[dict[str, str]] = []
        wait = 0
        behind = sorted(
            workspace for workspace in self.workspaces() if after is None or workspace > after
        )
        for item in behind[:MAX_WORKSPACES]:
            if len(clients) == MAX_CLIENTS:
                break
            run, results = self._scheduled(item, execution)
            begun.append({"workspace_id": str(item), "run_id": str(run.id) if run else None})
            taken = results[: MAX_CLIENTS - len(clients)] if run else ()
            clients += [_item(item, run.id, client.id) for client in taken if run]
            wait += len(results) - len(taken)
        next_page = begun[-1]["workspace_id"] if len(begun) < len(behind) else None
        return {"workspaces": begun, "clients": clients, "wait": wait, "next": next_page}

    def _scheduled(
        self, workspace_id: UUID, execution: str | None
    ) -> tuple[Run | None, Sequence[Client]]:
        """Return a new run, or the one a first try of this step began; none for nothing to do."""
        principal = system_principal(workspace_id)
        with self.platform.transactions.reading(principal) as stores:
            clients = stores.unconsolidated.clients()
            recent = stores.runs.page(before=None, limit=RECENT)
        mine = [item for item in recent if execution is not None and item.execution == execution]
        if mine or not clients:
            return (mine[0] if mine else None), clients
        with open_write(self.platform, principal) as write:
            runs, now = write.stores.runs, write.now
            runs.abandon(now - ABANDONED_AFTER, now)
            run = Run(
                id=self.platform.new_id(),
                workspace_id=workspace_id,
                state=RunState.RUNNING,
                trigger=Trigger.SCHEDULE,
                cost_usd=Decimal(0),
                execution=execution,
                created_at=now,
                started_at=now,
                updated_at=now,
            )
            runs.add(run)
            write.note("consolidation.started", run_meta(run, clients=len(clients)))
        return run, clients

    def _requested(self, workspace_id: UUID, run_id: UUID, execution: str | None) -> dict[str, Any]:
        with open_write(self.platform, system_principal(workspace_id)) as write:
            stores, run = write.stores, _find_run(write.stores, run_id)
            clients = stores.unconsolidated.clients()
            if run.client is not None:
                clients = [client for client in clients if client.id == run.client]
            if stores.runs.begin(run_id, write.now, execution=execution):
                write.note("consolidation.started", run_meta(run, clients=len(clients)))
            stores.outbox.done([run_id])
        taken = () if run.ended else clients[:MAX_CLIENTS_OF_ONE]
        return {
            "workspaces": [{"workspace_id": str(workspace_id), "run_id": str(run_id)}],
            "clients": [_item(workspace_id, run_id, item.id) for item in taken],
            "wait": len(clients) - len(taken),
            "next": None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRuns:
    """Ends runs and keeps why parts of them failed; the webhooks that ask for it are told."""

    platform: Platform
    model_id: int

    def finish(self, workspace_id: UUID, run_id: UUID) -> dict[str, Any]:
        """End a run: finished, or failed when a part of it did; return its counts.

        What was done stands either way. Memories no run takes are counted with the rest.
        """
        with open_write(self.platform, system_principal(workspace_id)) as write:
            run = _find_run(write.stores, run_id)
            if run.ended:
                return {"state": run.state.value, **run.counts}
            state = RunState.FAILED if run.error else RunState.FINISHED
            counts = {**run.counts, **write.stores.unconsolidated.left(self.model_id)}
            _end(write, run, state, counts, error=None)
        return {"state": state.value, **counts}

    def fail(
        self, workspace_id: UUID, run_id: UUID, *, error: str, cause: str, ends: bool
    ) -> dict[str, Any]:
        """Keep why a client or a workspace failed; `ends` for the machine as a whole."""
        detail, reason = explained(cause, otherwise="The execution ended before it was done.")
        why = {"error": error, "reason": reason or error, "detail": detail}
        with open_write(self.platform, system_principal(workspace_id)) as write:
            run = _find_run(write.stores, run_id)
            if not run.ended:
                write.stores.runs.note_failure(run_id, why, write.now)
                if ends:
                    _end(write, run, RunState.FAILED, dict(run.counts), error=why)
        return {"failed": True, "reason": why["reason"]}


def _end(
    write: Write,
    run: Run,
    state: RunState,
    counts: Mapping[str, int],
    *,
    error: Mapping[str, Any] | None,
) -> None:
    write.stores.runs.end(run.id, state, write.now, counts=counts, error=error)
    write.note("consolidation.finished", run_meta(run, state=state.value, counts=dict(counts)))
    write.stores.outbox.done([run.id])


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedStep:
    """A step of the machine over one workspace, whose counts its run keeps under a name."""

    name: str
    step: WorkspaceStep
    transactions: Transactions[Stores]
    clock: Clock

    def __call__(
        self, workspace_id: UUID, run_id: UUID | None, *, seconds: float
    ) -> dict[str, int | bool]:
        """Do the step and return what it says."""
        done = dict(self.step(workspace_id, run_id, seconds))
        counts = {f"{self.name}_{each}": n for each, n in done.items() if n and each != "more"}
        if run_id is not None and counts:
            with self.transactions.writing(system_principal(workspace_id)) as stores:
                stores.runs.progress(run_id, Progress(counts=counts), self.clock())
        return done


def run_meta(run: Run, **more: JsonValue) -> Mapping[str, JsonValue]:
    """Return what an entry says of a run that began or ended: ids, enums and counts."""
    return {"run_id": str(run.id), "trigger": run.trigger.value, **more}


def _find_run(stores: Stores, run_id: UUID) -> Run:
    run = stores.runs.find(run_id)
    if run is None:
        raise NotFound("There is no such run.", run_id=str(run_id))
    return run


def _item(workspace_id: UUID, run_id: UUID, client_id: UUID) -> dict[str, str]:
    ids = {"workspace_id": workspace_id, "run_id": run_id, "client_id": client_id}
    return {name: str(node_id) for name, node_id in ids.items()}
