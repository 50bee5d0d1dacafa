"""`cairn personas`: how agents work, by kind of ticket."""

from typing import Annotated, Any

import typer

from cairn.cli.given import text_given
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

app = typer.Typer(help="How agents work, by kind of ticket.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The persona's name.")]
_FIELDS = (
    "instructions",
    "escalation",
    "autonomy",
    "max_tokens",
    "max_usd",
    "max_seconds",
    "max_iterations",
    "redaction",
)


@app.command("list")
def list_personas(ctx: typer.Context, as_json: Json = False) -> None:
    """List personas; `default` works on what no other does."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/personas")["items"]
    if as_json:
        return print_json(found)
    shown = table("name", "autonomy", "tokens", "usd", "seconds", "rounds", "calls", "version")
    for each in found:
        limits = [str(each[f"max_{one}"]) for one in ("tokens", "usd", "seconds", "iterations")]
        version = str(each["version"])
        shown.add_row(each["name"], each["autonomy"], *limits, each["escalation"], version)
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show a persona and how it changed."""
    deps = deps_of(ctx)
    found = deps.client.get(f"/v1/personas/{name}")
    if as_json:
        return print_json(found)
    deps.out.print(f"[bold]{found['name']}[/]  version {found['version']}", highlight=False)
    for field in _FIELDS:
        deps.out.print(f"  {field}: {escape(str(found[field]))}", highlight=False)


@app.command("set")
def change(
    ctx: typer.Context,
    name: Name,
    instructions: Annotated[str | None, typer.Option(help="What to tell it, or @FILE.")] = None,
    autonomy: Annotated[str | None, typer.Option(help="off, investigate, propose or act.")] = None,
    escalation: Annotated[
        str | None, typer.Option(help="ticket-note, webhook:ID or slack:NAME.")
    ] = None,
    tokens: Annotated[int | None, typer.Option(min=1)] = None,
    usd: Annotated[str | None, typer.Option(help="Such as 0.50.")] = None,
    seconds: Annotated[int | None, typer.Option(min=1)] = None,
    rounds: Annotated[int | None, typer.Option(min=1)] = None,
    redaction: Annotated[str | None, typer.Option(help="A profile, such as pii.")] = None,
    as_json: Json = False,
) -> None:
    """Make a persona, or change what is given of one there is."""
    given = without_none(
        {
            "instructions": None if instructions is None else text_given(instructions),
            "autonomy": autonomy,
            "escalation": escalation,
            "max_tokens": tokens,
            "max_usd": usd,
            "max_seconds": seconds,
            "max_iterations": rounds,
            "redaction": redaction,
        }
    )
    deps = deps_of(ctx)
    known = _known(ctx, name)
    if known is None:
        done = deps.client.post("/v1/personas", {"name": name, **given})
    else:
        present = {field: known[field] for field in _FIELDS}
        done = deps.client.put(f"/v1/personas/{name}", present | given)
    if as_json:
        return print_json(done)
    deps.out.print(f"[green]set[/] {name}  version {done['version']}", highlight=False)


@app.command()
def history(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """List every version a persona had."""
    deps = deps_of(ctx)
    found = deps.client.get(f"/v1/personas/{name}/versions")["items"]
    if as_json:
        return print_json(found)
    shown = table("version", "changed", "by", "autonomy", "usd", "")
    for each in found:
        gone = "[red]removed[/]" if each["removed"] else ""
        when = moment(each["changed_at"])
        version = str(each["version"])
        shown.add_row(version, when, each["changed_by"], each["autonomy"], each["max_usd"], gone)
    deps.out.print(shown)


@app.command()
def remove(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Remove a persona; the default one works on its tickets."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/personas/{name}")
    print_done(deps, gone, f"[green]removed[/] {name}", as_json=as_json)


def _known(ctx: typer.Context, name: str) -> dict[str, Any] | None:
    every = deps_of(ctx).client.get("/v1/personas")["items"]
    return next((one for one in every if one["name"] == name), None)
