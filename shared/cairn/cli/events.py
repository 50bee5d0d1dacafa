"""`cairn events`: observe, list and import what agents did."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import Deps
from cairn.cli.memories import count, read_lines, say_counts
from cairn.cli.options import Client, Json, Scope, deps_of, escape, print_json, table, without_none

BATCH = 500
BATCH_BYTES = 3_000_000
"""What a request of 4 MiB has room for."""

app = typer.Typer(help="Events: what agents did, and what caused what.", no_args_is_help=True)

Session = Annotated[str | None, typer.Option(help="The session it belongs to.")]
Agent = Annotated[str | None, typer.Option(help="Who acts.")]
Trace = Annotated[str | None, typer.Option(help="What belongs together across sessions.")]


@app.command()
def add(
    ctx: typer.Context,
    type: Annotated[str, typer.Argument(help="A dotted name: tool.execute, agent.invoke.")],
    text: Annotated[
        str | None, typer.Option(help="What is indexed, instead of the payload.")
    ] = None,
    payload: Annotated[str | None, typer.Option(help="A JSON object.")] = None,
    session: Session = None,
    agent: Agent = None,
    trace: Trace = None,
    parent: Annotated[str | None, typer.Option(help="The id of what caused it.")] = None,
    tool: Annotated[str | None, typer.Option(help="The tool that ran.")] = None,
    status: Annotated[str | None, typer.Option(help="ok, failed, ...")] = None,
    occurred_at: Annotated[str | None, typer.Option(help="RFC 3339, with its zone.")] = None,
    client: Client = None,
    scope: Scope = None,
    as_json: Json = False,
) -> None:
    """Record one event."""
    deps = deps_of(ctx)
    body = {
        "type": type,
        "text": text,
        "payload": _payload(payload),
        "session_id": session,
        "agent_id": agent,
        "trace_id": trace,
        "parent_id": parent,
        "tool_name": tool,
        "status": status,
        "occurred_at": occurred_at,
        "client_id": client,
        "scope": scope,
    }
    result = deps.client.post("/v1/events", without_none(body))
    if as_json:
        return print_json(result)
    deps.out.print(
        f"[green]{result['outcome']}[/] {result['id']}  [dim]ledger {result['position']}[/]"
    )
    for warning in result["warnings"]:
        deps.err.print(f"[yellow]note:[/] {warning}")


@app.command("list")
def list_events(
    ctx: typer.Context,
    type: Annotated[str | None, typer.Option(help="A type, or the namespace of types.")] = None,
    session: Session = None,
    agent: Agent = None,
    trace: Trace = None,
    client: Client = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many, newest first.")] = 20,
    as_json: Json = False,
) -> None:
    """List events, newest first."""
    deps = deps_of(ctx)
    page = deps.client.get(
        "/v1/events",
        type=type,
        session_id=session,
        agent_id=agent,
        trace_id=trace,
        client_id=client,
        limit=limit,
    )
    if as_json:
        return print_json(page)
    shown = table("occurred", "type", "agent", "session", "text", "id")
    for each in page["items"]:
        cells = (each["type"], each["agent_id"] or "", each["session_id"] or "", each["text"][:100])
        shown.add_row(each["occurred_at"], *(escape(item) for item in cells), each["id"])
    deps.out.print(shown)


@app.command("import")
def import_events(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)],
    as_json: Json = False,
) -> None:
    """Import JSON lines, one event each; a line's `id` may be the `parent_id` of later ones."""
    deps = deps_of(ctx)
    results, orphans = import_all(deps, read_lines(file))
    counts = count(results)
    if as_json:
        print_json({"results": results, "counts": counts, "parents_not_found": orphans})
    else:
        deps.out.print(say_counts(counts))
        if orphans:
            deps.err.print(
                f"[yellow]note:[/] {orphans} events name a parent that no line before has"
            )
        for result in results:
            if result["outcome"] == "rejected":
                detail = escape(result["error"]["detail"])
                deps.err.print(f"[red]line {result['index'] + 1}:[/] {detail}")
    if "rejected" in counts:
        raise typer.Exit(1)


def import_all(deps: Deps, events: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """Write events in batches; return their results in order, and how many lost a parent."""
    from rich.progress import Progress

    results: list[dict[str, Any]] = []
    stored: dict[str, str] = {}
    orphans = 0
    with Progress(console=deps.err, transient=True) as progress:
        task = progress.add_task("importing", total=len(events))
        for batch in batches(events):
            names = [event.get("id") for event in batch]
            items, lost = with_parents(batch, stored)
            orphans += lost
            answer = deps.client.post("/v1/events", {"items": items})
            start = len(results)
            results += [{**each, "index": each["index"] + start} for each in answer["results"]]
            for name, each in zip(names, answer["results"], strict=True):
                if name is not None and each.get("id"):
                    stored[str(name)] = each["id"]
            progress.advance(task, len(batch))
    return results, orphans


def batches(events: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield runs of events that fit one request; Failure for one that fits none."""
    batch: list[dict[str, Any]] = []
    room = BATCH_BYTES
    for number, event in enumerate(events, start=1):
        size = len(json.dumps(event).encode())
        if size > BATCH_BYTES:
            raise Failure(f"Event {number} has {size} bytes; a request has room for {BATCH_BYTES}.")
        if size > room or len(batch) == BATCH:
            yield batch
            batch, room = [], BATCH_BYTES
        batch.append(event)
        room -= size
    if batch:
        yield batch


def with_parents(
    batch: list[dict[str, Any]], stored: dict[str, str]
) -> tuple[list[dict[str, Any]], int]:
    """Return the events as the API takes them: parents by its ids, or by their place in the batch.

    The second value counts the parents that neither an earlier line nor an id of the API names.
    """
    places: dict[str, int] = {}
    items: list[dict[str, Any]] = []
    lost = 0
    for at, event in enumerate(batch):
        item = {name: value for name, value in event.items() if name not in ("id", "parent_id")}
        parent = event.get("parent_id")
        if parent in places:
            item["parent_item"] = places[cast("str", parent)]
        elif parent is not None and (parent_id := stored.get(parent, _uuid(parent))):
            item["parent_id"] = parent_id
        else:
            lost += parent is not None
        if event.get("id") is not None:
            places[str(event["id"])] = at
        items.append(item)
    return items, lost


def _uuid(value: object) -> str | None:
    from uuid import UUID

    try:
        return str(UUID(str(value)))
    except ValueError:
        return None


def _payload(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        payload = json.loads(text)
    except ValueError as exc:
        raise typer.BadParameter("--payload is not JSON.") from exc
    if not isinstance(payload, dict):
        raise typer.BadParameter("--payload is not a JSON object.")
    return cast("dict[str, Any]", payload)
