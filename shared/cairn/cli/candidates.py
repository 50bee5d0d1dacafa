"""`cairn candidates` and `cairn proposals`: what may be learned, and people's decisions on it."""

from itertools import islice
from typing import Annotated

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

app = typer.Typer(help="Resolutions that may become documents.", no_args_is_help=True)
proposals = typer.Typer(help="Nodes Cairn proposes for the memory graph.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="The candidate's id.")]
Node = Annotated[str, typer.Argument(help="The proposed node's id.")]


@app.command("list")
def list_candidates(
    ctx: typer.Context,
    state: Annotated[
        str, typer.Option(help="staged, accepted, rejected, archived, or all.")
    ] = "staged",
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
    as_json: Json = False,
) -> None:
    """List candidates, the newest first; those that wait unless told others."""
    deps = deps_of(ctx)
    asked = None if state == "all" else state
    found = deps.client.get("/v1/candidates", state=asked, limit=limit)["items"]
    if as_json:
        return print_json(found)
    shown = table("id", "state", "cause", "staged", "title")
    for one in found:
        title = escape(one["title"] or "[forgotten]")
        shown.add_row(one["id"], one["state"], one["cause"], moment(one["staged_at"]), title)
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, candidate: Id, as_json: Json = False) -> None:
    """Show what a candidate says."""
    deps = deps_of(ctx)
    found = deps.client.get(f"/v1/candidates/{candidate}")
    if as_json:
        return print_json(found)
    deps.out.print(
        f"{found['state']} ({found['cause']}), investigation {found['investigation_id']}"
    )
    deps.out.print(escape(found["text"] or "[forgotten]"))


@app.command()
def accept(
    ctx: typer.Context,
    candidate: Id,
    scope: Annotated[str, typer.Option(help="Who may find it: admin, shared, public.")] = "admin",
    as_json: Json = False,
) -> None:
    """Make it a verified document."""
    deps = deps_of(ctx)
    found = deps.client.post(f"/v1/candidates/{candidate}/accept", {"scope": scope})
    line = f"[green]accepted[/] document {found['document_id']}"
    print_done(deps, found, line, as_json=as_json)


@app.command()
def edit(
    ctx: typer.Context,
    candidate: Id,
    title: Annotated[str | None, typer.Option(help="What to call it.")] = None,
    text: Annotated[str | None, typer.Option(help="Markdown, or @FILE.")] = None,
    as_json: Json = False,
) -> None:
    """Change what it says; it waits on."""
    deps = deps_of(ctx)
    given = without_none({"title": title, "text": None if text is None else text_given(text)})
    edited = deps.client.post(f"/v1/candidates/{candidate}/edit", given)
    print_done(deps, edited, f"[green]edited[/] {candidate}", as_json=as_json)


@app.command()
def reject(
    ctx: typer.Context,
    candidate: Id,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why.")],
    as_json: Json = False,
) -> None:
    """Say no; it stays as a record."""
    deps = deps_of(ctx)
    rejected = deps.client.post(f"/v1/candidates/{candidate}/reject", {"reason": reason})
    print_done(deps, rejected, f"[green]rejected[/] {candidate}", as_json=as_json)


@proposals.command("list")
def list_proposals(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """List what was seen again and again and waits for a person, the newest first."""
    deps = deps_of(ctx)
    found = list(islice(deps.client.pages("/v1/proposals", limit=min(limit, 200)), limit))
    if as_json:
        return print_json(found)
    shown = table("id", "label", "what")
    for one in found:
        shown.add_row(one["id"], one["label"], escape(str(one["properties"].get("text", ""))))
    deps.out.print(shown)


@proposals.command("accept")
def accept_proposal(ctx: typer.Context, node: Node, as_json: Json = False) -> None:
    """Make a proposed node active."""
    deps = deps_of(ctx)
    active = deps.client.post(f"/v1/proposals/{node}/accept", {})
    print_done(deps, active, f"[green]active[/] {node}", as_json=as_json)


@proposals.command("reject")
def reject_proposal(ctx: typer.Context, node: Node, as_json: Json = False) -> None:
    """Archive a proposed node."""
    deps = deps_of(ctx)
    archived = deps.client.post(f"/v1/proposals/{node}/reject", {})
    print_done(deps, archived, f"[green]archived[/] {node}", as_json=as_json)
