"""`cairn entities`: who and what is spoken of, and correcting it."""

from itertools import islice
from typing import Annotated, Any

import typer

from cairn.cli.failure import Failure
from cairn.cli.options import Json, deps_of, escape, print_json, table

app = typer.Typer(help="Who and what is spoken of, and correcting it.", no_args_is_help=True)

Entity = Annotated[str, typer.Argument(help="The entity's id.")]


@app.command("list")
def list_entities(
    ctx: typer.Context,
    q: Annotated[str | None, typer.Argument(help="Part of a name or an alias.")] = None,
    type: Annotated[str | None, typer.Option(help="Such as person or technology.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """List entities by name."""
    deps = deps_of(ctx)
    found = list(islice(deps.client.pages("/v1/entities", q=q, type=type), limit))
    if as_json:
        return print_json(found)
    shown = table("id", "name", "type", "links here")
    for each in found:
        name, links = escape(each["name"]), str(each["backlink_count"])
        shown.add_row(each["id"], name, escape(each["type"]), links)
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, entity: Entity, as_json: Json = False) -> None:
    """Show an entity: its names, mentions and strongest relations."""
    deps = deps_of(ctx)
    found = deps.client.get(f"/v1/entities/{entity}")
    if as_json:
        return print_json(found)
    deps.out.print(f"[bold]{escape(found['name'])}[/]  [dim]{escape(found['type'])}[/]")
    if found["superseded_by"]:
        deps.out.print(f"[yellow]merged into[/] {found['superseded_by']}")
    if found["aliases"]:
        deps.out.print(f"also {escape(', '.join(found['aliases']))}")
    roles = ", ".join(f"{count} {role}" for role, count in sorted(found["roles"].items()))
    seen = " to ".join(
        moment[:10] for moment in (found["first_seen"], found["last_seen"]) if moment
    )
    deps.out.print(f"{found['mention_count']} mentions {roles}  [dim]{seen}[/]")
    if found["compiled_truth"]:
        deps.out.print(f"[green]held true:[/] {escape(found['compiled_truth'])}")
    deps.out.print(_relations(found["relations"]))


def _relations(relations: list[dict[str, Any]]) -> Any:
    shown = table("", "relation", "entity", "strength")
    for each in relations:
        arrow = "\u2192" if each["direction"] == "out" else "\u2190"
        name, strength = escape(each["entity"]["title"]), f"{each['strength']:g}"
        shown.add_row(arrow, each["relation"], name, strength)
    return shown


@app.command()
def alias(
    ctx: typer.Context,
    entity: Entity,
    name: Annotated[str, typer.Argument(help="The other name.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take the name away.")] = False,
    as_json: Json = False,
) -> None:
    """Give an entity one more name, or take one away."""
    client = deps_of(ctx).client
    path = f"/v1/entities/{entity}/aliases"
    done = client.delete(path, alias=name) if remove else client.post(path, {"alias": name})
    _changed(ctx, done, "removed" if remove else "added", as_json=as_json)


@app.command()
def merge(
    ctx: typer.Context,
    entity: Entity,
    into: Annotated[str, typer.Argument(help="The id of the entity it is part of.")],
    as_json: Json = False,
) -> None:
    """Make an entity part of another one."""
    done = deps_of(ctx).client.post(f"/v1/entities/{entity}/merge", {"into": into})
    _changed(ctx, done, "merged into", as_json=as_json)


@app.command()
def split(
    ctx: typer.Context,
    entity: Entity,
    undo: Annotated[str | None, typer.Option(help="The merged entity's id.")] = None,
    name: Annotated[str | None, typer.Option(help="What the mentions meant.")] = None,
    type: Annotated[str | None, typer.Option(help="Its type; the same without.")] = None,
    mention: Annotated[list[str] | None, typer.Option(help="A node's id; repeat.")] = None,
    as_json: Json = False,
) -> None:
    """Undo a merge, or move mentions to another entity."""
    if undo is None and not (name and mention):
        raise Failure("Give --undo ID, or --name with at least one --mention ID.")
    body: dict[str, Any] = {"undo": undo} if undo else {"name": name, "mentions": mention}
    if type is not None and undo is None:
        body["type"] = type
    done = deps_of(ctx).client.post(f"/v1/entities/{entity}/split", body)
    _changed(ctx, done, "stands", as_json=as_json)


def _changed(ctx: typer.Context, done: dict[str, Any], what: str, *, as_json: bool) -> None:
    if as_json:
        return print_json(done)
    moved = f", {done['moved_edges']} edges moved" if done["moved_edges"] else ""
    deps_of(ctx).out.print(
        f"[green]{what}[/] {done['id']}  [dim]ledger {done['position']}{moved}[/]"
    )
