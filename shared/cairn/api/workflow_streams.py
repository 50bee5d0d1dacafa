"""A run of a workflow as events: each step's result once, then where the run is."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cairn.investigations.tracing import TraceEvent
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.canonical import parse_timestamp
from cairn.workflows.rows import RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cairn.workflows.views import WorkflowResultView, WorkflowRunView


class RunEvents:
    """Looks at a run: the events since its last call, and whether they were the last."""

    def __init__(
        self, find: Callable[[], WorkflowRunView], first: WorkflowRunView, seen: int
    ) -> None:
        if seen and all(result.seq != seen for result in first.results):
            wrong = "The last event id is that of a step_end event of this run, or 0."
            where = FieldError("header.last-event-id", wrong)
            raise ValidationFailed(wrong, reason="last-event-id", errors=[where])
        self._find, self._seen = find, seen
        self._first: WorkflowRunView | None = first

    def __call__(self) -> tuple[Sequence[TraceEvent], bool]:
        """Return them."""
        run = self._first or self._find()
        begins = self._first is not None and not self._seen
        self._first = None
        events = [_started(run)] if begins else []
        for result in run.results:
            if result.seq > self._seen:
                events += _step(result)
                self._seen = result.seq
        over = run.state is not RunState.RUNNING
        return [*events, *([_ended(run)] if over else [])], over


def _started(run: WorkflowRunView) -> TraceEvent:
    data = {"run_id": run.id, "workflow": run.workflow, "version": run.version}
    return TraceEvent(
        name="run_start", data={**data, "trace_id": run.trace_id, "at": run.created_at}
    )


def _step(result: WorkflowResultView) -> list[TraceEvent]:
    took = parse_timestamp(result.ended_at) - parse_timestamp(result.started_at)
    shared: dict[str, Any] = {"step": result.step, "kind": result.kind}
    ended = asdict(result) | {"duration_ms": max(0, round(took.total_seconds() * 1000))}
    return [
        TraceEvent(name="step_start", data={**shared, "at": result.started_at}),
        TraceEvent(name="step_end", data=ended, id=result.seq),
    ]


def _ended(run: WorkflowRunView) -> TraceEvent:
    """Return the last event: a run that waits ends the stream, too; the reader comes back."""
    took = (run.ended_at or run.moved_at) - run.created_at
    data: dict[str, Any] = {"run_id": run.id, "state": run.state, "error": run.error}
    data["waiting"] = asdict(run.waiting) if run.waiting else None
    data["duration_ms"] = max(0, round(took.total_seconds() * 1000))
    return TraceEvent(name="run_end", data=data)
