"""What Home shows: what waits for a person, what agents do, what is new, health, costs.

Each part is asked for by itself; one that the person's role may not see, or that cannot be had now,
says so and leaves the others as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC
from typing import TYPE_CHECKING, Any

from cairn.investigations.ports import ApprovalState, CandidateState, EscalationState
from cairn.investigations.state import State
from cairn.kernel.errors import CairnError
from cairn.llm.costs import CostBy
from cairn.reading.views import MemoryFilter
from cairn.workflows.rows import RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from cairn.api.console.guard import Visitor

SHOWN, MOST = 6, 50
WORKING = (
    State.PLANNING,
    State.RETRIEVING,
    State.SAFETY_CHECK,
    State.ACTING,
    State.OBSERVING,
    State.VERDICT,
    State.WRITING_BACK,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Something in a part of Home: its text, when, and where it leads."""

    text: str
    at: datetime | None = None
    page: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A part of Home. `missing` says why there is nothing to show, `empty` what would be there,
    `page` where all of it is."""

    id: str
    title: str
    empty: str
    command: str
    path: str
    count: str = ""
    lines: Sequence[Line] = ()
    missing: str = ""
    page: str = ""


def tiles(visitor: Visitor, now: datetime) -> list[Tile]:
    """Return the parts of Home, in the order of care."""
    return [_filled(tile, fill, visitor, now) for tile, fill in _PARTS]


def _filled(tile: Tile, fill: Fill, visitor: Visitor, now: datetime) -> Tile:
    try:
        return replace(tile, **fill(visitor, now))
    except CairnError as error:
        return replace(tile, missing=error.detail)


def _waiting(visitor: Visitor, _: datetime) -> dict[str, Any]:
    """Questions of agents and workflows; for who works what may be learned, and failed calls."""
    questions = visitor.services.investigations.approvals(
        visitor.principal, state=ApprovalState.PENDING, before=None, limit=MOST
    )
    lines = [
        Line(text=f"Approve {each.tool}?", at=each.asked_at, page=f"/console/approvals/{each.id}")
        for each in questions
    ]
    lines += _runs(visitor, RunState.WAITING, "waits for a word")
    if visitor.works:
        staged = visitor.services.candidates.page(
            visitor.principal, state=CandidateState.STAGED, limit=MOST
        )
        lines += [
            Line(
                text=f"Review: {each.title or 'a resolution'}",
                at=each.staged_at,
                page=f"/console/review/resolutions/{each.id}",
            )
            for each in staged
        ]
        proposals = visitor.services.proposals.page(visitor.principal, limit=MOST)
        if proposals:
            text = f"{_many(len(proposals))} proposed for the memory graph"
            lines.append(Line(text=text, page="/console/review#proposals"))
        calls = visitor.services.escalations.page(
            visitor.principal, state=EscalationState.FAILED, limit=MOST
        )
        lines += [
            Line(
                text="A person could not be called",
                at=each.queued_at,
                page=f"/console/investigations/{each.investigation_id}/hand-off",
            )
            for each in calls
        ]
    return _some(lines)


def _many(count: int) -> str:
    return f"{MOST} or more" if count >= MOST else str(count)


def _runs(visitor: Visitor, state: RunState, what: str) -> list[Line]:
    """Return runs of workflows in a state."""
    runs = visitor.services.workflow_runs.page(
        visitor.principal, state=state, before=None, limit=MOST
    )
    return [
        Line(
            text=f"{each.workflow}: {what}",
            at=each.moved_at,
            page=f"/console/workflow-runs/{each.id}",
        )
        for each in runs
    ]


def _chatting(visitor: Visitor, _: datetime) -> dict[str, Any]:
    """Customers who wait for somebody, the longest first."""
    chats = visitor.services.browse_chats.waiting(visitor.principal, MOST)
    return _some(
        [
            Line(
                text=each.why or "A customer waits",
                at=each.waits_since,
                page=f"/console/chats/{each.id}",
            )
            for each in chats
        ]
    )


def _working(visitor: Visitor, now: datetime) -> dict[str, Any]:
    """Investigations and workflows that go on, what moved last first."""
    running = [
        each
        for state in WORKING
        for each in visitor.services.investigations.page(
            visitor.principal, state=state, ticket_id=None, before=None, limit=MOST
        )
    ]
    lines = [
        (
            each.moved_at,
            Line(
                text=f"{each.persona}: {each.state.lower().replace('_', ' ')}",
                at=each.moved_at,
                page=f"/console/investigations/{each.id}",
            ),
        )
        for each in running
    ]
    lines += [(each.at or now, each) for each in _runs(visitor, RunState.RUNNING, "runs")]
    return _some([line for _, line in sorted(lines, key=lambda item: item[0], reverse=True)])


def _today(visitor: Visitor, now: datetime) -> dict[str, Any]:
    """The memories of this day (UTC), of those that were written last."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    page = visitor.services.browse.list_memories(
        visitor.principal, MemoryFilter(state="active"), limit=MOST, after=None
    )
    return _some(
        [
            Line(text=each.text, at=each.recorded_at, page=f"/console/memories/{each.id}")
            for each in page.items
            if each.recorded_at >= midnight
        ]
    )


