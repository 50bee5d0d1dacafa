"""A run as it is shown: where it is, what came of its steps, what it waits for. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from cairn.kernel.errors import CairnError
from cairn.kernel.text.canonical import format_timestamp
from cairn.workflows.definition import filled
from cairn.workflows.rows import RunState, StepState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.workflows.definition import Definition, Step
    from cairn.workflows.rows import ResultRow, RunRow, Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowWaitView:
    """What a run waits for: a person's word on `message`."""

    step: str
    message: str
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowResultView:
    """What came of a step; `id` is its StepResult node."""

    id: UUID
    seq: int
    step: str
    kind: str
    state: StepState
    output: Mapping[str, Any]
    error: str | None
    started_at: str
    ended_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowRunView:
    """A run. `next_step` is the step that is under way or failed; None at the end."""

    id: UUID
    workflow: str
    version: int
    state: RunState
    trigger: Trigger
    client_id: str | None
    next_step: str | None
    waiting: WorkflowWaitView | None
    results: Sequence[WorkflowResultView]
    error: str | None
    trace_id: str
    created_at: datetime
    moved_at: datetime
    ended_at: datetime | None


class ResultForgotten(CairnError):
    """A text names the result of a step that was forgotten since."""

    code = "result-forgotten"


class StepNames(dict[str, str]):
    """What the texts of a step may name; what is missing was forgotten."""

    def __missing__(self, name: str) -> str:
        """Raise ResultForgotten."""
        raise ResultForgotten("What this step is made of was forgotten.", name=name)


def known(
    run: RunRow, definition: Definition, input: Mapping[str, Any], results: Sequence[ResultRow]
) -> StepNames:
    """Return what the next step of a run may name, by name; the date is that of its schedule."""
    zone = ZoneInfo(definition.schedule.timezone) if definition.schedule else UTC
    values = StepNames({f"input.{name}": str(value) for name, value in input.items()})
    values |= {
        "run.id": str(run.id),
        "run.date": run.created_at.astimezone(zone).date().isoformat(),
        "run.started_at": format_timestamp(run.created_at),
        "run.workflow": run.workflow,
    }
    for result in results:
        if result.state is StepState.DONE:
            values |= {
                f"steps.{result.step}.{name}": str(value) for name, value in result.output.items()
            }
    return values


def view_of(
    run: RunRow, definition: Definition, input: Mapping[str, Any], results: Sequence[ResultRow]
) -> WorkflowRunView:
    """Return a run as it is shown, with the results that are still there."""
    steps = definition.steps
    step = steps[run.step] if run.step < len(steps) else None
    waiting = None
    if step is not None and run.state is RunState.WAITING:
        try:
            message = _question(step, known(run, definition, input, results))
        except ResultForgotten:
            message = ""
        waiting = WorkflowWaitView(step=step.name, message=message, until=run.deadline)
    over = run.state in (RunState.DONE, RunState.CANCELLED)
    return WorkflowRunView(
        id=run.id,
        workflow=run.workflow,
        version=run.version,
        state=run.state,
        trigger=run.trigger,
        client_id=run.client_id,
        next_step=None if step is None or over else step.name,
        waiting=waiting,
        results=[result_view(result) for result in results],
        error=run.code,
        trace_id=run.traceparent[3:35],
        created_at=run.created_at,
        moved_at=run.moved_at,
        ended_at=run.ended_at,
    )


def _question(step: Step, names: StepNames) -> str:
    """Return what a person is asked: the step's message, or the call that waits for a yes."""
    if step.message is not None:
        return str(filled(step.message, names))
    arguments = json.dumps(filled(dict(step.arguments or {}), names), ensure_ascii=False)
    return f"May {step.tool} be called with {arguments}?"


def result_view(result: ResultRow) -> WorkflowResultView:
    """Return what came of a step as it is shown."""
    return WorkflowResultView(
        id=result.id,
        seq=result.seq,
        step=result.step,
        kind=result.kind,
        state=result.state,
        output=result.output,
        error=result.error,
        started_at=result.started_at,
        ended_at=result.ended_at,
    )
