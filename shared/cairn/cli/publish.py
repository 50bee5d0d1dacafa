"""`cairn publish`: what everybody may read, without a key. Over the API."""

import base64
from pathlib import Path
from typing import Annotated, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.options import Json, deps_of, escape, print_done, print_json, table, without_none

app = typer.Typer(help="What everybody may read, on a host of its own.", no_args_is_help=True)
PATH = "/v1/publications"
Name = Annotated[
    str | None, typer.Option(help="The name in its address; without one nobody can guess it.")
]
Title = Annotated[str | None, typer.Option(help="What stands above it.")]


@app.command()
def report(
    ctx: typer.Context,
    report_id: Annotated[str, typer.Argument(help="The report's id.")],
    name: Name = None,
    title: Title = None,
    as_json: Json = False,
) -> None:
    """Publish a report as it is now."""
    _publish(ctx, {"report_id": report_id, "name": name, "title": title}, as_json=as_json)


@app.command()
def document(
    ctx: typer.Context,
    document_id: Annotated[str, typer.Argument(help="The document's id.")],
    name: Name = None,
    title: Title = None,
    as_json: Json = False,
) -> None:
    """Publish the text of a document as it is now."""
    _publish(ctx, {"document_id": document_id, "name": name, "title": title}, as_json=as_json)


@app.command()
def folder(
    ctx: typer.Context,
    path: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, help="HTML, CSS, images, fonts.")
    ],
    title: Annotated[str, typer.Option(help="What it is called in lists.")],
    name: Name = None,
    as_json: Json = False,
) -> None:
    """Publish the files of a folder; links out of it are refused, scripts are not served."""
    _publish(ctx, {"files": _files(path), "name": name, "title": title}, as_json=as_json)


@app.command("list")
def list_(ctx: typer.Context, as_json: Json = False) -> None:
    """List what is published, with addresses."""
    deps = deps_of(ctx)
    listed = deps.client.get(PATH)
    if as_json:
        return print_json(listed)
    rows = table("Id", "Kind", "Title", "Address", whole="Address")
    for item in listed["items"]:
        address = item["url"] or "-"
        state = "" if item["is_served"] else " (not shown)"
        rows.add_row(item["id"], item["kind"], escape(item["title"]), f"{address}{state}")
    deps.out.print(rows)


@app.command()
def host(ctx: typer.Context, as_json: Json = False) -> None:
    """Print what addresses of this workspace begin with."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"{PATH}/host")
    if as_json:
        return print_json(answer)
    if answer["url"] is None:
        raise Failure(
            f"This deployment serves no sites ({answer['reason']}).",
            advice="its operator sets CAIRN_SITES_URL, on AWS the option sites_url",
        )
    deps.out.print(answer["url"])


@app.command()
def withdraw(
    ctx: typer.Context,
    publication_id: Annotated[str, typer.Argument(help="The publication's id.")],
    as_json: Json = False,
) -> None:
    """Take a publication off the web, at once."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"{PATH}/{publication_id}")
    print_done(deps, gone, f"withdrawn {gone['id']}", as_json=as_json)


def _publish(ctx: typer.Context, body: dict[str, Any], *, as_json: bool) -> None:
    deps = deps_of(ctx)
    done = deps.client.post(PATH, without_none(body))
    line = f"[green]published[/] {done['id']}: {done['url']}"
    print_done(deps, done, line, as_json=as_json)


def _files(folder: Path) -> list[dict[str, str]]:
    """Return the files of a folder as the API takes them; Failure for a link out of it."""
    root = folder.resolve()
    files: list[dict[str, str]] = []
    for path in sorted(folder.rglob("*")):
        if not path.resolve().is_relative_to(root):
            raise Failure(f"{path.relative_to(folder)} is a link out of the folder.")
        if path.is_file():
            content = base64.b64encode(path.read_bytes()).decode()
            files.append({"path": path.relative_to(folder).as_posix(), "content_base64": content})
    return files
