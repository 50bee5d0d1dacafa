"""`cairn connectors`: what agents act through. Secrets come from files or are typed, not argued."""

from typing import Annotated, Any

import typer

from cairn.cli.connector_commands import allow, allowed, disallow
from cairn.cli.connector_tests import CONTEXT, test
from cairn.cli.failure import Failure
from cairn.cli.given import Config, NoSecret, Secret, json_given, secrets_given, text_given
from cairn.cli.options import Json, deps_of, escape, print_done, print_json, table, without_none

app = typer.Typer(help="What agents act through: MCP servers.", no_args_is_help=True)
app.command("test", context_settings=CONTEXT)(test)
app.command(context_settings=CONTEXT)(allow)
app.command()(allowed)
app.command(context_settings=CONTEXT)(disallow)

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
    """List connectors with how they are."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/connectors")["items"]
    if as_json:
        return print_json(found)
    shown = table("name", "runs", "state", "autonomy", "version", "tools", "looked at")
    for each in found:
        state = _state(each) + ("" if each["safe"] is not False else " [red]unsafe[/]")
        seen = (each["checked_at"] or "-")[:19].replace("T", " ")
        tools = str(each["tools"])
        runs, version = escape(_runs(each)), each["version"] or "-"
        shown.add_row(each["name"], runs, state, each["autonomy"], version, tools, seen)
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show a connector; never its secrets."""
    deps = deps_of(ctx)
    _print(ctx, deps.client.get(f"/v1/connectors/{name}"), as_json=as_json)


@app.command()
def add(
    ctx: typer.Context,
    name: Name,
    builtin: Annotated[str | None, typer.Option(help="A connector that comes with Cairn.")] = None,
    command: Annotated[
        str | None, typer.Option(help="A command that serves MCP, once allowed; laptop.")
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
    """Register a connector, start it, and say how it is."""
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
    given = _settings(config, secret, scopes, autonomy, criticality, no_secret)
    body = without_none({"url": url, **given})
    if not body:
        raise Failure("There is nothing to change.", advice="see cairn connectors set --help")
    done = deps_of(ctx).client.patch(f"/v1/connectors/{name}", body)
    _print(ctx, done, as_json=as_json)


@app.command()
def restart(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Start a connector anew: what it lists now counts from now on."""
    done = deps_of(ctx).client.post(f"/v1/connectors/{name}/restart", {})
    _print(ctx, done, as_json=as_json)


@app.command()
def check(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Ask a connector whether it is well, as the schedule does."""
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
    """List a connector's tools as the rules of safety read them."""
    deps = deps_of(ctx)
    found = deps.client.get(f"/v1/connectors/{name}/tools")["items"]
    if as_json:
        return print_json(found)
    shown = table("tool", "scope", "dangerous", "once a key", "dry run", "arguments", "says")
    for each in found:
        flags = [_yes(each[one]) for one in ("dangerous", "idempotent", "supports_dry_run")]
        arguments = escape(", ".join(each["arguments"].get("properties", {})))
        said = escape(each["description"].partition("\n")[0][:80])
        scope = each["scope"] or "[red]none: unsafe[/]"
        shown.add_row(f"{name}.{each['name']}", scope, *flags, arguments, said)
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
    """Try a tool out. Tools that write are called as a dry run only."""
    deps = deps_of(ctx)
    name, _, called = tool.partition(".")
    if not called:
        raise Failure(f"{tool} names no tool.", advice="write it as connector.tool")
    body = {"arguments": json_given(arguments), "dry_run": dry_run}
    said = deps.client.post(f"/v1/connectors/{name}/tools/{called}", body)
    if as_json:
        print_json(said)
    else:
        typer.echo(said["text"])
    if said["is_error"]:
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
