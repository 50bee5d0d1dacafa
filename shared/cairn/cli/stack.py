"""`cairn up`, `down`, `status`, `logs`, `reset`: the laptop stack. Its work is in infra/local."""

import sys
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout, suppress
from typing import Annotated, Any, TypeVar

import typer

from cairn.cli.consolidate import last_run, told
from cairn.cli.failure import Failure
from cairn.cli.options import Json, deps_of, print_json, table
from cairn.cli.queues import waiting_since
from cairn.cli.reindex import advise_reindex

T = TypeVar("T")


def up(
    ctx: typer.Context,
    opensearch: Annotated[
        bool, typer.Option("--opensearch", help="Find words with OpenSearch: Java and Maven.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Start the laptop stack, deploy the app into it, migrate, and make the first key."""
    deps = deps_of(ctx)
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        values = _started(lambda: deps.load_stack().up(opensearch=opensearch))
    if as_json:
        return print_json({"url": values.get("CAIRN_URL"), "env_file": ".local/cairn.env"})
    deps.out.print(f"[green]up[/] at {values.get('CAIRN_URL')}, key in .local/cairn.env")
    with suppress(Failure):  # the stack is up, whatever key the shell has
        advise_reindex(deps)


def down(ctx: typer.Context, as_json: Json = False) -> None:
    """Stop the laptop stack; its data stays."""
    deps = deps_of(ctx)
    stopped = deps.load_stack().down()
    if as_json:
        return print_json({"stopped": stopped})
    deps.out.print(f"stopped: {', '.join(stopped)}" if stopped else "nothing was running")


def status(ctx: typer.Context, as_json: Json = False) -> None:
    """Show what runs and how much work waits; exit status 1 when a part is down."""
    deps = deps_of(ctx)
    found = deps.load_stack().status()
    running = found["state"] == "running"
    waiting = deps.client.get("/v1/status") if running else None
    last = last_run(deps) if running else None
    if as_json:
        print_json({**found, "workspace": waiting, "last_consolidation": last})
    else:
        deps.out.print(_services(found))
        if waiting:
            deps.out.print(
                f"{waiting['memories']} memories, {waiting['documents']} documents, ledger at "
                f"{waiting['ledger_position']}; {waiting['pending_embeddings']} wait for their "
                f"embedding, {waiting['failed_embeddings']} failed"
            )
            oldest = waiting_since(waiting)
            if oldest.behind:
                deps.out.print(
                    f"[yellow]the oldest of them has waited {oldest.minutes}: "
                    "cairn up starts the workers again, cairn doctor says more[/]"
                )
            deps.out.print(
                told(last) if last else "no consolidation yet; every six hours by itself"
            )
            advise_reindex(deps)
    if not running:
        raise typer.Exit(1)


def _services(found: dict[str, Any]) -> Any:
    shown = table("service", "state", "pid", "where")
    for name, service in found["services"].items():
        colour = "green" if service["state"] == "running" else "red"
        pid = str(service["pid"] or "-")
        shown.add_row(name, f"[{colour}]{service['state']}[/]", pid, str(service["where"]))
    return shown


def logs(
    ctx: typer.Context,
    service: Annotated[
        str, typer.Argument(help="postgres, aws, api or opensearch; all without.")
    ] = "",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as lines come.")] = False,
    as_json: Json = False,
) -> None:
    """Print the end of the logs."""
    try:
        for line in deps_of(ctx).load_stack().logs(service, follow=follow):
            if as_json:
                print_json({"line": line})
            else:
                typer.echo(line)
    except ValueError as exc:
        raise typer.BadParameter(str(exc)) from exc


def reset(
    ctx: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Stop the laptop stack and delete all its data: ledger, memories, files and keys."""
    if not yes:
        typer.confirm("Delete all data of the laptop stack?", abort=True, err=True)
    deps = deps_of(ctx)
    deps.load_stack().reset()
    if as_json:
        print_json({"reset": True})
    else:
        deps.out.print("the laptop stack is gone; `make run` makes a new one")


def _started(start: Callable[[], T]) -> T:
    """Return what `start` returns; the launcher's own errors become a failure."""
    try:
        return start()
    except RuntimeError as exc:
        raise Failure(str(exc), advice="see the logs: cairn logs") from exc
