"""`cairn webhooks`: who is told of what happens, and how the telling went."""

from typing import Annotated

import typer

from cairn.cli.options import Json, deps_of, escape, print_done, print_json, table

app = typer.Typer(help="Addresses that are told of what happens.", no_args_is_help=True)

_COLOURS = {"delivered": "green", "failed": "red", "waiting": "cyan"}


@app.command()
def add(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(help="Where to; https, but on a laptop.")],
    event: Annotated[
        list[str] | None,
        typer.Option(
            help="memory_superseded, contradiction_flagged or consolidation_done; repeat. All "
            "without."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a webhook and show its secret, this once."""
    deps = deps_of(ctx)
    made = deps.client.post("/v1/webhooks", {"url": url, **({"events": event} if event else {})})
    if as_json:
        return print_json(made)
    deps.out.print(f"[green]made[/] {made['id']}  for {', '.join(made['events'])}")
    deps.out.print(f"secret: [bold]{made['secret']}[/]  [dim]shown this once[/]")


@app.command("list")
def list_webhooks(ctx: typer.Context, as_json: Json = False) -> None:
    """List webhooks, with what waits and what failed."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/webhooks")["items"]
    if as_json:
        return print_json(found)
    shown = table("id", "url", "events", "waiting", "failed", "last delivered")
    for each in found:
        url = escape(each["url"]) + (" [red](gone)[/]" if each["disabled_at"] else "")
        last = (each["last_delivered_at"] or "-")[:19].replace("T", " ")
        counts = str(each["waiting"]), str(each["failed"])
        shown.add_row(each["id"], url, "\n".join(each["events"]), *counts, last)
    deps.out.print(shown)


@app.command()
def deliveries(
    ctx: typer.Context,
    webhook: Annotated[str, typer.Argument(help="The webhook's id.")],
    as_json: Json = False,
) -> None:
    """List the newest deliveries of a webhook."""
    deps = deps_of(ctx)
    found = deps.client.get(f"/v1/webhooks/{webhook}/deliveries")["items"]
    if as_json:
        return print_json(found)
    shown = table("id", "event", "ledger", "state", "tries", "answer")
    for each in found:
        state = f"[{_COLOURS[each['state']]}]{each['state']}[/]"
        said = str(each["status"] or "") + (f" {each['error']}" if each["error"] else "")
        position, tries = str(each["position"]), str(each["attempts"])
        shown.add_row(each["id"], each["event"], position, state, tries, said.strip())
    deps.out.print(shown)


@app.command()
def remove(
    ctx: typer.Context,
    webhook: Annotated[str, typer.Argument(help="The webhook's id.")],
    as_json: Json = False,
) -> None:
    """Remove a webhook with its deliveries."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/webhooks/{webhook}")
    print_done(deps, gone, f"[green]removed[/] {webhook}", as_json=as_json)
