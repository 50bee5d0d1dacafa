"""`cairn reports`: what workflows made."""

import sys
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from cairn.cli.options import Client, Json, Scope, deps_of, escape, print_json, table, without_none

app = typer.Typer(help="What workflows made, kept for good.", no_args_is_help=True)


@app.command()
def write(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="The same in the same minute is the same report.")],
    file: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Its body; standard input without."),
    ] = None,
    keyword: Annotated[list[str] | None, typer.Option(help="Repeat for several.")] = None,
    workflow: Annotated[str | None, typer.Option(help="What made it.")] = None,
    occurred_at: Annotated[str | None, typer.Option(help="RFC 3339, with its zone.")] = None,
    conversation: Annotated[str | None, typer.Option(help="The id of what it came of.")] = None,
    session: Annotated[str | None, typer.Option(help="Or a session's newest one.")] = None,
    client: Client = None,
    scope: Scope = "admin",
    as_json: Json = False,
) -> None:
    """Keep a report."""
    deps = deps_of(ctx)
    body = without_none(
        {
            "title": title,
            "body": file.read_text(encoding="utf-8") if file else sys.stdin.read(),
            "keywords": keyword or [],
            "source_workflow": workflow,
            "occurred_at": occurred_at,
            "conversation_id": conversation,
            "session_id": session,
            "client_id": client,
            "scope": scope,
        }
    )
    done = deps.client.post("/v1/reports", body)
    if as_json:
        return print_json(done)
    said = "[green]written[/]" if done["created"] else "[cyan]there already[/]"
    deps.out.print(f"{said} {done['id']}  [dim]ledger {done['position']}[/]")


@app.command()
def latest(
    ctx: typer.Context,
    keyword: Annotated[str | None, typer.Argument(help="About what; of all without.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=20)] = 1,
    as_json: Json = False,
) -> None:
    """Show the newest report, whole."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/reports/latest", keyword=keyword, limit=limit)
    if as_json:
        return print_json(found)
    if not found["items"]:
        deps.out.print("There is no such report.")
    for each in found["items"]:
        deps.out.print(f"[bold]{escape(each['title'])}[/]  [dim]{each['occurred_at'][:16]}[/]")
        deps.out.print(escape(each["body"]))


@app.command("list")
def list_reports(
    ctx: typer.Context,
    keyword: Annotated[str | None, typer.Option(help="In any case.")] = None,
    workflow: Annotated[str | None, typer.Option(help="What made them.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """Show the catalogue, newest first."""
    deps = deps_of(ctx)
    where = {"keyword": keyword, "source_workflow": workflow}
    total = deps.client.get("/v1/reports", **where, limit=1)["total"]
    found = list(islice(deps.client.pages("/v1/reports", **where), limit))
    if as_json:
        return print_json({"items": found, "total": total})
    shown = table("id", "about", "title", "keywords", "workflow")
    for each in found:
        shown.add_row(
            each["id"],
            each["occurred_at"][:16].replace("T", " "),
            escape(each["title"]),
            escape(", ".join(each["keywords"])),
            escape(each["source_workflow"] or ""),
        )
    deps.out.print(shown)
    deps.out.print(f"[dim]{len(found)} of {total}[/]")
