"""`cairn memory`: the graph and the memories in and out, those of other stores. Over the API."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.client import Client as ApiClient
from cairn.cli.foreign import Store, read_items
from cairn.cli.importing import Importing, Sending, Tried, shown
from cairn.cli.memory_graph import Backend, Only, import_file, moved, write_file
from cairn.cli.options import Client, Json, deps_of, print_json

if TYPE_CHECKING:
    from cairn.cli.deps import Deps

app = typer.Typer(
    help="The memory graph and memories in and out; other stores.", no_args_is_help=True
)

File = Annotated[Path, typer.Argument(help="An export, or with --from one of another store.")]
From = Annotated[Store | None, typer.Option("--from", help="What wrote it, if not Cairn.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="A file; standard output without.")]
OnlyPart = Annotated[
    Only | None, typer.Option("--only", help="Nodes and edges, or memories; both without.")
]
To = Annotated[Backend, typer.Option("--to", help="postgres, or memory to rehearse.")]
Url = Annotated[str | None, typer.Option("--url", help="Of the other deployment's API.")]
Key = Annotated[
    str | None,
    typer.Option(
        "--key", envvar="CAIRN_TARGET_API_KEY", show_envvar=True, help="Of an admin there."
    ),
]


@app.command()
def export(
    ctx: typer.Context, out: Out = None, only: OnlyPart = None, as_json: Json = False
) -> None:
    """Write nodes with natural keys, their edges, and memories as canonical JSON lines.

    Documents and events travel with the ledger: `cairn ledger export`.
    """
    deps = deps_of(ctx)
    told = write_file(deps, out, only)
    if out is None:
        deps.err.print(_counts(told))
    elif as_json:
        print_json(told)
    else:
        deps.err.print(f"{_counts(told)} in {out}", markup=False)


@app.command("import")
def import_(
    ctx: typer.Context,
    file: File,
    source: From = None,
    client: Client = None,
    scope: Annotated[str, typer.Option(help="public, shared or admin.")] = "admin",
    only: OnlyPart = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Import an export of Cairn, or of mem0 or Graphiti. A second import adds nothing.

    Cairn's own file is read whole first: one that was cut or changed is refused, its line named,
    and nothing is written. The exit status is 1 when a memory was refused, or a record of another
    store could not be read; the others stand.
    """
    deps = deps_of(ctx)
    if source is None:
        _import_file(deps, file, only, dry_run=dry_run, as_json=as_json)
        return
    if only is not None:
        raise typer.BadParameter("--only is for Cairn's own file, not for one --from elsewhere.")
    items = read_items(source, file, client_id=client or "global", scope=scope)
    importing: Importing = Tried() if dry_run else Sending(deps.client)
    with deps.err.status("reading …") as line:
        for item in items:
            importing.take(item)
            line.update(f"{importing.read} records read, {importing.written} written …")
        importing.finish()
    told = importing.told()
    if as_json:
        print_json(told)
    else:
        shown(deps, told)
    if told["refused"] or told["unreadable"]:
        raise typer.Exit(1)


@app.command()
def migrate(
    ctx: typer.Context, to: To, url: Url = None, key: Key = None, as_json: Json = False
) -> None:
    """Move the memory graph into another workspace, or rehearse it in memory, and compare.

    The exit status is 1 when both do not export the same then: the other one held something before.
    """
    deps = deps_of(ctx)
    target = None
    if url and key:
        target = ApiClient(url, key, sleep=deps.sleep, transport=deps.transport)
    told = moved(deps, to, target)
    if as_json:
        print_json(told)
    else:
        same = "the same" if told["equal"] else "not the same"
        deps.out.print(f"{_counts(told)} moved, {told['changed']} changed; both export {same}")
    if not told["equal"]:
        raise typer.Exit(1)


def _import_file(
    deps: "Deps", file: Path, only: Only | None, *, dry_run: bool, as_json: bool
) -> None:
    told = import_file(deps, file, dry_run=dry_run, only=only)
    if as_json:
        print_json(told)
    elif dry_run:
        deps.out.print(f"{_counts(told)} would be written, or stand already")
    else:
        deps.out.print(f"{_counts(told)} read, {told['changed']} changed")
    for bad in told["refused"]:
        deps.err.print(f"line {bad['line']}: {bad['why']}", style="yellow", markup=False)
    if told["refused"]:
        raise typer.Exit(1)


def _counts(told: dict[str, Any]) -> str:
    return f"{told['nodes']} nodes, {told['edges']} edges and {told['memories']} memories"
