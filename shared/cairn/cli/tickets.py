"""`cairn tickets` and `ticket-sources`: what customers ask for, and where it comes from."""

from typing import Annotated, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.device_sign_in import Wait, sign_in
from cairn.cli.options import (
    Config,
    Json,
    NoSecret,
    Secret,
    deps_of,
    escape,
    json_given,
    moment,
    print_done,
    print_json,
    secrets_given,
    table,
    text_given,
    without_none,
)
from cairn.tickets.ticket import SourceKind

app = typer.Typer(help="Tickets, and the queue.", no_args_is_help=True)

TicketId = Annotated[str, typer.Argument(help="The ticket's id.")]
KINDS = ", ".join(kind.value for kind in SourceKind if kind is not SourceKind.API) + "."
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
    request = {
        "title": title,
        "body": text_given(body),
        "customer": customer,
        "requester_email": email,
        "priority": priority,
        "persona": persona,
        "external_id": external_id,
        "source_metadata": json_given(metadata) if metadata else None,
    }
    ticket = deps.client.post("/v1/tickets", without_none(request))
    word = "added" if ticket["outcome"] == "new" else ticket["outcome"]
    print_done(deps, ticket, f"[green]{word}[/] {ticket['id']}", as_json=as_json)


@app.command("list")
def list_tickets(
    ctx: typer.Context,
    status: Annotated[str | None, typer.Option(help="Such as queued or needs_tech.")] = None,
    source: Annotated[str | None, typer.Option(help="A source's name.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    as_json: Json = False,
) -> None:
    """List tickets, newest first."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/tickets", status=status, source=source, limit=limit)["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "status", "priority", "title", "customer", "source", "received")
    for each in items:
        state = _status(each), each["priority"]
        texts = escape(each["title"] or "(forgotten)"), escape(each["customer"] or "")
        shown.add_row(each["id"], *state, *texts, each["source"], moment(each["received_at"]))
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, ticket: TicketId, as_json: Json = False) -> None:
    """Show a ticket: what it says, what was answered, its investigations."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/tickets/{ticket}")
    if as_json:
        return print_json(answer)
    out = deps.out
    title = escape(answer["title"] or "(forgotten)")
    out.print(f"[bold]{title}[/]  {_status(answer)}  {answer['priority']}", highlight=False)
    out.print(f"  {answer['source']} {escape(answer['external_id'])}", highlight=False)
    if who := " ".join(filter(None, (answer["customer"], answer["requester_email"]))):
        out.print(f"  {escape(who)}", highlight=False)
    out.print(f"  screened: {_screening(answer['screening'])}", highlight=False)
    if answer["waits_for"]:
        out.print(f"  [red]waits for[/] {escape(answer['waits_for'])}", highlight=False)
    if answer["body"]:
        out.print(escape(answer["body"]), highlight=False)
    for at, kind, line in sorted(_ticket_texts(answer)):
        text = escape(line or "(forgotten)")
        out.print(f"\n[cyan]{kind}[/] {moment(at)}\n{text}", highlight=False)
    for each in answer["investigations"]:
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
    """Add a later message of the requester; a ticket that waits for it is resumed."""
    deps = deps_of(ctx)
    body = without_none({"text": text_given(text), "external_id": external_id})
    message_record = deps.client.post(f"/v1/tickets/{ticket}/messages", body)
    word = "added" if message_record["outcome"] == "new" else message_record["outcome"]
    print_done(deps, message_record, f"[green]{word}[/] {message_record['id']}", as_json=as_json)


@app.command()
def queue(ctx: typer.Context, as_json: Json = False) -> None:
    """Show how many tickets wait, and the expected wait of a new one."""
    deps = deps_of(ctx)
    answer = deps.client.get("/v1/tickets/queue")
    if as_json:
        return print_json(answer)
    wait = answer["expected_wait_s"]
    text = "nobody knows yet for how long" if wait is None else f"about {wait / 60:.1f} minutes"
    out = deps.out
    out.print(f"[bold]{answer['depth']}[/] wait, {text}", highlight=False)
    out.print(
        f"  {answer['investigating']} of {answer['at_once']} under way, {answer['new']} new, "
        f"{answer['held']} held, {answer['discarded']} discarded",
        highlight=False,
    )
    if answer["degraded"]:
        out.print(
            f"  [red]more than {answer['degraded_above']}[/]: low-priority tickets skip retrieval",
            highlight=False,
        )


@app.command()
def requeue(ctx: typer.Context, ticket: TicketId, as_json: Json = False) -> None:
    """Put a ticket that has ended or was discarded back into the queue."""
    deps = deps_of(ctx)
    done = deps.client.post(f"/v1/tickets/{ticket}/requeue", {})
    print_done(deps, done, f"[green]{done['status']}[/] {ticket}", as_json=as_json)


def _ticket_texts(ticket: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return when, what kind of words, and the words themselves, of all that was said later."""
    theirs = [
        (message["written_at"], "message", message["text"] or "") for message in ticket["messages"]
    ]
    ours = [
        (reply["created_at"], "note" if reply["private"] else "reply", reply["text"] or "")
        for reply in ticket["replies"]
    ]
    return [*theirs, *ours]


def _status(shown: dict[str, Any]) -> str:
    colour = _COLOURS.get(shown["status"], "yellow")
    return f"[{colour}]{shown['status']}[/]"


def _screening(labels: dict[str, Any]) -> str:
    if "verdict" not in labels:
        return "not yet"
    values = [labels["verdict"], labels["intent"], labels["language"] or "-", labels["complexity"]]
    return "  ".join([*values, *(f"({pattern})" for pattern in labels["patterns"])])


ticket_sources_app = typer.Typer(help="Help desks: where tickets come from.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The source's name or id.")]
Persona = Annotated[str | None, typer.Option(help="Who works on its tickets.")]
Every = Annotated[int | None, typer.Option("--every", help="Seconds between polls.", min=60)]
_SOURCE_COLOURS = {"active": "green", "needs-auth": "red", "paused": "yellow"}


@ticket_sources_app.command("list")
def list_sources(ctx: typer.Context, as_json: Json = False) -> None:
    """List help desks and the state of their polling."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/ticket-sources")["items"]
    if as_json:
        return print_json(items)
    shown = table("name", "kind", "state", "persona", "every", "polled", "webhooks go to")
    for each in items:
        polled = moment(each["polled_at"]) if each["polled_at"] else "-"
        every = f"{each['poll_seconds']} s"
        shown.add_row(
            each["name"],
            each["kind"],
            _state(each),
            each["persona"],
            every,
            polled,
            each["events_path"],
        )
    deps.out.print(shown)


@ticket_sources_app.command("add")
def add_source(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What to call it.")],
    kind: Annotated[str, typer.Option(help=KINDS)],
    config: Config = None,
    secret: Secret = None,
    persona: Persona = None,
    every: Every = None,
    as_json: Json = False,
) -> None:
    """Register a help desk; it is polled from now on."""
    body = {"name": name, "kind": kind, **_settings(config, secret, persona, every)}
    source = deps_of(ctx).client.post("/v1/ticket-sources", without_none(body))
    _print(ctx, source, as_json=as_json)


@ticket_sources_app.command("set")
def change(
    ctx: typer.Context,
    name: Name,
    config: Config = None,
    secret: Secret = None,
    no_secret: NoSecret = None,
    persona: Persona = None,
    every: Every = None,
    pause: Annotated[
        bool | None, typer.Option("--pause/--resume", help="Stop polling, or go on.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Change a help desk; new secrets let one that failed to sign in go on."""
    body = without_none({**_settings(config, secret, persona, every, no_secret), "paused": pause})
    if not body:
        raise Failure("There is nothing to change.", advice="see cairn ticket-sources set --help")
    done = deps_of(ctx).client.patch(_path(ctx, name), body)
    _print(ctx, done, as_json=as_json)


@ticket_sources_app.command()
def poll(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Fetch new tickets now."""
    deps = deps_of(ctx)
    done = deps.client.post(f"{_path(ctx, name)}/poll", {})
    if as_json:
        return print_json(done)
    more = "" if done["complete"] else "; the rest comes with the next poll"
    aside = "".join(f"; {count} set aside: {why}" for why, count in done["set_aside"].items())
    counts = f"{done['changed']} changed, {done['known']} known{aside}{more}"
    deps.out.print(f"[green]{done['new']} new[/], {counts}", highlight=False)


@ticket_sources_app.command("sign-in")
def sign_in_to(ctx: typer.Context, name: Name, wait: Wait = True, as_json: Json = False) -> None:
    """Sign in to a mailbox by a device code: show it, wait for a yes."""
    sign_in(deps_of(ctx), _path(ctx, name), name, wait=wait, as_json=as_json)


@ticket_sources_app.command("sign-out")
def sign_out_of(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Forget the token of a sign-in by a device code."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"{_path(ctx, name)}/sign-in")
    print_done(deps, gone, f"[green]signed out[/] {name}", as_json=as_json)


@ticket_sources_app.command()
def remove(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Remove a help desk with its secrets; its tickets stay."""
    deps = deps_of(ctx)
    gone = deps.client.delete(_path(ctx, name))
    print_done(deps, gone, f"[green]removed[/] {name}", as_json=as_json)


def _settings(
    config: str | None,
    secret: list[str] | None,
    persona: str | None,
    every: int | None,
    no_secret: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "config": json_given(config) if config else None,
        "secrets": secrets_given(secret, no_secret),
        "persona": persona,
        "poll_seconds": every,
    }


def _path(ctx: typer.Context, name: str) -> str:
    """Return the path of a source by its name or its id."""
    for each in deps_of(ctx).client.get("/v1/ticket-sources")["items"]:
        if name in (each["name"], each["id"]):
            return f"/v1/ticket-sources/{each['id']}"
    raise Failure(f"There is no ticket source {name}.", advice="see cairn ticket-sources list")


def _print(ctx: typer.Context, shown: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return print_json(shown)
    out = deps_of(ctx).out
    out.print(f"[bold]{shown['name']}[/]  {_state(shown)}  {shown['kind']}", highlight=False)
    out.print(f"  id {shown['id']}  persona {escape(shown['persona'])}", highlight=False)
    out.print(f"  webhooks go to {shown['events_path']}", highlight=False)


def _state(shown: dict[str, Any]) -> str:
    error = f" ({shown['error']})" if shown["error"] else ""
    return f"[{_SOURCE_COLOURS[shown['state']]}]{shown['state']}[/]{error}"