def _health(visitor: Visitor, _: datetime) -> dict[str, Any]:
    backlog = visitor.services.check_ready()
    status = visitor.services.browse.get_status(visitor.principal)
    behind = f"Work has waited {backlog.minutes}; cairn doctor says more"
    return {
        "count": "behind" if backlog.behind or status.failed_embeddings else "well",
        "page": "/console/audit/checks" if visitor.is_admin else "",
        "lines": [
            Line(text=behind if backlog.behind else "Nothing has waited too long"),
            Line(text=f"{status.pending_embeddings} nodes wait for a vector"),
            Line(text=f"{status.failed_embeddings} could not be embedded"),
            Line(
                text=f"{status.memories} memories, {status.documents} documents",
                page="/console/stats" if visitor.is_admin else "",
            ),
            Line(text=f"{status.ledger_position} entries in the ledger"),
        ],
    }


def _costs(visitor: Visitor, now: datetime) -> dict[str, Any]:
    today = now.astimezone(UTC).date()
    report = visitor.services.costs(
        visitor.principal, by=CostBy.MODEL, since=today.replace(day=1), until=today
    )
    return {
        "count": f"{report.total.usd:.2f} USD",
        "page": "/console/costs",
        "lines": [
            Line(text=f"{row.name}: {row.usd:.2f} USD, {row.calls} calls")
            for row in report.rows[:SHOWN]
        ],
    }


def _some(lines: Sequence[Line]) -> dict[str, Any]:
    return {"count": _many(len(lines)), "lines": lines[:SHOWN]}


if TYPE_CHECKING:
    Fill = Callable[[Visitor, datetime], dict[str, Any]]

_PARTS: Sequence[tuple[Tile, Fill]] = (
    (
        Tile(
            id="waiting",
            title="Waits for a person",
            empty="Nothing waits. What agents may not do alone is asked here before it is done.",
            command="cairn approvals list --state pending\ncairn workflow runs --state waiting\n"
            "cairn candidates list\ncairn proposals list\ncairn escalations list --state failed",
            path="/v1/approvals?state=pending",
            page="/console/approvals",
        ),
        _waiting,
    ),
    (
        Tile(
            id="chats",
            title="Customers who wait",
            empty="Nobody waits for a person in a chat.",
            command="cairn chats list",
            path="/v1/chats?state=pending",
            page="/console/chats",
        ),
        _chatting,
    ),
    (
        Tile(
            id="working",
            title="Agents at work",
            empty="No investigation and no workflow runs. An investigation begins with a ticket.",
            command="cairn investigations list\ncairn workflow runs --state running",
            path="/v1/investigations",
            page="/console/investigations",
        ),
        _working,
    ),
    (
        Tile(
            id="today",
            title="Remembered today",
            empty="Nothing yet. Agents remember over the API and MCP; you can with the command.",
            command='cairn remember "Acme moved to Berlin."',
            path="/v1/memories",
            page="/console/memories",
        ),
        _today,
    ),
    (
        Tile(
            id="health",
            title="Health",
            empty="",
            command="cairn doctor",
            path="/v1/status",
        ),
        _health,
    ),
    (
        Tile(
            id="costs",
            title="Cost this month",
            empty="No model was paid for. Without a key, rules do what models would.",
            command="cairn cost",
            path="/v1/costs",
        ),
        _costs,
    ),
)
