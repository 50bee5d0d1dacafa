"""A run of the consolidation as it is stored and shown: ids, counts and times. Not its doing."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID


class RunState(StrEnum):
    """How a run stands: waiting -> running -> finished or failed; waiting -> failed."""

    WAITING = "waiting"  # asked for; its machine has not begun
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"  # what it did stands; the next run goes on with the rest


class Trigger(StrEnum):
    """What made a run."""

    SCHEDULE = "schedule"
    REQUEST = "request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run over the memories of a workspace, or of one of its clients.

    `client` is the client's data subject, the workspace's own id for memories of no client, None
    for all. `counts` says what was done and what was not, by name. `cost_usd` is None when a model
    without a known price was asked.
    """

    id: UUID
    workspace_id: UUID
    state: RunState
    trigger: Trigger
    created_at: datetime
    updated_at: datetime
    dry_run: bool = False
    client: UUID | None = None
    requested_by: UUID | None = None
    provider: str | None = None
    model: str | None = None
    counts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    cost_usd: Decimal | None = None
    undone: tuple[str, ...] = ()
    error: Mapping[str, Any] | None = None
    execution: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def ended(self) -> bool:
        """Return whether nothing more will happen to it."""
        return self.state in (RunState.FINISHED, RunState.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What one batch, or one step, adds to its run; a batch in the transaction that applies it.

    Without `provider` and `model`, those that planned before stay.
    """

    counts: Mapping[str, int]
    provider: str | None = None
    model: str | None = None
    cost_usd: Decimal | None = Decimal(0)
    undone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run as it is shown. `client` is a data subject's id, or the workspace's for no client."""

    id: UUID
    state: str
    trigger: str
    dry_run: bool
    client: UUID | None
    provider: str | None
    model: str | None
    counts: Mapping[str, int]
    cost_usd: float | None
    undone: tuple[str, ...]
    error: Mapping[str, Any] | None
    execution: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


def run_view(run: Run) -> RunView:
    """Return a run as it is shown."""
    return RunView(
        id=run.id,
        state=run.state.value,
        trigger=run.trigger.value,
        dry_run=run.dry_run,
        client=run.client,
        provider=run.provider,
        model=run.model,
        counts=dict(run.counts),
        cost_usd=float(run.cost_usd) if run.cost_usd is not None else None,
        undone=run.undone,
        error=run.error,
        execution=run.execution,
        created_at=run.created_at,
        started_at=run.started_at,
        ended_at=run.ended_at,
    )
