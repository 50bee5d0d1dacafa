"""Discovery and negotiations as trace events: at once, or as they happen, by looking at rows.

What the other side keeps to itself is in none of them: a turn's words are those that both heard.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from cairn.api.streams import Watch, written
from cairn.discovery.matching.rows import OpportunityState
from cairn.discovery.negotiation.rows import NegotiationState
from cairn.discovery.negotiation.views import events_of
from cairn.investigations.tracing import TraceEvent, kebab

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.api.options import Pace
    from cairn.bootstrap.api import ApiServices
    from cairn.discovery.matching.discovery import Discovered
    from cairn.discovery.matching.opportunities import KeptSearch
    from cairn.discovery.negotiation.views import NegotiationView
    from cairn.kernel.access import Principal

DISCOVERY = "discovery"
DRAFT_READY = "opportunity_draft_ready"


def of_discovery(discovered: Discovered, answer: Mapping[str, Any]) -> list[TraceEvent]:
    """Return the events of a discovery that has ended; the last has its answer."""
    timings = _timings(discovered)
    took = sum(each["duration_ms"] for each in timings)
    return [
        *begun(discovered),
        TraceEvent(name="debug_meta", data={"timings": timings}),
        _event("graph_end", duration_ms=took, **answer),
    ]


def begun(discovered: Discovered) -> list[TraceEvent]:
    """Return the events of a discovery up to its ranking."""
    events = [_event("graph_start", by=discovered.by)]
    for each in _timings(discovered):
        events += [
            TraceEvent(name="agent_start", data={"name": each["name"]}),
            TraceEvent(name="agent_end", data=each),
        ]
    return events


def _timings(discovered: Discovered) -> list[dict[str, Any]]:
    stages = discovered.stages_ms.items()
    return [{"name": kebab(stage), "duration_ms": round(ms)} for stage, ms in stages]


def _event(event: str, /, **data: Any) -> TraceEvent:
    return TraceEvent(name=event, data={"name": DISCOVERY, **data})


def of_negotiation(view: NegotiationView, after: int = 0) -> list[TraceEvent]:
    """Return the events of a negotiation after the first so many."""
    return [TraceEvent(name=each["event"], data=each["data"]) for each in events_of(view)[after:]]


@dataclass(slots=True)
class NegotiationEvents:
    """Looks at a negotiation, which goes on where a window has passed, and tells what is new."""

    find: Callable[[], NegotiationView]
    seen: int = 0

    def __call__(self) -> tuple[Sequence[TraceEvent], bool]:
        """Return the events since the last call, and whether they were the last for now.

        One that waits for its people ends the stream, too: the reader comes back.
        """
        view = self.find()
        events = of_negotiation(view, self.seen)
        self.seen += len(events)
        return events, view.state is not NegotiationState.OPEN


@dataclass(slots=True)
class DraftEvents:
    """What a search keeps, as its agents come to an end: a draft is told of when it is ready."""

    services: ApiServices
    caller: Principal
    search: KeptSearch
    looks: dict[UUID, NegotiationEvents] = field(default_factory=dict["UUID", NegotiationEvents])
    shown: set[UUID] = field(default_factory=set["UUID"])
    client_id: str | None = None

    def once(self) -> list[TraceEvent]:
        """Let agents speak about all of them, and tell as far as they came."""
        events: list[TraceEvent] = []
        latent = self.search.latent
        for each in self.search.keeping:
            step = self.begin if each.row.id in latent else self.follow
            events += step(each.row.id)
        return events

    def begin(self, opportunity_id: UUID) -> list[TraceEvent]:
        """Let agents speak about one, and tell as far as they came."""
        self.services.opportunities.negotiate_latent(self.search, opportunity_id)
        return self.follow(opportunity_id)

    def follow(self, opportunity_id: UUID) -> list[TraceEvent]:
        """Tell of one as it stands, and look at its negotiation again if it goes on."""
        negotiations = self.services.negotiations
        negotiation_id = negotiations.about(self.caller, opportunity_id, self.client_id)
        if negotiation_id is None:
            return self._draft(opportunity_id)
        find = partial(negotiations.go_on, self.caller, negotiation_id, self.client_id)
        look = NegotiationEvents(find)
        events, over = look()
        if not over:
            self.looks[opportunity_id] = look
        return [*events, *self._draft(opportunity_id)]

    def __call__(self) -> tuple[Sequence[TraceEvent], bool]:
        """Return the events since the last call, and whether they were the last."""
        events: list[TraceEvent] = []
        for opportunity_id, look in list(self.looks.items()):
            new, over = look()
            events += new
            if over:
                del self.looks[opportunity_id]
                events += self._draft(opportunity_id)
        if self.looks:
            return events, False
        return [*events, *self._ended()], True

    def _draft(self, opportunity_id: UUID) -> list[TraceEvent]:
        view = self.services.opportunities.get(
            self.caller, opportunity_id, client_id=self.client_id
        )
        if view.state is not OpportunityState.DRAFT or opportunity_id in self.shown:
            return []
        self.shown.add(opportunity_id)
        data = {"opportunity_id": opportunity_id, "opportunity": view}
        return [TraceEvent(name=DRAFT_READY, data=data)]

    def _ended(self) -> list[TraceEvent]:
        timings = _timings(self.search.discovered)
        created = self.services.opportunities.created(self.search)
        answer = {
            "items": created.items,
            "new": created.new,
            "already_accepted": created.already_accepted,
            "left_out": created.left_out,
        }
        return [
            TraceEvent(name="debug_meta", data={"timings": timings}),
            _event("graph_end", **answer),
        ]


async def drafts(events: DraftEvents, admit: Callable[[], Any], pace: Pace) -> AsyncIterator[bytes]:
    """Yield what a search found, then each negotiation as it goes; it stops with its reader.

    What was not begun by then is the next scheduled run's, and what was goes on by its windows.
    """
    for event in begun(events.search.discovered):
        yield written(event)
    latent = events.search.latent
    for each in events.search.keeping:
        step = events.begin if each.row.id in latent else events.follow
        for event in await to_thread.run_sync(step, each.row.id):
            yield written(event)
    async for part in Watch(events, admit, pace).parts():
        yield part
