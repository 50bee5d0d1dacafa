"""An investigation as it goes: by the event stream where there is one, by polling elsewhere."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cairn.cli.client import BROKEN_OFF
from cairn.cli.deps import Deps
from cairn.cli.failure import Failure

POLLED_INSTEAD = frozenset({"not-streamable", "unavailable"})
"""Problems of a stream that a poll does not have: it cannot be, or too many are open."""

END = "investigation_end"
PROBLEM = "problem"
POLL_SECONDS = 1.0
RECONNECTS = 20


@dataclass(frozen=True, slots=True)
class Told:
    """One event, as the stream names it."""

    name: str
    data: Mapping[str, Any]
    id: int | None = None


def follow(deps: Deps, investigation_id: str) -> Iterator[Told]:
    """Yield events from the beginning to the end of an investigation.

    A stream that breaks off is taken up after its last event; where there is none, or no room for
    one more, it polls. Failure when a stream breaks off too often, and when the API refuses.
    """
    headers = {"accept": "text/event-stream"}
    last, begun = 0, False
    for _ in range(RECONNECTS):
        try:
            path = f"/v1/investigations/{investigation_id}/events"
            asked = {**headers, "last-event-id": str(last)}
            for told in events(deps.client.lines(path, asked)):
                last, begun = told.id or last, True
                if told.name == PROBLEM:
                    raise Failure(str(told.data.get("detail") or "The stream was ended."))
                yield told
                if told.name == END:
                    return
        except Failure as failure:
            if failure.code in POLLED_INSTEAD:
                yield from polled(deps, investigation_id, after=last)
                return
            if failure.code != BROKEN_OFF or not begun:
                raise
        deps.sleep(POLL_SECONDS)
    raise Failure("The stream broke off too often.", advice="see what is down: cairn status")


def events(lines: Iterable[str]) -> Iterator[Told]:
    """Yield the events of a stream's lines; comments and unfinished events are none."""
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.removeprefix(" ")
        elif not line and "event" in fields:
            seq = fields.get("id")
            yield Told(fields["event"], json.loads(fields["data"]), int(seq) if seq else None)
            fields = {}


def polled(deps: Deps, investigation_id: str, *, after: int = 0) -> Iterator[Told]:
    """Yield the same events from after a step, as far as polling shows them."""
    path = f"/v1/investigations/{investigation_id}"
    state = ""
    if not after:
        begun = deps.client.get(path)["investigation"]
        yield Told("investigation_start", {**begun, "investigation_id": begun["id"]})
    while True:
        found = deps.client.get(f"{path}/steps", after=after)
        for step in found["items"]:
            data = {**step, "summary": step["detail"], "duration_ms": step["ms"]}
            yield Told("step_end", data, step["seq"])
        if found["ended"]:
            break
        if found["state"] != state:
            state = found["state"]
            yield Told("state_start", {"state": state})
        if found["after"] == after:
            deps.sleep(POLL_SECONDS)
        after = found["after"]
    ended = deps.client.get(path)["investigation"]
    yield Told(END, {**ended, "investigation_id": ended["id"]})
