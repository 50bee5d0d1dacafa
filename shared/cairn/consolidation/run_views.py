"""A run of the consolidation as it is shown. Field names are the JSON names."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.consolidation.runs import Run


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
