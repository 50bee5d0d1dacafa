"""`cairn workspace`: make workspaces, as the owner of the database; choose what models may see."""

from typing import Annotated

import typer

from cairn.cli.failure import Failure
from cairn.cli.options import Json, deps_of, print_done, print_json

app = typer.Typer(help="Workspaces: one tenant each.", no_args_is_help=True)


@app.command()
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="A name for it.")],
    as_json: Json = False,
) -> None:
    """Make a workspace, if it is missing, and a new admin key for it, printed this once."""
    deps = deps_of(ctx)
    if not deps.owner_url:
        raise Failure(
            "Making a workspace needs the owner's database URL.", advice="set CAIRN_DATABASE_URL"
        )
    workspace_id, secret = deps.load_operator().create_workspace(deps.owner_url, name)
    if as_json:
        return print_json({"workspace_id": workspace_id, "name": name, "secret": secret})
    deps.out.print(f"{name} is {workspace_id}; its new admin key, keep it safe:")
    typer.echo(secret)


@app.command()
def redaction(
    ctx: typer.Context,
    profile: Annotated[
        str | None, typer.Argument(help="none, soc2, pii or hipaa; without it nothing changes.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show or choose which personal values no model sees in the key's workspace."""
    client = deps_of(ctx).client
    if profile is None:
        found = client.get("/v1/redaction")
    else:
        found = client.put("/v1/redaction", {"profile": profile})
    print_done(deps_of(ctx), found, str(found["profile"]), as_json=as_json)
