"""`cairn tickets`: add them, see where they stand and how long the queue is."""

from typing import Annotated, Any

import typer

from cairn.cli.given import json_given, text_given
from cairn.cli.options import (
    Json,
    deps_of,
    escape,
    moment,
    print_done,
    print_json,
    table,
    without_none,
)

app = typer.Typer(help="What customers ask for, and where it stands.", no_args_is_help=True)

TicketId = Annotated[str, typer.Argument(help="The ticket's id.")]
_COLOURS = {
    "auto_resolved": "green",
    "investigating": "cyan",
    "queued": "cyan",
    "new": "cyan",
    "discarded": "dim",
    "failed": "red",
}


@app.command()
def add(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="What it is about, in a line.")],
    body: Annotated[str, typer.Option(help="All of it, or @FILE.")] = "",
    customer: Annotated[str | None, typer.Option(help="Such as 'Hartwell Law'.")] = None,
    email: Annotated[str | None, typer.Option(help="The requester's address.")] = None,
    priority: Annotated[str | None, typer.Option(help="low, medium, high or critical.")] = None,
    persona: Annotated[str | None, typer.Option(help="Who works on it.")] = None,
    external_id: Annotated[
        str | None, typer.Option(help="Your own id; the same one again changes nothing.")
    ] = None,
    metadata: Annotated[str | None, typer.Option(help="JSON, or @FILE.")] = None,
    as_json: Json = False,
) -> None:
    """Add a ticket; it is screened, queued and investigated."""
    deps = deps_of(ctx)
    asked = {
        "title": title,
        "body": text_given(body),
        "customer": customer,
        "requester_email": email,
        "priority": priority,
        "persona": persona,
        "external_id": external_id,
        "source_metadata": json_given(metadata) if metadata else None,
    }
    made = deps.client.post("/v1/tickets", without_none(asked))
    word = "added" if made["outcome"] == "new" else made["outcome"]
    print_done(deps, made, f"[green]{word}[/] {made['id']}", as_json=as_json)


@app.command("list")
def list_tickets(
    ctx: typer.Context,
    status: Annotated[str | None, typer.Option(help="Such as queued or needs_tech.")] = None,
    source: Annotated[str | None, typer.Option(help="A source's name.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    as_json: Json = False,
) -> None:
    """List tickets, the newest first."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/tickets", status=status, source=source, limit=limit)["items"]
    if as_json:
        return print_json(found)
    shown = table("id", "status", "priority", "title", "customer", "source", "received")
    for each in found:
        texts = [escape(each["title"] or "(forgotten)"), escape(each["customer"] or "")]
        shown.add_row(
            each["id"],
            _status(each),
            each["priority"],
            *texts,
            each["source"],
            moment(each["received_at"]),
        )
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, ticket: TicketId, as_json: Json = False) -> None:
    """Show a ticket: what it says, what was answered, its investigations."""
    deps = deps_of(ctx)
    found = deps.client.get(f"/v1/tickets/{ticket}")
    if as_json:
        return print_json(found)
    out = deps.out
    title = escape(found["title"] or "(forgotten)")
    out.print(f"[bold]{title}[/]  {_status(found)}  {found['priority']}", highlight=False)
    out.print(f"  {found['source']} {escape(found['external_id'])}", highlight=False)
    if found["customer"] or found["requester_email"]:
        who = " ".join(one for one in (found["customer"], found["requester_email"]) if one)
        out.print(f"  {escape(who)}", highlight=False)
    out.print(f"  screened: {_screening(found['screening'])}", highlight=False)
    if found["waits_for"]:
        out.print(f"  [red]waits for[/] {escape(found['waits_for'])}", highlight=False)
    if found["body"]:
        out.print(escape(found["body"]), highlight=False)
    for at, kind, said in sorted(_said(found)):
        text = escape(said or "(forgotten)")
        out.print(f"\n[cyan]{kind}[/] {moment(at)}\n{text}", highlight=False)
    for each in found["investigations"]:
        verdict = each.get("verdict") or "-"
        out.print(f"\ninvestigation {each['id']}  {each['state']}  {verdict}", highlight=False)


@app.command()
def message(
    ctx: typer.Context,
    ticket: TicketId,
    text: Annotated[str, typer.Argument(help="What the requester wrote, or @FILE.")],
    external_id: Annotated[
        str | None, typer.Option(help="Your own id; the same one again changes nothing.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Add what the requester wrote later; a ticket that waits for it is taken up again."""
    deps = deps_of(ctx)
    asked = without_none({"text": text_given(text), "external_id": external_id})
    made = deps.client.post(f"/v1/tickets/{ticket}/messages", asked)
    word = "added" if made["outcome"] == "new" else made["outcome"]
    print_done(deps, made, f"[green]{word}[/] {made['id']}", as_json=as_json)


@app.command()
def queue(ctx: typer.Context, as_json: Json = False) -> None:
    """Say how many tickets wait, and for how long a new one would."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/tickets/queue")
    if as_json:
        return print_json(found)
    wait = found["expected_wait_s"]
    said = "nobody knows yet for how long" if wait is None else f"about {wait / 60:.1f} minutes"
    out = deps.out
    out.print(f"[bold]{found['depth']}[/] wait, {said}", highlight=False)
    out.print(
        f"  {found['investigating']} of {found['at_once']} under way, {found['new']} new, "
        f"{found['held']} held, {found['discarded']} discarded",
        highlight=False,
    )
    if found["degraded"]:
        out.print(
            f"  [red]more than {found['degraded_above']}[/]: low-priority tickets skip retrieval",
            highlight=False,
        )


@app.command()
def requeue(ctx: typer.Context, ticket: TicketId, as_json: Json = False) -> None:
    """Put a ticket that has ended or was discarded back into the queue."""
    deps = deps_of(ctx)
    done = deps.client.post(f"/v1/tickets/{ticket}/requeue", {})
    print_done(deps, done, f"[green]{done['status']}[/] {ticket}", as_json=as_json)


def _said(ticket: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return when, what kind of words, and the words themselves, of all that was said later."""
    theirs = [(one["written_at"], "message", one["text"] or "") for one in ticket["messages"]]
    ours = [
        (one["created_at"], "note" if one["private"] else "reply", one["text"] or "")
        for one in ticket["replies"]
    ]
    return [*theirs, *ours]


def _status(shown: dict[str, Any]) -> str:
    colour = _COLOURS.get(shown["status"], "yellow")
    return f"[{colour}]{shown['status']}[/]"


def _screening(labels: dict[str, Any]) -> str:
    if "verdict" not in labels:
        return "not yet"
    named = [labels["verdict"], labels["intent"], labels["language"] or "-", labels["complexity"]]
    return "  ".join([*named, *(f"({one})" for one in labels["patterns"])])
