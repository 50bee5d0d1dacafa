"""`cairn connectors test`: whether a connector keeps the contract. It needs no stack and no key."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.failure import Failure
from cairn.cli.options import Json, deps_of, escape, print_json, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp import StdioServerParameters

    from cairn.bundled.examination import Check

_COLOURS = {"passed": "green", "failed": "red", "skipped": "yellow"}
_NOT_PASSED_ON = re.compile(r"CAIRN_|AWS_")


CONTEXT = {"allow_interspersed_args": False}
"""Of the command: options of the tested command are its own."""


def test(
    ctx: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(help="The command that serves MCP on its standard input and output."),
    ] = None,
    url: Annotated[str | None, typer.Option(help="An address of streamable HTTP instead.")] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            help="JSON: `arguments` by tool, a `large` call, `writes` that may really be done.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(help="What a start may take.", min=0.1, max=120)] = 2.0,
    as_json: Json = False,
) -> None:
    """Ask a connector everything the contract promises; exit status 1 if it breaks a promise.

    Tools that write are called with dry_run only, unless --samples say what may be written. The
    command gets this shell's variables, without those of Cairn and AWS.
    """
    from cairn.bundled.contract import Samples
    from cairn.bundled.examination import examine
    from cairn.bundled.samples import read_samples

    if bool(command) == bool(url):
        raise Failure("Give either a command or --url.", advice="cairn connectors test --help")
    given = Samples() if samples is None else read_samples(samples.read_bytes())
    target = url if url else _started(command or [])
    checks = examine(target, given, initialize_seconds=seconds)
    if as_json:
        print_json(_as_json(checks))
    else:
        _show(ctx, checks)
    if any(one.status == "failed" for one in checks):
        raise typer.Exit(1)


def _started(command: "Sequence[str]") -> "StdioServerParameters":
    from mcp import StdioServerParameters

    from cairn.bundled.configuration import environment

    given = environment()
    passed_on = {name: given[name] for name in given if not _NOT_PASSED_ON.match(name)}
    name = sys.executable if command[0] == "python" else command[0]
    return StdioServerParameters(command=name, args=list(command[1:]), env=passed_on)


def _as_json(checks: "Sequence[Check]") -> dict[str, Any]:
    return {
        "passed": all(one.status != "failed" for one in checks),
        "checks": [
            {
                "name": one.name,
                "promise": one.promise,
                "status": one.status.value,
                "detail": one.detail,
                "ms": one.ms,
            }
            for one in checks
        ],
    }


def _show(ctx: typer.Context, checks: "Sequence[Check]") -> None:
    out = deps_of(ctx).out
    shown = table("check", "what is promised", "", "seen", "ms")
    for one in checks:
        status = f"[{_COLOURS[one.status.value]}]{one.status.value}[/]"
        shown.add_row(one.name, escape(one.promise), status, escape(one.detail), str(one.ms))
    out.print(shown)
    failed = sum(one.status == "failed" for one in checks)
    skipped = sum(one.status == "skipped" for one in checks)
    if failed:
        out.print(f"[red]{failed} of {len(checks)} promises broken[/]")
        return
    rest = f", {skipped} not asked: see --samples" if skipped else ""
    out.print(f"[green]every promise kept[/]{rest}")
