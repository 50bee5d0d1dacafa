"""`cairn sources`: folders, repositories, services that documents are read of. Over the API."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cairn.cli import forget as forgetting
from cairn.cli.client import Failure
from cairn.cli.options import (
    Client,
    Json,
    NoSecret,
    Scope,
    Secret,
    deps_of,
    escape,
    moment,
    print_done,
    print_json,
    secrets_given,
    table,
    without_none,
)

app = typer.Typer(help="Where documents are read of.", no_args_is_help=True)
PATH = "/v1/sources"
POLL_SECONDS = 0.5
LONGEST_SECONDS = 3_600

Name = Annotated[str, typer.Argument(help="The source's name or id.")]
Include = Annotated[
    list[str] | None, typer.Option(help="Which paths, as .gitignore matches; repeat.")
]
Exclude = Annotated[
    list[str] | None, typer.Option(help="Which paths not, as .gitignore matches; repeat.")
]
Every = Annotated[int | None, typer.Option("--every", help="Seconds between readings.", min=300)]
MaxItems = Annotated[int | None, typer.Option(help="How many items it may have.")]
MaxBytes = Annotated[int | None, typer.Option(help="How many bytes they may have together.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Follow it to its end.")]
_COLOURS = {"active": "green", "paused": "yellow", "removing": "red"}
COUNTED = ("new", "changed", "gone", "unchanged", "skipped", "refused")


@app.command("list")
def list_sources(ctx: typer.Context, as_json: Json = False) -> None:
    """List sources, what stands of each, and how reading it goes."""
    deps = deps_of(ctx)
    items = deps.client.get(PATH)["items"]
    if as_json:
        return print_json(items)
    if not items:
        deps.out.print("there is no source; add one: cairn sources add NAME --site https://...")
        return
    shown = table("name", "kind", "state", "documents", "refused", "every", "read", "next")
    for each in items:
        read = moment(each["synced_at"]) if each["synced_at"] else "-"
        counts = [f"{each['documents']:,}", f"{each['refused']:,}"]
        when = [f"{each['sync_seconds']} s", read, moment(each["next_sync_at"])]
        shown.add_row(each["name"], each["kind"], _state(each), *counts, *when)
    deps.out.print(shown)


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What to call it.")],
    folder: Annotated[Path | None, typer.Option(help="A folder of this machine.")] = None,
    git: Annotated[str | None, typer.Option(help="The address of a repository.")] = None,
    branch: Annotated[str | None, typer.Option(help="A branch other than its usual one.")] = None,
    site: Annotated[str | None, typer.Option(help="The first page of a site.")] = None,
    host: Annotated[
        list[str] | None, typer.Option(help="Another host of the site; repeat.")
    ] = None,
    depth: Annotated[int | None, typer.Option(help="How many links may lead to a page.")] = None,
    delay: Annotated[float | None, typer.Option(help="Seconds between two requests.")] = None,
    bucket: Annotated[str | None, typer.Option(help="An S3 bucket.")] = None,
    prefix: Annotated[str | None, typer.Option(help="What is below it in the bucket.")] = None,
    region: Annotated[str | None, typer.Option(help="The bucket's, where it is another.")] = None,
    confluence: Annotated[str | None, typer.Option(help="A site of Confluence Cloud.")] = None,
    notion: Annotated[bool, typer.Option("--notion", help="What an integration sees.")] = False,
    tickets: Annotated[bool, typer.Option("--tickets", help="Resolved tickets.")] = False,
    ticket_source: Annotated[
        list[str] | None, typer.Option(help="Tickets of this source only; repeat.")
    ] = None,
    after_days: Annotated[int | None, typer.Option(help="Resolved for so many days.")] = None,
    space: Annotated[list[str] | None, typer.Option(help="A space's key; repeat.")] = None,
    username: Annotated[str | None, typer.Option(help="Whose the token is.")] = None,
    include: Include = None,
    exclude: Exclude = None,
    secret: Secret = None,
    client: Client = None,
    scope: Scope = None,
    every: Every = None,
    max_items: MaxItems = None,
    max_bytes: MaxBytes = None,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Add a source; it is read from now on. What is private needs --secret token."""
    places = {"folder": folder and str(folder.resolve()), "git": git, "site": site}
    places |= {"bucket": bucket, "confluence": confluence, "notion": "" if notion else None}
    places |= {"tickets": "" if tickets else None}
    kinds = [kind for kind, value in places.items() if value is not None]
    if len(kinds) != 1:
        raise typer.BadParameter(f"Give one of --{', --'.join(places)}.")
    config = {"path": places["folder"], "url": git or site or confluence, "branch": branch}
    config |= {"hosts": host, "depth": depth, "delay_seconds": delay, "spaces": space}
    config |= {"bucket": bucket, "prefix": prefix, "region": region}
    config |= {"include": include, "exclude": exclude, "username": username}
    config |= {"sources": ticket_source, "after_days": after_days}
    body = {
        "name": name,
        "kind": kinds[0],
        "config": without_none(config),
        "secrets": secrets_given(secret),
        "client_id": client,
        "scope": scope,
        "sync_seconds": every,
        "max_items": max_items,
        "max_bytes": max_bytes,
    }
    source = deps_of(ctx).client.post(PATH, without_none(body))
    _print_source(ctx, _followed(ctx, source) if wait else source, as_json=as_json)


