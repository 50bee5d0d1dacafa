"""`cairn connectors allow`, `allowed` and `disallow`: which commands this machine's owner lets run.

They change a file of the machine, beside the stack; no API and no key of Cairn can.
"""

import shlex
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cairn.adapters.files.commands import CommandFile
from cairn.cli.deps import Deps
from cairn.cli.failure import Failure
from cairn.cli.options import Json, deps_of, escape, print_json, table
from cairn.connectors.commands import AllowedCommand
from cairn.connectors.launching import VARIABLE, is_ours

Command = Annotated[list[str], typer.Argument(help="The whole command, after --.")]


def allow(
    ctx: typer.Context,
    command: Command,
    env: Annotated[
        list[str] | None, typer.Option(help="A variable or secret it may be given.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Let a command run as a connector: word for word, with these variables and no others."""
    deps = deps_of(ctx)
    file = _file(deps)
    entry = AllowedCommand(
        command=tuple(command), program=_program(command), variables=_variables(env or [])
    )
    file.write([*(one for one in file.read() if one.command != entry.command), entry])
    if as_json:
        print_json(asdict(entry))
    else:
        deps.out.print(f"[green]allowed[/] {entry.program}: any admin of a workspace may run it")


def allowed(ctx: typer.Context, as_json: Json = False) -> None:
    """List the commands that may run as connectors."""
    deps = deps_of(ctx)
    entries = _file(deps).read()
    if as_json:
        return print_json([asdict(entry) for entry in entries])
    shown = table("command", "program", "variables")
    for entry in entries:
        names = ", ".join(entry.variables) or "-"
        shown.add_row(escape(shlex.join(entry.command)), escape(entry.program), names)
    deps.out.print(shown)


def disallow(ctx: typer.Context, command: Command, as_json: Json = False) -> None:
    """Let a command run no more; connectors that run it are refused at their next start."""
    deps = deps_of(ctx)
    file = _file(deps)
    entries = file.read()
    kept = [entry for entry in entries if entry.command != tuple(command)]
    if len(kept) == len(entries):
        raise Failure("This command is not allowed.", advice="see cairn connectors allowed")
    file.write(kept)
    if as_json:
        print_json({"disallowed": command})
    else:
        deps.out.print(f"[green]disallowed[/] {shlex.join(command)}", highlight=False)


def _file(deps: Deps) -> CommandFile:
    path = deps.settings.connector_commands
    if path is None:
        raise Failure(
            "Commands run on a laptop only, and CAIRN_CONNECTOR_COMMANDS names no file here.",
            advice="make run, or go to the folder with .local/cairn.env",
        )
    return CommandFile(path)


def _program(command: list[str]) -> str:
    """Return the file to be run; connectors start in another folder, so paths are full ones."""
    found = shutil.which(command[0])
    if found is None or not Path(found).is_absolute():
        raise Failure(f"{command[0]} is no program on the PATH.", advice="write its path in full")
    for part in command[1:]:
        if not Path(part).is_absolute() and Path(part).is_file():
            raise Failure(f"{part} is a file of this folder.", advice="write its path in full")
    return found


def _variables(names: list[str]) -> tuple[str, ...]:
    for name in names:
        if not VARIABLE.fullmatch(name) or is_ours(name):
            raise Failure(f"{name} is no variable that a connector may be given.")
    return tuple(sorted(set(names)))
