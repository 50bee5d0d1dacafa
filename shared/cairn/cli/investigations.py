"""`cairn investigations`: started, followed, listed, ended, and what people say of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.approvals import show_calls
from cairn.cli.client import BROKEN_OFF, Failure
from cairn.cli.options import Json, deps_of, moment, print_done, print_json, table, without_none

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.text import Text

    from cairn.cli.deps import Deps


POLLED_INSTEAD = frozenset({"not-streamable", "unavailable"})
"""Problems of a stream that a poll does not have: it cannot be, or too many are open."""

END = "investigation_end"
PROBLEM = "problem"
POLL_SECONDS = 1.0
RECONNECTS = 20


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event, as the stream names it."""

    name: str
    data: Mapping[str, Any]
    id: int | None = None


def follow(deps: Deps, investigation_id: str) -> Iterator[StreamEvent]:
    """Yield events from the beginning to the end of an investigation.

    A stream that breaks off is taken up after its last event; where there is none, or no room for
    one more, it polls. Failure when a stream breaks off too often, and when the API refuses.
    """
    headers = {"accept": "text/event-stream"}
    last, begun = 0, False
    for _ in range(RECONNECTS):
        try:
            path = f"/v1/investigations/{investigation_id}/events"
            resumed = {**headers, "last-event-id": str(last)}
            for event in events(deps.client.lines(path, resumed)):
                last, begun = event.id or last, True
                if event.name == PROBLEM:
                    raise Failure(str(event.data.get("detail") or "The stream was ended."))
                yield event
                if event.name == END:
                    return
        except Failure as failure:
            if failure.code in POLLED_INSTEAD:
                yield from polled(deps, investigation_id, after=last)
                return
            if failure.code != BROKEN_OFF or not begun:
                raise
        deps.sleep(POLL_SECONDS)
    raise Failure("The stream broke off too often.", advice="see what is down: cairn status")


def events(lines: Iterable[str]) -> Iterator[StreamEvent]:
    """Yield the events of a stream's lines; comments and unfinished events are none."""
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.removeprefix(" ")
        elif not line and "event" in fields:
            seq = fields.get("id")
            yield StreamEvent(
                fields["event"], json.loads(fields["data"]), int(seq) if seq else None
            )
            fields = {}


def polled(deps: Deps, investigation_id: str, *, after: int = 0) -> Iterator[StreamEvent]:
    """Yield the same events from after a step, as far as polling shows them."""
    path = f"/v1/investigations/{investigation_id}"
    state = ""
    if not after:
        begun = deps.client.get(path)["investigation"]
        yield StreamEvent("investigation_start", {**begun, "investigation_id": begun["id"]})
    while True:
        answer = deps.client.get(f"{path}/steps", after=after)
        for step in answer["items"]:
            data = {**step, "summary": step["detail"], "duration_ms": step["ms"]}
            yield StreamEvent("step_end", data, step["seq"])
        if answer["ended"]:
            break
        if answer["state"] != state:
            state = answer["state"]
            yield StreamEvent("state_start", {"state": state})
        if answer["after"] == after:
            deps.sleep(POLL_SECONDS)
        after = answer["after"]
    ended = deps.client.get(path)["investigation"]
    yield StreamEvent(END, {**ended, "investigation_id": ended["id"]})


KINDS = {
    "state": "dim",
    "plan": "cyan",
    "search": "blue",
    "action": "magenta",
    "approval": "yellow",
    "verdict": "green",
    "message": "green",
    "error": "red",
}
"""Kinds of steps, with their colours."""


def begun(step: Mapping[str, Any]) -> Text:
    """Return the beginning of a step's line, for its words to be appended."""
    from rich.text import Text

    colour = KINDS.get(step["kind"], "")
    line = Text()
    line.append(f"{step['at'][11:19]} ", style="dim")
    line.append("● ", style=colour)
    line.append(f"{step['system']:<20} ", style="bold")
    line.append(f"{step['action']:<12} ", style=colour)
    return line


app = typer.Typer(
    help="What agents do about tickets, step by step.",
    no_args_is_help=True,
)

Id = Annotated[str, typer.Argument(help="The investigation's id.")]
WAITING = "WAITING_APPROVAL"
_VERDICTS = {"auto_resolved": "green", "failed": "red", "failed_budget": "red"}


