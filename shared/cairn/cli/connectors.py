"""`cairn connectors`: MCP servers for agents, tested, and the commands this machine may run.

`allow` and `disallow` change a file of the machine, beside the stack; no API and no key can.
"""

import re
import shlex
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.adapters.files.commands import CommandFile
from cairn.cli.client import Failure
from cairn.cli.deps import Deps
from cairn.cli.device_sign_in import Wait, sign_in
from cairn.cli.options import (
    Config,
    Json,
    NoSecret,
    Secret,
    deps_of,
    escape,
    json_given,
    print_done,
    print_json,
    secrets_given,
    table,
    text_given,
    without_none,
)
from cairn.connectors.launching import VARIABLE, is_ours
from cairn.connectors.requests import AllowedCommand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp import StdioServerParameters

    from cairn.bundled.examination import Check


CONTEXT = {"allow_interspersed_args": False}
"""Of the command: options of the tested command are its own."""

app = typer.Typer(help="What agents act through: MCP servers.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The connector's name.")]
Scopes = Annotated[str | None, typer.Option(help="Which tools may be used: YAML, or @FILE.")]
Autonomy = Annotated[str | None, typer.Option(help="off, investigate, propose or act.")]
Criticality = Annotated[
    str | None, typer.Option(help="skip or halt: what investigations do when it is degraded.")
]

_COLOURS = {
    "ready": "green",
    "busy": "green",
    "configured": "cyan",
    "degraded": "red",
    "crashed": "red",
}


@app.command("list")
def list_connectors(ctx: typer.Context, as_json: Json = False) -> None:
    """List connectors and their states."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/connectors")["items"]
    if as_json:
        return print_json(items)
    shown = table("name", "runs", "state", "autonomy", "version", "tools", "looked at")
    for each in items:
        state = _state(each) + ("" if each["safe"] is not False else " [red]unsafe[/]")
        seen = (each["checked_at"] or "-")[:19].replace("T", " ")
        tools = str(each["tools"])
        runs, version = escape(_runs(each)), each["version"] or "-"
        shown.add_row(each["name"], runs, state, each["autonomy"], version, tools, seen)
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show a connector, without its secrets."""
    deps = deps_of(ctx)
    _print(ctx, deps.client.get(f"/v1/connectors/{name}"), as_json=as_json)


