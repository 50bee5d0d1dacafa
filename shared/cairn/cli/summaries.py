"""`cairn summaries`: what happened, in short, and what each summary is made of, as a tree."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.options import Json, deps_of, escape, print_json

if TYPE_CHECKING:
    from rich.tree import Tree

app = typer.Typer(help="What happened, in short.", no_args_is_help=True)

TEXT_CHARS = 100
AsOf = Annotated[str | None, typer.Option("--as-of", help="A time, or a ledger position.")]


@app.command("list")
def list_summaries(
    ctx: typer.Context,
    scope: Annotated[str | None, typer.Option(help="episode, session or agent.")] = None,
    of: Annotated[str | None, typer.Option("--of", help="A trace, a session or an agent.")] = None,
    limit: Annotated[int, typer.Option(help="How many, up to 200.")] = 20,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """List summaries, the latest first."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/summaries", scope=scope, scope_id=of, limit=limit, as_of=as_of)
    if as_json:
        return print_json(found)
    from rich.table import Table

    table = Table("of", "when", "events", "text", "id", box=None, header_style="dim")
    for one in found["items"]:
        of_what = f"{one['scope']} {one['scope_id'] or ''}"
        table.add_row(
            escape(of_what), _day(one), str(one["event_count"]), escape(_short(one)), one["id"]
        )
    deps.out.print(table)
    if found["next_cursor"]:
        deps.out.print("[dim]there are more[/]")


@app.command()
def show(
    ctx: typer.Context,
    summary_id: Annotated[str, typer.Argument(help="Which summary.")],
    depth: Annotated[int, typer.Option(help="Levels below it, 0 to 3.")] = 3,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Show a summary, and what it is made of down to the events and messages."""
    deps = deps_of(ctx)
    found = deps.client.get(f"/v1/summaries/{summary_id}", depth=depth, as_of=as_of)
    if as_json:
        return print_json(found)
    made_by = "by rules" if found["is_extract"] else f"by {found['model']}"
    deps.out.print(escape(found["content"]))
    deps.out.print(f"[dim]{found['event_count']} events, {escape(made_by)}[/]")
    deps.out.print(tree(found))
    if found["meta"]["truncated"]:
        deps.out.print("[yellow]there is more below than is shown[/]")


def tree(found: Mapping[str, Any]) -> "Tree":
    """Return a summary with its children as a tree."""
    from rich.tree import Tree

    root = Tree(_line(found), guide_style="dim")
    _grow(root, found)
    return root


def _grow(under: "Tree", node: Mapping[str, Any]) -> None:
    for child in node["children"]:
        _grow(under.add(_line(child)), child)


def _line(node: Mapping[str, Any]) -> str:
    if node["label"] == "Summary":
        name = f"[green]{escape(node['scope'])}[/] {escape(node['scope_id'] or '')}"
    else:
        name = f"[cyan]{escape(node['label'])}[/] {escape(node['kind'] or '')}"
    return f"{name} [dim]{_day(node)}[/] {escape(_short(node))}"


def _short(node: Mapping[str, Any]) -> str:
    text = " ".join(str(node.get("content", node.get("text"))).split())
    return text if len(text) <= TEXT_CHARS else text[: TEXT_CHARS - 1] + "\u2026"


def _day(node: Mapping[str, Any]) -> str:
    return str(node["occurred_at"])[:16].replace("T", " ")
