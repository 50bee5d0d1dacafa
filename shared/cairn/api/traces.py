"""Searches and runs of the consolidation as trace events. Pure, but for the looks at a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.consolidation.runs import RunState
from cairn.investigations.tracing import TraceEvent, kebab

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from cairn.consolidation.runs import RunView

SEARCH = "search"
RUN = "consolidation"


def of_search(answer: Mapping[str, Any]) -> list[TraceEvent]:
    """Return the events of a search that has ended; the last has its answer."""
    meta: Mapping[str, Any] = answer["meta"]
    events = [_event("graph_start", SEARCH, search_id=meta["search_id"])]
    timings: list[dict[str, Any]] = []
    for stage, ms in meta["stages_ms"].items():
        events += [
            _event("agent_start", kebab(stage)),
            _event("agent_end", kebab(stage), duration_ms=round(ms)),
        ]
        timings.append({"name": kebab(stage), "duration_ms": round(ms)})
    for call in meta["models"]:
        about = {"model": call["model"], "provider": call["provider"], "error": call["failure"]}
        events += [
            _event("llm_start", call["purpose"]),
            _event("llm_end", call["purpose"], **about, duration_ms=round(call["ms"])),
        ]
    debug = {"timings": timings, "degraded": meta["degraded"]}
    return [
        *events,
        TraceEvent(name="debug_meta", data=debug),
        _event("graph_end", SEARCH, duration_ms=round(meta["query_ms"]), **answer),
    ]


def _event(event: str, what: str, /, **data: Any) -> TraceEvent:
    return TraceEvent(name=event, data={"name": what, **data})


@dataclass(slots=True)
class RunEvents:
    """Looks at a run of the consolidation, and tells what is new."""

    find: Callable[[], RunView]
    run: RunView | None
    seen: set[str] = field(default_factory=set[str])
    counts: Mapping[str, int] = field(default_factory=dict[str, int])

    def __call__(self) -> tuple[Sequence[TraceEvent], bool]:
        """Return the events since the last call, and whether they were the last."""
        run = self.run or self.find()
        self.run = None
        events: list[TraceEvent] = []
        if self._new("graph_start"):
            about = {"run_id": run.id, "trigger": run.trigger, "dry_run": run.dry_run}
            events.append(_event("graph_start", RUN, **about, at=run.created_at))
        if run.started_at is not None and self._new("agent_start"):
            events.append(_event("agent_start", RUN, at=run.started_at))
        if dict(run.counts) != dict(self.counts):
            self.counts = run.counts
            events.append(TraceEvent(name="tool_activity", data=_progress(run)))
        if run.state not in (RunState.FINISHED, RunState.FAILED):
            return events, False
        return [*events, *_ended(run)], True

    def _new(self, name: str) -> bool:
        new = name not in self.seen
        self.seen.add(name)
        return new


def _progress(run: RunView) -> dict[str, Any]:
    return {"tool": RUN, "phase": "progress", "counts": run.counts}


def _ended(run: RunView) -> list[TraceEvent]:
    who = {"provider": run.provider, "model": run.model}
    waited, worked = _ms(run.created_at, run.started_at), _ms(run.started_at, run.ended_at)
    agent = _event("agent_end", RUN, **who, duration_ms=worked)
    timings = [{"name": "waiting", "duration_ms": waited}, {"name": RUN, "duration_ms": worked}]
    end = {"state": run.state, "counts": run.counts, "error": run.error, "cost_usd": run.cost_usd}
    took = _ms(run.created_at, run.ended_at)
    return [
        *([agent] if run.started_at is not None else []),
        TraceEvent(name="debug_meta", data={"timings": timings, **who}),
        _event("graph_end", RUN, run_id=run.id, **end, duration_ms=took, at=run.ended_at),
    ]


def _ms(since: datetime | None, until: datetime | None) -> int:
    """Return the milliseconds between two moments; 0 where one never came."""
    if since is None or until is None:
        return 0
    return max(0, round((until - since).total_seconds() * 1000))
