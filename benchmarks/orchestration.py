"""What the machine around investigations costs a loop: time that no model, search or tool took.

Read from the timelines of investigations that ran; nothing is run. Pure, but for the reading.
"""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from benchmarks.metrics import percentile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.cli.client import Client

PLANNING = "PLANNING"
WORKING = frozenset({PLANNING, "RETRIEVING", "ACTING"})
"""States whose time is that of a model, a search or a tool."""

BY_PEOPLE = frozenset({"WAITING_APPROVAL"})
MOST_STEPS = 200
MOST_MS = 150.0
"""Of a loop's median, on a laptop."""

DECIMALS = 1

Step = dict[str, Any]


def overheads(steps: Sequence[Step]) -> list[float]:
    """Return, in ms, what each loop of a timeline took from a plan to the next beside its work.

    A loop in which a person was waited for is left out.
    """
    moves = _moves(steps)
    plans = [place for place, (state, _, _) in enumerate(moves) if state == PLANNING]
    found: list[float] = []
    for first, second in pairwise(plans):
        within = moves[first + 1 : second + 1]
        if any(state in BY_PEOPLE for state, _, _ in within):
            continue
        took = (moves[second][1] - moves[first][1]).total_seconds() * 1000
        worked = sum(ms for state, _, ms in within if state in WORKING)
        found.append(max(0.0, took - worked))
    return found


def measured(client: Client, limit: int) -> dict[str, Any]:
    """Return the overheads over the newest investigations that ended: p50, p95, how many loops."""
    listed = client.get("/v1/investigations", limit=limit)["items"]
    ended = [item["id"] for item in listed if item["ended_at"]]
    found = [each for item in ended for each in overheads(_steps(client, item))]
    summary = {
        name: round(percentile(found, share), DECIMALS) if found else None
        for name, share in (("p50_ms", 0.5), ("p95_ms", 0.95))
    }
    return {"investigations": len(ended), "loops": len(found), **summary}


def _steps(client: Client, investigation_id: str) -> list[Step]:
    return client.get(f"/v1/investigations/{investigation_id}/steps", limit=MOST_STEPS)["items"]


def _moves(steps: Sequence[Step]) -> list[tuple[str, datetime, int]]:
    """Return (state, moment, ms of its lines) for each transition: lines of one entry are one."""
    moves: dict[int, tuple[str, datetime, int]] = {}
    for step in steps:
        state, at, ms = step["state"], datetime.fromisoformat(step["at"]), step["ms"]
        known = moves.get(step["position"])
        moves[step["position"]] = (state, at, ms + (known[2] if known else 0))
    return [moves[position] for position in sorted(moves)]