@app.command()
def show(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show a source: the run under way, the last one, what a preview found out, the last error."""
    deps = deps_of(ctx)
    source = _find(ctx, name)
    if as_json:
        return print_json(source)
    _print(ctx, source)
    for title, report in (("last sync", "last_sync"), ("last preview", "last_preview")):
        if source[report] is not None:
            deps.out.print(f"{title}: {_counts(source[report])}", highlight=False)
            _print_changes(ctx, source[report])


@app.command("set")
def change(
    ctx: typer.Context,
    name: Name,
    include: Include = None,
    exclude: Exclude = None,
    secret: Secret = None,
    no_secret: NoSecret = None,
    every: Every = None,
    max_items: MaxItems = None,
    max_bytes: MaxBytes = None,
    pause: Annotated[
        bool | None, typer.Option("--pause/--resume", help="Stop reading it, or go on.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Change a source. To read another place, add another source."""
    source = _find(ctx, name)
    patterns = without_none({"include": include, "exclude": exclude})
    body = {
        "config": {**source["config"], **patterns} if patterns else None,
        "secrets": secrets_given(secret, no_secret),
        "sync_seconds": every,
        "max_items": max_items,
        "max_bytes": max_bytes,
        "paused": pause,
    }
    if not without_none(body):
        raise Failure("There is nothing to change.", advice="see cairn sources set --help")
    done = deps_of(ctx).client.patch(f"{PATH}/{source['id']}", without_none(body))
    _print_source(ctx, done, as_json=as_json)


@app.command()
def sync(
    ctx: typer.Context,
    name: Name,
    accept_deletions: Annotated[
        bool, typer.Option("--accept-deletions", help="Most of it is gone on purpose.")
    ] = False,
    wait: Wait = True,
    as_json: Json = False,
) -> None:
    """Read a source now. Exit status 1 when that failed."""
    source = _find(ctx, name)
    path = f"{PATH}/{source['id']}/sync"
    begun = deps_of(ctx).client.post(path, {"accept_deletions": accept_deletions})
    done = _followed(ctx, begun) if wait else begun
    _print_source(ctx, done, as_json=as_json)
    _fail_as(done, wait=wait)


@app.command()
def preview(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Find out what a sync would change; nothing is. Exit status 1 when that failed."""
    source = _find(ctx, name)
    done = _followed(ctx, deps_of(ctx).client.post(f"{PATH}/{source['id']}/preview", {}))
    if as_json:
        print_json(done["last_preview"])
    elif done["last_preview"] is not None:
        out = deps_of(ctx).out
        out.print(f"it would be: {_counts(done['last_preview'])}", highlight=False)
        _print_changes(ctx, done["last_preview"])
    _fail_as(done, wait=True)


@app.command()
def remove(
    ctx: typer.Context,
    name: Name,
    documents: Annotated[
        bool, typer.Option("--documents/--keep-documents", help="Delete what it brought, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove a source with its secrets. What it brought stays unless --documents."""
    source = _find(ctx, name)
    query = {"documents": "true"} if documents else {}
    gone = deps_of(ctx).client.delete(f"{PATH}/{source['id']}", **query)
    outcome = "goes with its documents" if documents else "removed; its documents stay"
    print_done(deps_of(ctx), gone, f"{escape(source['name'])}: {outcome}", as_json=as_json)


@app.command()
def forget(
    ctx: typer.Context,
    name: Name,
    reason: forgetting.ReasonOption = "request",
    dry_run: forgetting.DryRun = False,
    prove: forgetting.Prove = False,
    canary: forgetting.Canary = None,
    yes: forgetting.Yes = False,
    as_json: Json = False,
) -> None:
    """Destroy a source and all it brought: as `cairn forget --source source://NAME`."""
    forgetting.forget(
        ctx,
        source=f"source://{name}",
        reason=reason,
        dry_run=dry_run,
        prove=prove,
        canary=canary,
        yes=yes,
        as_json=as_json,
    )


def _find(ctx: typer.Context, name: str) -> dict[str, Any]:
    """Return a source by its name or its id."""
    for each in deps_of(ctx).client.get(PATH)["items"]:
        if name in (each["name"], each["id"]):
            return each
    raise Failure(f"There is no source {name}.", advice="see cairn sources list")


def _followed(ctx: typer.Context, source: dict[str, Any]) -> dict[str, Any]:
    """Return the source when its run has ended."""
    deps = deps_of(ctx)
    with deps.err.status("reading …") as status:
        for _ in range(int(LONGEST_SECONDS / POLL_SECONDS)):
            if source["run"] is None:
                return source
            status.update(f"reading … {_counts(source['run'])}")
            deps.sleep(POLL_SECONDS)
            source = deps.client.get(f"{PATH}/{source['id']}")
    raise Failure("Gave up waiting: the run goes on.", advice="see cairn sources show")


def _fail_as(source: dict[str, Any], *, wait: bool) -> None:
    if wait and source["error"]:
        raise Failure(source["error_detail"] or source["error"])


def _print_source(ctx: typer.Context, source: dict[str, Any], *, as_json: bool) -> None:
    print_json(source) if as_json else _print(ctx, source)


def _print(ctx: typer.Context, source: dict[str, Any]) -> None:
    out = deps_of(ctx).out
    out.print(f"{source['name']} ({source['kind']}) {_state(source)}  {source['id']}")
    counts = f"{source['documents']:,} documents, {source['bytes']:,} bytes"
    out.print(f"  {counts}, {source['refused']:,} refused", highlight=False)
    if source["run"] is not None:
        so_far = _counts(source["run"], none=f"see cairn sources show {source['name']}")
        out.print(f"  {source['run']['mode']} under way: {so_far}", highlight=False)
    if source["error"]:
        out.print(f"  [red]{escape(source['error_detail'] or source['error'])}[/]")


def _print_changes(ctx: typer.Context, report: dict[str, Any]) -> None:
    for each in report["changes"]:
        reason = f"  ({each['reason']})" if each["reason"] else ""
        line = f"  {each['what']:8} {escape(each['key'])}{reason}"
        deps_of(ctx).out.print(line, highlight=False)


def _counts(report: dict[str, Any], *, none: str = "nothing") -> str:
    return ", ".join(f"{report[name]:,} {name}" for name in COUNTED if report[name]) or none


def _state(source: dict[str, Any]) -> str:
    failing = " [red](failing)[/]" if source["failures"] else ""
    return f"[{_COLOURS[source['state']]}]{source['state']}[/]{failing}"
