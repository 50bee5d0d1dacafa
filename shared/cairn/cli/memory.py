"""`cairn memory`: memories of other stores. Writes go through the API like any other."""

from pathlib import Path
from typing import Annotated

import typer

from cairn.cli.foreign import Store, read_items
from cairn.cli.importing import Importing, Sending, Tried, shown
from cairn.cli.options import Client, Json, Scope, deps_of, print_json

app = typer.Typer(help="Memories of other stores: import them.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(help="The export: JSON, or NDJSON with a record a line.")]
From = Annotated[Store, typer.Option("--from", help="What wrote the file.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")]


@app.command("import")
def import_(
    ctx: typer.Context,
    file: File,
    source: From,
    client: Client = None,
    scope: Scope = "admin",
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Import an export of mem0 or Graphiti. A second import adds nothing.

    The exit status is 1 when a record could not be read or was refused; the others stand.
    """
    deps = deps_of(ctx)
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