@app.command()
def add(
    ctx: typer.Context,
    name: Name,
    builtin: Annotated[str | None, typer.Option(help="A connector that comes with Cairn.")] = None,
    command: Annotated[
        str | None, typer.Option(help="An allowed command that serves MCP; laptop only.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="An address of streamable HTTP.")] = None,
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Run a bundled one inside Cairn.")
    ] = False,
    config: Config = None,
    secret: Secret = None,
    scopes: Scopes = None,
    autonomy: Autonomy = None,
    criticality: Criticality = None,
    as_json: Json = False,
) -> None:
    """Register a connector, start it and show its state."""
    import shlex

    transport = "http" if url else "in_process" if in_process else "stdio"
    body = without_none(
        {
            "name": name,
            "transport": transport,
            "builtin": builtin,
            "command": shlex.split(command) if command else None,
            "url": url,
            **_settings(config, secret, scopes, autonomy, criticality),
        }
    )
    _print(ctx, deps_of(ctx).client.post("/v1/connectors", body), as_json=as_json)


@app.command("set")
def change(
    ctx: typer.Context,
    name: Name,
    config: Config = None,
    secret: Secret = None,
    no_secret: NoSecret = None,
    scopes: Scopes = None,
    autonomy: Autonomy = None,
    criticality: Criticality = None,
    url: Annotated[str | None, typer.Option(help="Another address.")] = None,
    as_json: Json = False,
) -> None:
    """Change a connector's settings, secrets, scopes or autonomy."""
    settings = _settings(config, secret, scopes, autonomy, criticality, no_secret)
    body = without_none({"url": url, **settings})
    if not body:
        raise Failure("There is nothing to change.", advice="see cairn connectors set --help")
    done = deps_of(ctx).client.patch(f"/v1/connectors/{name}", body)
    _print(ctx, done, as_json=as_json)


@app.command("sign-in")
def sign_in_to(ctx: typer.Context, name: Name, wait: Wait = True, as_json: Json = False) -> None:
    """Sign in by a device code: show it, wait for a yes, and start the connector."""
    sign_in(deps_of(ctx), f"/v1/connectors/{name}", name, wait=wait, as_json=as_json)


@app.command("sign-out")
def sign_out_of(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Forget the token of a sign-in by a device code."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/connectors/{name}/sign-in")
    print_done(deps, gone, f"[green]signed out[/] {name}", as_json=as_json)


@app.command()
def restart(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Restart a connector; the tools it lists now replace those before."""
    done = deps_of(ctx).client.post(f"/v1/connectors/{name}/restart", {})
    _print(ctx, done, as_json=as_json)


@app.command()
def check(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Check a connector's health, as the schedule does."""
    done = deps_of(ctx).client.post(f"/v1/connectors/{name}/check", {})
    _print(ctx, done, as_json=as_json)


@app.command()
def remove(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Remove a connector with its secrets."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/connectors/{name}")
    print_done(deps, gone, f"[green]removed[/] {name}", as_json=as_json)


@app.command()
def tools(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """List a connector's tools as the safety rules see them."""
    deps = deps_of(ctx)
    items = deps.client.get(f"/v1/connectors/{name}/tools")["items"]
    if as_json:
        return print_json(items)
    shown = table("tool", "scope", "dangerous", "once a key", "dry run", "arguments", "says")
    for each in items:
        flags = [_yes(each[item]) for item in ("dangerous", "idempotent", "supports_dry_run")]
        arguments = escape(", ".join(each["arguments"].get("properties", {})))
        text = escape(each["description"].partition("\n")[0][:80])
        scope = each["scope"] or "[red]none: unsafe[/]"
        shown.add_row(f"{name}.{each['name']}", scope, *flags, arguments, text)
    deps.out.print(shown)


@app.command()
def call(
    ctx: typer.Context,
    tool: Annotated[str, typer.Argument(help="connector.tool")],
    arguments: Annotated[str, typer.Argument(help="JSON, or @FILE.")] = "{}",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Needed for tools that write.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Call a tool. Tools that write are called as a dry run only."""
    deps = deps_of(ctx)
    name, _, called = tool.partition(".")
    if not called:
        raise Failure(f"{tool} names no tool.", advice="write it as connector.tool")
    body = {"arguments": json_given(arguments), "dry_run": dry_run}
    answer = deps.client.post(f"/v1/connectors/{name}/tools/{called}", body)
    if as_json:
        print_json(answer)
    else:
        typer.echo(answer["text"])
    if answer["is_error"]:
        raise typer.Exit(1)


def _settings(
    config: str | None,
    secret: list[str] | None,
    scopes: str | None,
    autonomy: str | None,
    criticality: str | None,
    no_secret: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "config": None if config is None else json_given(config),
        "secrets": secrets_given(secret, no_secret),
        "scopes": None if scopes is None else text_given(scopes),
        "autonomy": autonomy,
        "criticality": criticality,
    }


def _print(ctx: typer.Context, shown: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return print_json(shown)
    out = deps_of(ctx).out
    version = f"  version {shown['version']}" if shown["version"] else ""
    out.print(f"[bold]{shown['name']}[/]  {_state(shown)}{version}  {shown['tools']} tools")
    if shown["detail"]:
        out.print(f"  [red]{escape(shown['detail'])}[/]")
    if shown["safe"] is False:
        out.print("  [red]unsafe[/]: a tool declares no scope; it is held to investigate")
    out.print(f"  runs {escape(_runs(shown))}  autonomy {shown['autonomy']}", highlight=False)
    secrets = ", ".join(shown["secret_names"]) or "none"
    out.print(f"  when degraded: {shown['criticality']}  secrets: {secrets}", highlight=False)
    if shown["scopes"]:
        out.print(escape(shown["scopes"]), highlight=False)


def _state(shown: dict[str, Any]) -> str:
    colour = _COLOURS.get(shown["state"], "yellow")
    error = f" ({shown['error']})" if shown["error"] else ""
    return f"[{colour}]{shown['state']}[/]{error}"


def _runs(shown: dict[str, Any]) -> str:
    return str(shown["builtin"] or shown["url"] or " ".join(shown["command"]))


def _yes(flag: bool) -> str:
    return "yes" if flag else "-"


Command = Annotated[list[str], typer.Argument(help="The whole command, after --.")]


@app.command(context_settings=CONTEXT)
def allow(
    ctx: typer.Context,
    command: Command,
    env: Annotated[
        list[str] | None, typer.Option(help="A variable or secret it may be given.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Allow a command as a connector: exactly this one, with these variables and no others."""
    deps = deps_of(ctx)
    file = _file(deps)
    entry = AllowedCommand(
        command=tuple(command), program=_program(command), variables=_variables(env or [])
    )
    file.write([*(item for item in file.read() if item.command != entry.command), entry])
    if as_json:
        print_json(asdict(entry))
    else:
        deps.out.print(f"[green]allowed[/] {entry.program}: any admin of a workspace may run it")


@app.command()
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


@app.command(context_settings=CONTEXT)
def disallow(ctx: typer.Context, command: Command, as_json: Json = False) -> None:
    """Disallow a command; connectors that run it are refused at their next start."""
    deps = deps_of(ctx)
    file = _file(deps)
    entries = file.read()
    remaining = [entry for entry in entries if entry.command != tuple(command)]
    if len(remaining) == len(entries):
        raise Failure("This command is not allowed.", advice="see cairn connectors allowed")
    file.write(remaining)
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
    value = shutil.which(command[0])
    if value is None or not Path(value).is_absolute():
        raise Failure(f"{command[0]} is no program on the PATH.", advice="write its path in full")
    for part in command[1:]:
        if not Path(part).is_absolute() and Path(part).is_file():
            raise Failure(f"{part} is a file of this folder.", advice="write its path in full")
    return value


def _variables(names: list[str]) -> tuple[str, ...]:
    for name in names:
        if not VARIABLE.fullmatch(name) or is_ours(name):
            raise Failure(f"{name} is no variable that a connector may be given.")
    return tuple(sorted(set(names)))


_TEST_COLOURS = {"passed": "green", "failed": "red", "skipped": "yellow"}
_NOT_PASSED_ON = re.compile(r"CAIRN_|AWS_")


@app.command(context_settings=CONTEXT)
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
    seconds: Annotated[
        float, typer.Option(help="The time limit of a start.", min=0.1, max=120)
    ] = 2.0,
    as_json: Json = False,
) -> None:
    """Ask a connector everything the contract promises; exit status 1 if it breaks a promise.

    Tools that write are called with dry_run only, unless --samples say what may be written. The
    command gets this shell's variables, without those of Cairn and AWS.
    """
    from cairn.bundled.contract import Samples, read_samples
    from cairn.bundled.examination import examine

    if bool(command) == bool(url):
        raise Failure("Give either a command or --url.", advice="cairn connectors test --help")
    samples_read = Samples() if samples is None else read_samples(samples.read_bytes())
    target = url if url else _started(command or [])
    checks = examine(target, samples_read, initialize_seconds=seconds)
    if as_json:
        print_json(_as_json(checks))
    else:
        _show(ctx, checks)
    if any(check.status == "failed" for check in checks):
        raise typer.Exit(1)


def _started(command: "Sequence[str]") -> "StdioServerParameters":
    from mcp import StdioServerParameters

    from cairn.bundled.configuration import environment

    variables = environment()
    passed_on = {name: variables[name] for name in variables if not _NOT_PASSED_ON.match(name)}
    name = sys.executable if command[0] == "python" else command[0]
    return StdioServerParameters(command=name, args=list(command[1:]), env=passed_on)


def _as_json(checks: "Sequence[Check]") -> dict[str, Any]:
    return {
        "passed": all(check.status != "failed" for check in checks),
        "checks": [
            {
                "name": check.name,
                "promise": check.promise,
                "status": check.status.value,
                "detail": check.detail,
                "ms": check.ms,
            }
            for check in checks
        ],
    }


def _show(ctx: typer.Context, checks: "Sequence[Check]") -> None:
    out = deps_of(ctx).out
    shown = table("check", "what is promised", "", "seen", "ms")
    for check in checks:
        status = f"[{_TEST_COLOURS[check.status.value]}]{check.status.value}[/]"
        shown.add_row(
            check.name, escape(check.promise), status, escape(check.detail), str(check.ms)
        )
    out.print(shown)
    failed = sum(check.status == "failed" for check in checks)
    skipped = sum(check.status == "skipped" for check in checks)
    if failed:
        out.print(f"[red]{failed} of {len(checks)} promises broken[/]")
        return
    rest = f", {skipped} not asked: see --samples" if skipped else ""
    out.print(f"[green]every promise kept[/]{rest}")