@app.command("list")
def list_investigations(
    ctx: typer.Context,
    state: Annotated[str | None, typer.Option(help="Such as WAITING_APPROVAL or DONE.")] = None,
    ticket: Annotated[str | None, typer.Option(help="Only this ticket's.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    as_json: Json = False,
) -> None:
    """List investigations, newest first."""
    deps = deps_of(ctx)
    answer = deps.client.get("/v1/investigations", state=state, ticket_id=ticket, limit=limit)
    if as_json:
        return print_json(answer["items"])
    shown = table("id", "state", "tokens", "USD", "begun", whole="id")
    for item in answer["items"]:
        state = " ".join(filter(None, (item["state"], _verdict(item))))
        spent = str(item["spent"]["tokens"]), f"{item['spent']['usd']:.4f}"
        shown.add_row(item["id"], state, *spent, moment(item["created_at"]))
    nothing = "no investigation is here; one begins with a ticket: cairn tickets add TITLE"
    deps.out.print(shown if answer["items"] else nothing)


@app.command()
def show(ctx: typer.Context, investigation: Id, as_json: Json = False) -> None:
    """Show one: state, verdict, spending by purpose, what is left, approvals, actions, steps."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/investigations/{investigation}")
    if as_json:
        return print_json(answer)
    item = answer["investigation"]
    deps.out.print(f"[bold]{item['id']}[/]  {item['state']}  {_verdict(item)}")
    deps.out.print(f"ticket {item['ticket_id']}, persona {item['persona']}, run {item['run']}")
    if item["trace_id"]:
        deps.out.print(f"trace {item['trace_id']}")
    if item["error"]:
        deps.out.print(item["error"], style="red", markup=False)
    _show_spending(deps, answer)
    if answer["approvals"]:
        approvals = table("approval", "tool", "state", "expires", whole="approval")
        for each in answer["approvals"]:
            approvals.add_row(each["id"], each["tool"], each["state"], moment(each["expires_at"]))
        deps.out.print(approvals)
    if answer["actions"]:
        show_calls(deps, answer["actions"])
    for step in _steps(deps, investigation):
        deps.out.print(_line(step))


@app.command()
def watch(
    ctx: typer.Context,
    investigation: Id,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each event as one JSON line.")
    ] = False,
) -> None:
    """Follow an investigation until it ends: by its event stream, or by polling."""
    deps = deps_of(ctx)
    if as_json:
        for event_read in follow(deps, investigation):
            event = {"event": event_read.name, "id": event_read.id, "data": event_read.data}
            typer.echo(json.dumps(event, ensure_ascii=False))
        return
    with deps.err.status("waiting for the first step …") as present:
        for event_read in follow(deps, investigation):
            if event_read.name == "state_start":
                present.update(_present(event_read))
                if event_read.data["state"] == WAITING:
                    _tell_who_waits(deps, investigation)
            _draw(deps, event_read)


@app.command()
def start(
    ctx: typer.Context,
    ticket: Annotated[str, typer.Argument(help="The ticket's id.")],
    follow_it: Annotated[bool, typer.Option("--watch", help="Draw its timeline live.")] = False,
    as_json: Json = False,
) -> None:
    """Queue a ticket and start its investigation as soon as a slot is free."""
    deps = deps_of(ctx)
    begun = deps.client.post("/v1/investigations", {"ticket_id": ticket})
    if as_json:
        return print_json(begun)
    if "investigation_id" not in begun:
        deps.out.print(f"[yellow]queued[/] ticket {ticket}: every slot is taken")
        return
    deps.out.print(f"[green]begun[/] {begun['investigation_id']}")
    if follow_it:
        watch(ctx, begun["investigation_id"])


@app.command()
def resume(
    ctx: typer.Context,
    investigation: Annotated[
        str | None, typer.Argument(help="One investigation; by default all that stopped.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Resume investigations whose execution was lost; no action is repeated."""
    deps = deps_of(ctx)
    if investigation:
        results = [deps.client.post(f"/v1/investigations/{investigation}/resume", {})]
    else:
        results = deps.client.post("/v1/investigations/resume", {})["items"]
    if as_json:
        return print_json(results)
    for item in results:
        text = f"{item['investigation_id']} goes on from {item['state']}"
        deps.out.print(f"[green]run {item['run']}[/] {text}")
    if not results:
        deps.out.print("every investigation moves, has ended, or waits for a person")


@app.command("tool-calls")
def tool_calls_of(ctx: typer.Context, investigation: Id, as_json: Json = False) -> None:
    """List an investigation's tool calls, newest first."""
    deps = deps_of(ctx)
    pages = list(deps.client.pages("/v1/tool-calls", investigation_id=investigation, limit=200))
    print_json(pages) if as_json else show_calls(deps, pages)


def _draw(deps: Deps, event_read: StreamEvent) -> None:
    if event_read.name == "investigation_start":
        deps.out.print(f"[bold]{event_read.data['investigation_id']}[/]")
    elif event_read.name == "step_end":
        deps.out.print(_line(event_read.data))
    elif event_read.name == END:
        _conclude(deps, event_read.data)


def _line(step: Mapping[str, Any]) -> Text:
    """Return a step as one line of the timeline: when, who, what, how long, with its sources."""
    detail = step["summary"] if "summary" in step else step["detail"]
    line = begun(step)
    line.append(detail if detail is not None else "(forgotten)")
    took = step["duration_ms"] if "duration_ms" in step else step["ms"]
    line.append(f"  {took} ms", style="dim")
    for citation in step["citations"]:
        line.append(f" {citation}", style="dim cyan")
    return line


def _present(event_read: StreamEvent) -> str:
    waits = "waiting for a person" if event_read.data["state"] == WAITING else "…"
    return f"{event_read.data['state']} {waits}"


def _tell_who_waits(deps: Deps, investigation: str) -> None:
    for item in deps.client.get("/v1/approvals", state="pending", limit=200)["items"]:
        if item["investigation_id"] == investigation:
            deps.out.print(f"[yellow]→ {item['tool']} waits: cairn approvals show {item['id']}[/]")


def _conclude(deps: Deps, ended: Mapping[str, Any]) -> None:
    deps.out.print(f"[bold]{ended['state']}[/]  {_verdict(ended)}")
    if ended.get("error"):
        deps.out.print(ended["error"], style="red", markup=False)
    timings: list[dict[str, Any]] = ended.get("timings") or []
    if timings:
        text = ", ".join(f"{timing['name']} {timing['duration_ms']} ms" for timing in timings)
        deps.out.print(f"[dim]{ended['duration_ms'] / 1000:.1f} s in all; {text}[/]")


def _show_spending(deps: Deps, answer: Mapping[str, Any]) -> None:
    spent, left = answer["investigation"]["spent"], answer["left"]
    shown = table("spent for", "calls", "tokens", "USD")
    for row in answer["spent_by_purpose"]:
        shown.add_row(row["name"], str(row["calls"]), str(row["tokens"]), f"{row['usd']:.4f}")
    shown.add_row("in all", "", str(spent["tokens"]), f"{spent['usd']:.4f}")
    shown.add_row("left", "", str(left["tokens"]), f"{left['usd']:.4f}")
    deps.out.print(shown)
    deps.out.print(
        f"{spent['seconds']:.1f} s and {spent['iterations']} iterations; "
        f"{left['seconds']:.0f} s and {left['iterations']} left"
    )


def _steps(deps: Deps, investigation: str) -> list[Mapping[str, Any]]:
    results: list[Mapping[str, Any]] = []
    after, more = 0, True
    while more:
        page = deps.client.get(f"/v1/investigations/{investigation}/steps", after=after, limit=200)
        results += page["items"]
        more, after = page["after"] > after, page["after"]
    return results


def _verdict(item: Mapping[str, Any]) -> str:
    verdict = item["verdict"]
    return f"[{_VERDICTS.get(verdict, 'yellow')}]{verdict}[/]" if verdict else ""


@app.command()
def rate(
    ctx: typer.Context,
    investigation: Id,
    rating: Annotated[int, typer.Argument(min=1, max=5, help="1 to 5.")],
    comment: Annotated[str, typer.Option("--comment", "-c", help="Why.")] = "",
    as_json: Json = False,
) -> None:
    """Rate an ended investigation; 4 and 5 stage a candidate to learn from."""
    deps = deps_of(ctx)
    body = {"rating": rating, "comment": comment}
    answer = deps.client.post(f"/v1/investigations/{investigation}/rating", body)
    print_done(deps, answer, f"[green]rated[/] {rating} of 5", as_json=as_json)


@app.command()
def dispute(
    ctx: typer.Context,
    investigation: Id,
    reason: Annotated[str, typer.Option("--reason", "-r", help="What was wrong.")],
    as_json: Json = False,
) -> None:
    """Dispute an investigation's result; nothing is learned from it."""
    deps = deps_of(ctx)
    answer = deps.client.post(f"/v1/investigations/{investigation}/dispute", {"reason": reason})
    print_done(deps, answer, f"[green]disputed[/] {investigation}", as_json=as_json)


@app.command()
def remember(
    ctx: typer.Context,
    investigation: Id,
    step: Annotated[int, typer.Argument(min=1, help="The step's number.")],
    label: Annotated[str, typer.Option("--as", help="fact, observation or resolution.")] = "fact",
    text: Annotated[
        str | None, typer.Option(help="The text to keep instead of the step's.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a step an active node of the memory graph."""
    deps = deps_of(ctx)
    body = without_none({"label": label, "text": text})
    path = f"/v1/investigations/{investigation}/steps/{step}/remember"
    memory = deps.client.post(path, body)
    line = f"[green]remembered[/] {memory['label']} {memory['node_id']}"
    print_done(deps, memory, line, as_json=as_json)
