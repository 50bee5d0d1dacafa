"""What is told of an investigation while it runs: when a state, a step, all of it began and ended.

Pure: from what was seen before and what is seen now to the events between. Who looks, and how they
reach a reader, is the edge's. Everything is told twice: by the names that investigations had first
(`investigation_start`, `state_start`, `step_start`), and by those that all traces share
(`graph_start`, `agent_start`, `iteration_start`, `tool_activity`, `debug_meta`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cairn.investigations.state import State
    from cairn.investigations.views import InvestigationView, StepsView, StepView

_NO_LETTERS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """One event: its name and its fields. `id` is the number of the step it ends, None for others.

    A reader that comes back with the last id it saw gets everything after that step.
    """

    name: str
    data: Mapping[str, Any]
    id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderPosition:
    """How far a reader is: the last step, the state and since when, and the time by system."""

    seq: int = 0
    state: State | None = None
    since: datetime | None = None
    timings: Mapping[str, int] = field(default_factory=dict[str, int])
    iterations: int = 0


GRAPH = "investigation"
TOOLS = frozenset({"action", "approval"})
"""Kinds of steps that are a tool's."""


def events_after(
    seen: ReaderPosition, investigation: InvestigationView, steps: StepsView
) -> tuple[list[TraceEvent], ReaderPosition]:
    """Return the events between what was seen and what is, and what is seen now.

    Steps have a start and an end with `duration_ms`; so have states, as far as they are followed
    live. The end of all has the time by system.
    """
    events = [] if seen.state or seen.seq else _begun(investigation)
    timings, iterations = dict(seen.timings), seen.iterations
    for step in steps.items:
        iterations += step.kind == "plan"
        events += _step(step, iterations)
        timings[step.system] = timings.get(step.system, 0) + step.ms
    events += _states(seen, investigation)
    now = replace(
        seen,
        seq=steps.after,
        state=investigation.state,
        since=investigation.moved_at,
        timings=timings,
        iterations=iterations,
    )
    if steps.ended:
        events += _ended(investigation, timings)
    return events, now


def kebab(name: str) -> str:
    """Return a name as trace events write it: `http.get` is `http-get`."""
    return _NO_LETTERS.sub("-", name.lower()).strip("-")


def _begun(investigation: InvestigationView) -> list[TraceEvent]:
    data = {
        "investigation_id": investigation.id,
        "ticket_id": investigation.ticket_id,
        "run": investigation.run,
        "trace_id": investigation.trace_id,
        "at": investigation.created_at,
    }
    return [
        TraceEvent(name="investigation_start", data=data),
        TraceEvent(name="graph_start", data={"name": GRAPH, **data}),
    ]


def _step(step: StepView, iteration: int) -> list[TraceEvent]:
    name = kebab(step.system)
    shared = {"name": name, "system": step.system, "action": step.action, "state": step.state}
    begun = {"at": step.at - timedelta(milliseconds=step.ms)}
    ended = {
        "seq": step.seq,
        "kind": step.kind,
        "summary": step.detail,
        "citations": step.citations,
        "duration_ms": step.ms,
        "position": step.position,
        "at": step.at,
    }
    planned = {"iteration": iteration, **begun}
    new = [TraceEvent(name="iteration_start", data=planned)] if step.kind == "plan" else []
    if step.kind in TOOLS:
        tool = {"tool": step.system, **shared}
        start = TraceEvent(name="tool_activity", data={**tool, "phase": "start", **begun})
        data = {**tool, "phase": "end", **ended}
        end = TraceEvent(name="tool_activity", data=data)
    else:
        start = TraceEvent(name="agent_start", data={**shared, **begun})
        end = TraceEvent(name="agent_end", data={**shared, **ended})
    return [
        *new,
        TraceEvent(name="step_start", data={**shared, **begun}),
        start,
        end,
        TraceEvent(name="step_end", data={**shared, **ended}, id=step.seq),
    ]


def _states(seen: ReaderPosition, investigation: InvestigationView) -> list[TraceEvent]:
    if (seen.state, seen.since) == (investigation.state, investigation.moved_at):
        return []
    events: list[TraceEvent] = []
    if seen.state is not None and seen.since is not None:
        took = _ms(investigation.moved_at - seen.since)
        events.append(TraceEvent(name="state_end", data={"state": seen.state, "duration_ms": took}))
    if investigation.ended_at is None:
        data = {"state": investigation.state, "at": investigation.moved_at}
        events.append(TraceEvent(name="state_start", data=data))
    return events


def _ended(investigation: InvestigationView, timings: Mapping[str, int]) -> list[TraceEvent]:
    ended_at = investigation.ended_at or investigation.moved_at
    by_name = [{"name": kebab(name), "duration_ms": ms} for name, ms in sorted(timings.items())]
    data = {
        "investigation_id": investigation.id,
        "state": investigation.state,
        "verdict": investigation.verdict,
        "error": investigation.error,
        "duration_ms": _ms(ended_at - investigation.created_at),
        "timings": by_name,
        "at": ended_at,
    }
    return [
        TraceEvent(name="debug_meta", data={"timings": by_name, "at": ended_at}),
        TraceEvent(name="graph_end", data={"name": GRAPH, **data}),
        TraceEvent(name="investigation_end", data=data),
    ]


def _ms(took: timedelta) -> int:
    return max(0, round(took.total_seconds() * 1000))
