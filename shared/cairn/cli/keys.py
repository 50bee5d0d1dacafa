"""`cairn keys` and `cairn claim`: API keys. A secret is printed once, by what made it."""

from typing import Annotated, Any

import typer

from cairn.cli.client import Client
from cairn.cli.deps import NO_ENVIRONMENT, Deps
from cairn.cli.failure import Failure
from cairn.cli.options import Json, deps_of, escape, print_json, table, without_none

app = typer.Typer(help="API keys: who may do what.", no_args_is_help=True)


@app.command("list")
def list_keys(ctx: typer.Context, as_json: Json = False) -> None:
    """Show the workspace's keys."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/keys")
    if as_json:
        return print_json(found)
    shown = table("id", "name", "role", "scopes", "tools", "state")
    for each in found["items"]:
        state = "[red]revoked[/]" if each["revoked_at"] else "[green]valid[/]"
        shown.add_row(
            each["id"],
            escape(each["name"]),
            each["role"],
            ", ".join(each["scopes"]),
            "all" if each["tools"] is None else ", ".join(each["tools"]),
            state,
        )
    deps.out.print(shown)


@app.command()
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What it is for.")],
    role: Annotated[str, typer.Option(help="admin, agent or public.")] = "agent",
    scope: Annotated[list[str] | None, typer.Option(help="Repeat for several.")] = None,
    agent: Annotated[str | None, typer.Option(help="The agent it is bound to.")] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(help="A tool it may call over MCP, and nothing else. Repeat for several."),
    ] = None,
    expires_at: Annotated[str | None, typer.Option(help="RFC 3339, with its zone.")] = None,
    as_json: Json = False,
) -> None:
    """Make a key and print it, this once."""
    deps = deps_of(ctx)
    body = without_none(
        {
            "name": name,
            "role": role,
            "scopes": scope,
            "agent_slug": agent,
            "tools": tool,
            "expires_at": expires_at,
        }
    )
    _show_created(deps, deps.client.post("/v1/keys", body), as_json=as_json)


@app.command()
def revoke(ctx: typer.Context, key_id: str, as_json: Json = False) -> None:
    """Revoke a key at once."""
    deps = deps_of(ctx)
    revoked = deps.client.delete(f"/v1/keys/{key_id}")
    if as_json:
        print_json(revoked)
    else:
        deps.out.print(f"[red]revoked[/] {revoked['name']}")


@app.command()
def whoami(ctx: typer.Context, as_json: Json = False) -> None:
    """Show whose key is in use."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/whoami")
    if as_json:
        print_json(found)
    else:
        deps.out.print(
            f"{found['name']}: {found['role']} of {found['workspace_id']}, "
            f"scopes {', '.join(found['scopes'])}"
            + (f", tools {', '.join(found['tools'])}" if found["tools"] is not None else "")
        )


def claim(
    ctx: typer.Context,
    token: Annotated[str, typer.Argument(help="From infra.cdk.issue_claim; works once.")],
    url: Annotated[str | None, typer.Option(help="The API; CAIRN_URL without.")] = None,
    workspace: Annotated[str, typer.Option(help="The name of the first workspace.")] = "main",
    as_json: Json = False,
) -> None:
    """Claim a new deployment: the one-time token becomes the first admin key."""
    deps = deps_of(ctx)
    where = url or deps.settings.url
    if not where:
        raise Failure("There is no API to claim.", advice=NO_ENVIRONMENT)
    client = Client(where, None, sleep=deps.sleep, transport=deps.transport)
    created = client.post("/v1/claim", {"token": token, "workspace_name": workspace})
    _show_created(deps, created, as_json=as_json)


def _show_created(deps: Deps, created: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return print_json(created)
    deps.out.print(f"{created['key']['name']} ({created['key']['role']}), keep it safe:")
    typer.echo(created["secret"])
