"""`cairn grants`: a yes in advance, narrow, counted, with an end."""

import json
from datetime import timedelta
from typing import Annotated

import typer

from cairn.cli.options import (
    Json,
    deps_of,
    escape,
    json_object,
    moment,
    print_done,
    print_json,
    table,
)
from cairn.kernel.clock import utc_now
from cairn.kernel.text.canonical import format_timestamp

app = typer.Typer(help="Standing grants: what agents need not ask again.", no_args_is_help=True)


@app.command()
def make(
    ctx: typer.Context,
    tool: Annotated[str, typer.Argument(help="connector.tool")],
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why.")],
    arguments: Annotated[
        str | None,
        typer.Option(
            help="Every argument, as JSON: `*` stands for letters, digits and ._+-, `**` for "
            "anything. Without it any arguments, at most 10 times."
        ),
    ] = None,
    uses: Annotated[int, typer.Option(min=1, max=1_000, help="How often.")] = 10,
    days: Annotated[int, typer.Option(min=1, max=90, help="For how long.")] = 7,
    as_json: Json = False,
) -> None:
    """Make a grant; it is an entry of the ledger, and so is every use."""
    deps = deps_of(ctx)
    body = {
        "tool": tool,
        "arguments": None if arguments is None else json_object(arguments, "The arguments"),
        "expires_at": format_timestamp(utc_now() + timedelta(days=days)),
        "max_uses": uses,
        "reason": reason,
    }
    made = deps.client.post("/v1/grants", body)
    if as_json:
        return print_json(made)
    until = moment(made["expires_at"])
    deps.out.print(f"[green]granted[/] {made['id']}  {tool}, {uses} times until {until}")


@app.command("list")
def list_grants(ctx: typer.Context, as_json: Json = False) -> None:
    """List grants, those that are over too, with how often each was used."""
    deps = deps_of(ctx)
    found = list(deps.client.pages("/v1/grants", limit=99))
    if as_json:
        return print_json(found)
    shown = table("id", "tool", "arguments", "used", "until", "why")
    for one in found:
        what = "any" if one["arguments"] is None else json.dumps(one["arguments"])
        until = moment(one["expires_at"])
        over = " [red](revoked)[/]" if one["revoked_at"] else ""
        used = f"{one['uses']} of {one['max_uses']}"
        shown.add_row(
            one["id"], one["tool"], escape(what), used, until + over, escape(one["reason"])
        )
    deps.out.print(shown if found else "there are no grants: agents ask each time")


@app.command()
def revoke(
    ctx: typer.Context,
    grant: Annotated[str, typer.Argument(help="The grant's id.")],
    as_json: Json = False,
) -> None:
    """Revoke a grant at once."""
    deps = deps_of(ctx)
    revoked = deps.client.delete(f"/v1/grants/{grant}")
    print_done(deps, revoked, f"[green]revoked[/] {grant}", as_json=as_json)
