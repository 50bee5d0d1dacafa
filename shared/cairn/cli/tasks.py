"""`cairn tasks`: pieces of work, how they go, and what came of them."""

from itertools import islice
from typing import Annotated, Any

import typer

from cairn.cli.options import Json, deps_of, escape, print_json, table

app = typer.Typer(help="Longer pieces of work, and what they produced.", no_args_is_help=True)

_COLOURS = {"completed": "green", "failed": "red", "cancelled": "dim"}


@app.command("list")
def list_tasks(
    ctx: typer.Context,
    kind: Annotated[str | None, typer.Option(help="Such as tunnel-login.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """List tasks, newest first."""
    deps = deps_of(ctx)
    found = list(islice(deps.client.pages("/v1/nodes", label="Task", kind=kind), limit))
    if as_json:
        return print_json(found)
    shown = table("id", "kind", "title", "status", "begun")
    for each in found:
        begun = str(each["metadata"].get("started_at", ""))[:16].replace("T", " ")
        title = escape(each["title"] or "")
        shown.add_row(each["id"], escape(each["kind"] or ""), title, _status(each), begun)
    deps.out.print(shown)


@app.command()
def show(
    ctx: typer.Context,
    task: Annotated[str, typer.Argument(help="The task's id.")],
    as_json: Json = False,
) -> None:
    """Show a task: its inputs, its steps, what raised it and what it produced."""
    deps = deps_of(ctx)
    found = deps.client.get(f"/v1/nodes/{task}")
    if as_json:
        return print_json(found)
    from rich.pretty import Pretty
    from rich.tree import Tree

    tree = Tree(f"[bold]{escape(found['title'] or '')}[/]  {_status(found)}")
    told = found["metadata"]
    if told.get("inputs"):
        tree.add("inputs").add(Pretty(told["inputs"]))
    for each in told.get("steps", []):
        tree.add(f"[dim]{str(each['at'])[:19]}[/]  {escape(each['note'])}")
    if told.get("outcome"):
        tree.add(f"[bold]outcome[/]  {escape(told['outcome'])}")
    for each in found["edges"]["strongest"]:
        other = each["node"]
        said = f"{each['relation']}  {escape(other['label'])} {escape(other['title'][:70])}"
        tree.add(f"{said}  [dim]{other['id']}[/]")
    deps.out.print(tree)


def _status(task: dict[str, Any]) -> str:
    status = str(task["metadata"].get("status", "-"))
    return f"[{_COLOURS.get(status, 'cyan')}]{status}[/]"
